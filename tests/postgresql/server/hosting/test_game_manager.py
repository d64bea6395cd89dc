"""Orders are kept, wait for their players, are played, and can be aborted; on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio
import errno
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from gdl.errors import RuleFileError, UnknownNameError
from gdl.language.rules import read_rules
from server.errors import TooManyMatchesError, UnknownMatchError
from server.hosting.admission import AdmissionControl
from server.hosting.engine_process import outline_here
from server.hosting.game_finder import new_version
from server.hosting.game_manager import GameManager
from server.hosting.referees import ChildReferee
from server.hosting.settings import GameManagerSettings
from server.hosting.supervisor import MAX_ATTEMPTS
from server.links.errors import PlayerSpecError
from server.records.entries import AbortedEntry, AnsweredEntry
from server.records.record import record_of
from server.records.signature import has_valid_signature, make_key
from server.storage.database import Database
from server.storage.games import GameStore
from tests.kit.polling import until as until_true
from tests.kit.server.hosting.managing import YES, managing, order, until
from tests.kit.server.peers import hanging, listening
from tests.kit.server.plays import TWO_STEPS


async def until_answered(manager: GameManager, match_id: str) -> None:
    """Return once a player has answered something."""
    async with asyncio.timeout(10):
        with manager.notifier.subscribed(match_id) as notifier:
            while True:
                notifier.clear()
                if any(isinstance(entry, AnsweredEntry) for entry in await manager.journals.entries(match_id)):
                    return
                await notifier.wait()


async def test_an_order_is_played_to_its_end(database: Database) -> None:
    async with listening(YES) as player, managing(database) as manager:
        ordered = await manager.order(order(player, player, tournament="spring"), by="ann")
        row = await until(manager, ordered.row.id, "completed")
        entries = await manager.journals.entries(row.id)
        seats = (await manager.matches.seats([row.id]))[row.id]
    told = row.goals, row.n_steps, row.n_errors, row.tournament, row.ordered_by, row.game
    assert told == ((100, 100), 2, 0, "spring", "ann", "unnamed")
    assert [(seat.role, seat.goal, seat.n_moves) for seat in seats] == [("left", 100, 2), ("right", 100, 2)]
    assert record_of(entries).as_json()["moves"] == [["( say Yes )", "( say Yes )"]] * 2


@pytest.mark.sampled(2)
async def test_a_match_waits_until_its_player_is_free(database: Database) -> None:
    players = listening(hanging), listening(YES), listening(YES)
    async with players[0] as slow, players[1] as fast, players[2] as free, managing(database) as manager:
        await manager.registry.register("slow", "ann", slow)
        await manager.registry.register("fast", "ann", fast)
        first = await manager.order(order("slow", "fast", playClock=1, startClock=60))
        await until(manager, first.row.id, "running")
        second = await manager.order(order("slow", "slow"))
        third = await manager.order(order(free, free))
        await until(manager, third.row.id, "completed")
        waiting = await manager.matches.get(second.row.id)
        assert waiting is not None
        assert waiting.status == "queued"
        assert await manager.abort(first.row.id, "enough")
        await until(manager, second.row.id, "running")


@pytest.mark.sampled(2)
async def test_a_match_that_waits_is_aborted_at_once(database: Database) -> None:
    async with listening(hanging) as slow, managing(database, GameManagerSettings(max_running=1)) as manager:
        running = await manager.order(order(slow, slow, startClock=60))
        await until(manager, running.row.id, "running")
        waiting = await manager.order(order(slow, slow))
        assert await manager.abort(waiting.row.id, "enough")
        assert (await until(manager, waiting.row.id, "aborted")).n_steps == 0
        assert not await manager.abort(waiting.row.id, "again")


@pytest.mark.sampled(2)
async def test_a_look_at_the_queue_begins_no_match_once_none_are_to_be_started(
    sqlite: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    admit, was_stopped, look_is_over = AdmissionControl.admit, asyncio.Event(), asyncio.Event()

    async def chosen_at_the_stop(admission: AdmissionControl) -> Sequence[str]:
        found = await admit(admission)
        if found:
            manager.stop_starting()
            was_stopped.set()
        return found

    @asynccontextmanager
    async def choosing() -> AsyncIterator[bool]:
        yield True
        if was_stopped.is_set():
            look_is_over.set()

    monkeypatch.setattr(AdmissionControl, "admit", chosen_at_the_stop)
    async with listening(hanging) as slow, managing(sqlite) as manager, asyncio.timeout(30):
        monkeypatch.setattr(manager.queue, "choosing", choosing)
        ordered = await manager.order(order(slow, slow))
        await look_is_over.wait()
        row = await manager.matches.get(ordered.row.id)
    assert row is not None
    assert row.status == "queued"


async def test_an_abort_reaches_the_manager_that_plays_the_match(database: Database) -> None:
    async with listening(hanging) as slow, managing(database) as manager:
        ordered = await manager.order(order(slow, slow, startClock=60, playClock=1))
        await until(manager, ordered.row.id, "running")
        elsewhere = GameManager(database, GameManagerSettings())
        assert await elsewhere.abort(ordered.row.id, "enough")
        await until(manager, ordered.row.id, "aborted")
        entries = await manager.journals.entries(ordered.row.id)
    assert [entry.reason for entry in entries if isinstance(entry, AbortedEntry)] == ["enough"]


@pytest.mark.sampled(2)
async def test_what_does_not_exist_cannot_be_aborted(database: Database) -> None:
    with pytest.raises(UnknownMatchError, match=r"no match 'match\.x'"):
        await GameManager(database, GameManagerSettings()).abort("match.x", "enough")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("words", "error"),
    [
        ({"rules": None, "game": "tictacto"}, UnknownNameError),
        ({"rules": "(role left) (<= (next ?x) (true a))"}, RuleFileError),
        ({"players": {"left": {"player": "cmd:rm"}}}, PlayerSpecError),
        ({"players": {"left": {"player": "nobody-known"}}}, PlayerSpecError),
        ({"players": {"middle": {"player": "mcts"}}}, UnknownNameError),
    ],
)
async def test_a_wrong_order_is_not_kept(words: dict[str, Any], error: type[Exception], database: Database) -> None:
    manager = GameManager(database, GameManagerSettings())
    with pytest.raises(error):
        await manager.order(order("random", "random", **words))
    assert await manager.matches.listed() == []


@pytest.mark.sampled(2)
async def test_no_more_orders_are_kept_than_may_wait(database: Database) -> None:
    manager = GameManager(database, GameManagerSettings(max_queued=1))
    await manager.order(order("random", "random"))
    with pytest.raises(TooManyMatchesError, match=r"^as many matches wait already as may wait here \(1\)$"):
        await manager.order(order("random", "random"))


@pytest.mark.sampled(2)
async def test_a_game_is_ordered_with_the_rules_that_another_process_gave_it_meanwhile(database: Database) -> None:
    manager, named = GameManager(database, GameManagerSettings()), order("random", "random", rules=None, game="steps")
    brought = [new_version("steps", outline_here(read_rules(rules)), "ann") for rules in (TWO_STEPS, f"{TWO_STEPS} ")]
    ordered = []
    for version in (brought[0], brought[0], brought[1]):
        await GameStore(database).put(version)
        ordered.append(await manager.order(named))
    hashes = [first.sha256 for first in (brought[0], brought[0], brought[1])]
    assert [one.row.sha256 for one in ordered] == hashes
    assert len(set(hashes)) == 2


@pytest.mark.sampled(2)
async def test_a_parked_match_goes_on_with_the_next_manager(database: Database) -> None:
    async with listening(hanging) as slow, listening(YES) as fast:
        first = GameManager(database, GameManagerSettings())
        await first.start()
        ordered = await first.order(order(slow, fast, startClock=60, playClock=1))
        await until(first, ordered.row.id, "running")
        await until_answered(first, ordered.row.id)
        await first.close(parking=True)
        async with managing(database) as second:
            parked = await second.matches.get(ordered.row.id)
            assert parked is not None
            assert (parked.status, parked.epoch) == ("running", 2)
            await second.abort(ordered.row.id, "enough")
            await until(second, ordered.row.id, "aborted")


@pytest.mark.sampled(2)
async def test_matches_that_broke_off_go_on_before_younger_ones_begin(database: Database) -> None:
    async with listening(hanging) as slow:
        first = GameManager(database, GameManagerSettings())
        await first.start()
        seats = {role: {"player": slow, "maxMatches": 8} for role in ("left", "right")}
        ordering = order(slow, slow, players=seats, startClock=60)
        old = [(await first.order(ordering)).row.id for _ in range(3)]
        for match_id in old:
            await until(first, match_id, "running")
        await first.close(parking=True)
        young = (await GameManager(database, GameManagerSettings()).order(ordering)).row.id
        async with managing(database, GameManagerSettings(max_running=1)) as second:
            played = [await aborted(second) for _ in range(4)]
    assert (set(played[:3]), played[3]) == (set(old), young)


async def aborted(manager: GameManager) -> str:
    """Return the match that the manager plays, the only one, once it is aborted."""

    async def held() -> set[str]:
        return await manager.matches.renew(manager.supervisor.holder, lease_s=60)

    (match_id,) = await until_true(held)
    await manager.abort(match_id, "enough")
    await until(manager, match_id, "aborted")
    return match_id


@pytest.mark.sampled(2)
async def test_a_player_that_is_no_longer_registered_fails_in_its_match_alone(database: Database) -> None:
    async with listening(YES) as player:
        idle = GameManager(database, GameManagerSettings())
        await idle.registry.register("gone", "ann", player)
        ordered = await idle.order(order("gone", player))
        await idle.registry.remove("gone")
        async with managing(database) as manager:
            row = await until(manager, ordered.row.id, "completed")
            seats = (await manager.matches.seats([row.id]))[row.id]
    assert [seat.n_errors for seat in seats] == [3, 0]


@pytest.mark.sampled(2)
async def test_a_player_that_moved_after_the_order_is_asked_where_it_is_now(database: Database) -> None:
    async with listening(YES) as player:
        idle = GameManager(database, GameManagerSettings())
        await idle.registry.register("mover", "ann", "http://127.0.0.1:1")
        ordered = await idle.order(order("mover", player))
        await idle.registry.change("mover", player)
        async with managing(database) as manager:
            row = await until(manager, ordered.row.id, "completed")
            seats = (await manager.matches.seats([row.id]))[row.id]
    assert [seat.n_errors for seat in seats] == [0, 0]


@pytest.mark.sampled(2)
async def test_records_are_signed(database: Database) -> None:
    async with listening(YES) as player, managing(database, GameManagerSettings(signing_key=make_key())) as manager:
        ordered = await manager.order(order(player, player))
        await until(manager, ordered.row.id, "completed")
        whole = record_of(await manager.journals.entries(ordered.row.id)).as_json()
        signature = await manager.journals.signature(ordered.row.id)
    assert signature is not None
    assert has_valid_signature(whole | signature)


async def test_a_match_that_the_system_refuses_a_process_is_played_when_there_is_one(
    sqlite: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_asked, begin = 0, ChildReferee._start

    async def start(referee: ChildReferee) -> Process:
        nonlocal n_asked
        n_asked += 1
        if n_asked <= MAX_ATTEMPTS:
            raise OSError(errno.EMFILE, "Too many open files")
        return await begin(referee)

    monkeypatch.setattr(ChildReferee, "_start", start)
    monkeypatch.setattr("server.match.driver.MAX_REFUSALS", 1)
    monkeypatch.setattr("server.match.driver.REFUSAL_PAUSE_S", 0.0)
    async with listening(YES) as player, managing(sqlite, GameManagerSettings(lease_s=0.3)) as manager:
        ordered = (await manager.order(order(player, player, rules=f"{TWO_STEPS} (word maybe)"))).row.id
        assert (await until(manager, ordered, "completed", "failed")).status == "completed"
