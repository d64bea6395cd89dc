"""Following a tournament: how far it is, told once for all viewers, and again whenever that changes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from server.registry.queueing import WaitReason
from server.spectating import tournaments
from server.spectating.tournaments import AGE_S, LiveMatch, LiveTournament, LiveTournaments, TournamentFeed
from server.storage.database import Database
from server.storage.notifications import Notifier
from server.storage.rows import MatchRow, MatchStatus
from server.storage.tournaments import TournamentChange, TournamentStore
from server.tournament.fixtures import ScheduledMatch
from tests.kit.polling import until
from tests.kit.server.databases import new_sqlite
from tests.kit.server.hosting.tournaments import entrants, tournament
from tests.kit.server.storage.samples import begun, match, seats

WAITS = LiveMatch("t1.1", "queued", 0)
PLAYS = LiveMatch("t1.2", "running", 3)


class Store(LiveTournaments):
    """Counts how often it is read."""

    n_read = 0

    async def of(self, name: str) -> LiveTournament | None:
        self.n_read += 1
        return await super().of(name)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    found = await new_sqlite(tmp_path)
    await begun(found)
    yield found
    await found.close()


def scheduled(match_id: str) -> ScheduledMatch:
    return ScheduledMatch(match_id, "tictactoe", ("p0", "p1"), 1, 2, 1, "pair", match_id)


async def hold(database: Database, name: str, *rows: MatchRow) -> None:
    """Keep a tournament with these matches, in the order of its schedule."""
    row, store = tournament(name), TournamentStore(database)
    assert await store.add(row, entrants("legal", "random"))
    change = TournamentChange(
        scheduled=[scheduled(each.id) for each in rows],
        ordered=[(each, seats(each.id, "a", "b")) for each in reversed(rows)],
    )
    assert await store.apply(row, change)


async def pause(database: Database, revision: int) -> None:
    """Make a change of the tournament that leaves its matches as they are."""
    assert await TournamentStore(database).apply(replace(tournament(), revision=revision), TournamentChange())


def feed(database: Database, clock: Callable[[], float] = lambda: 0) -> tuple[Store, TournamentFeed, Notifier]:
    store, notifier = Store(database), Notifier()
    return store, TournamentFeed(store, notifier, clock), notifier


async def test_how_far_a_tournament_is_are_its_own_matches_in_the_order_of_its_schedule(database: Database) -> None:
    rows = [
        match("t1.4", status=MatchStatus.RUNNING, n_steps=3, n_errors=2, created_ms=9),
        match("t1.3", created_ms=8),
        match("t1.2", status=MatchStatus.COMPLETED, n_steps=5),
        match("t1.1", created_ms=7),
        match("t1.0", status=MatchStatus.ABORTED),
    ]
    await hold(database, "cup", *rows)
    await hold(database, "other", match("t2.1", status=MatchStatus.RUNNING), match("t2.2", status=MatchStatus.FAILED))
    reasons = {"t1.3": WaitReason(needs_core=True), "t1.4": WaitReason(needs_core=True)}
    found = await LiveTournaments(database, lambda: reasons).of("cup")
    live = (LiveMatch("t1.4", "running", 3), LiveMatch("t1.3", "queued", 0, WaitReason(needs_core=True)), WAITS)
    assert found == LiveTournament(1, 2, live)


async def test_a_tournament_without_matches_is_there_and_one_of_another_name_is_not(database: Database) -> None:
    await hold(database, "cup")
    _, live, _ = feed(database)
    assert [await live.now(name) for name in ("cup", "none")] == [LiveTournament(1, 0, ()), None]


@pytest.mark.parametrize(("delay", "n_steps"), [("", 7), ("3 steps", 4), ("60 s", 0), ("end", 0)])
async def test_steps_are_told_as_late_as_the_match_is_shown(database: Database, delay: str, n_steps: int) -> None:
    playing = match("t1.1", status=MatchStatus.RUNNING, n_steps=7)
    text = playing.order["text"] | {"broadcastDelay": delay or "live"}
    await hold(database, "cup", replace(playing, order=playing.order | {"text": text}))
    found = await LiveTournaments(database).of("cup")
    assert found is not None
    assert found.steps == {"t1.1": n_steps}


def test_the_steps_of_matches_that_are_played_are_told() -> None:
    assert LiveTournament(1, 0, (WAITS, PLAYS)).steps == {"t1.2": 3}


def test_the_shape_is_another_with_anything_but_steps() -> None:
    told = LiveTournament(1, 2, (WAITS, PLAYS))
    others = [
        replace(told, revision=2),
        replace(told, n_over=3),
        replace(told, live=(PLAYS, WAITS)),
        replace(told, live=(WAITS,)),
        replace(told, live=(replace(WAITS, wait_reason=WaitReason(needs_core=True)), PLAYS)),
        replace(told, live=(replace(WAITS, status="running"), PLAYS)),
    ]
    assert len({each.shape for each in (told, *others)}) == len(others) + 1
    assert replace(told, live=(WAITS, replace(PLAYS, n_steps=4))).shape == told.shape


async def test_a_change_that_another_process_made_is_found_by_looking_and_told_once(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tournaments, "AGE_S", 0.0)
    await hold(database, "cup")
    store, live, _ = feed(database, iter(count()).__next__)
    async with aclosing(live.changes("cup", poll_s=0.001)) as changes:
        told = [await anext(changes)]
        following = asyncio.ensure_future(anext(changes))
        await until(lambda: store.n_read > 3)
        assert not following.done()
        await pause(database, 1)
        told.append(await following)
    assert [each.revision for each in told] == [1, 2]


async def test_news_of_any_match_wake_who_follows(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tournaments, "AGE_S", 0.0)
    await hold(database, "cup")
    _, live, notifier = feed(database, iter(count()).__next__)
    async with aclosing(live.changes("cup", poll_s=60.0)) as changes:
        await anext(changes)
        await pause(database, 1)
        notifier.tell(["t1.1"])
        assert (await anext(changes)).revision == 2


async def test_following_ends_where_there_is_no_such_tournament(database: Database) -> None:
    _, live, _ = feed(database)
    assert [each async for each in live.changes("none")] == []


async def test_what_was_read_is_told_to_all_who_follow_for_a_while(database: Database) -> None:
    await hold(database, "cup")
    at_s = [0.0]
    store, live, _ = feed(database, lambda: at_s[0])
    n_read = []
    for at_s[0] in (0.0, AGE_S * 0.9, AGE_S * 1.1):
        async with aclosing(live.changes("cup")) as changes:
            await anext(changes)
        n_read.append(store.n_read)
    assert n_read == [1, 1, 2]


@pytest.mark.parametrize("n_calls", range(1, 8))
async def test_a_tournament_is_there_also_where_what_was_read_grows_old_meanwhile(
    database: Database, n_calls: int
) -> None:
    await hold(database, "cup")
    times = count()
    _, live, _ = feed(database, lambda: next(times) * AGE_S / n_calls)
    told = []
    for _ in range(5):
        async with aclosing(live.changes("cup")) as changes:
            told.append(await anext(changes, None))
    assert told == [LiveTournament(1, 0, ())] * 5
