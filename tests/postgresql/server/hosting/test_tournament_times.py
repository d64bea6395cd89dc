"""Tournaments by the clock, whatever manager goes on with them: their start, their rounds, and absent players."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from server.hosting.game_manager import GameManager
from server.hosting.rounds import open_rounds
from server.hosting.settings import GameManagerSettings
from server.hosting.tournament_progress import progress_of
from server.hosting.tournaments import MAX_LIVE, RETRY_MS, Tournaments
from server.storage.database import Database
from server.storage.integrity import sound
from server.storage.rows import MatchStatus
from server.storage.tournament_rows import EntrantRow, TournamentStatus
from server.storage.tournaments import StoredTournament, TournamentChange, TournamentStore
from server.tournament.plan import TournamentFormat
from server.tournament.timetable import Every, Timetable
from tests.kit.clocks import TimeOfDay
from tests.kit.server.hosting.tournaments import entrants, tournament

TIMETABLE = Timetable.model_validate({
    "starts": "1970-01-01T00:16:40Z", "roundsBegin": {"everySeconds": 100}, "absenceLimit": 10,
})  # fmt: skip
START_MS = 1_000_000


class League:
    """A tournament in a database, and the clock of those who go on with it, each of whom is killed soon."""

    def __init__(self, database: Database) -> None:
        self.store, self.clock = TournamentStore(database), TimeOfDay(START_MS - 1)
        self._manager = GameManager(database, GameManagerSettings())

    async def begin(self, entered: Sequence[EntrantRow], timetable: Timetable = TIMETABLE) -> None:
        """Keep a tournament that is open."""
        await self._manager.finder.keep_library()
        for name in ("deep", "wide"):
            await self._manager.registry.register(name, "ann")
        version = await self._manager.games.find("tictactoe")
        assert version is not None
        row = tournament("cup", version.sha256, TournamentStatus.OPEN, timetable, rounds=2)
        assert await self.store.add(row, entered)

    async def begin_round_robin(self, *specs: str, rounds: int, timetable: Timetable | None = None) -> None:
        """Keep a round robin of entrants with players as *specs* say, which runs."""
        await self.begin(entrants(*specs), timetable or Timetable())
        found = await self.store.read("cup")
        assert found is not None
        terms = found.row.terms.model_copy(update={"format": TournamentFormat.ROUND_ROBIN, "rounds": rounds})
        running = replace(found.row, name="robin", terms=terms, status=TournamentStatus.RUNNING, started_ms=START_MS)
        assert await self.store.add(running, found.entrants)

    async def robin_at(self, now_ms: int) -> StoredTournament:
        """Return the round robin once all that is to be done at *now_ms* is done."""
        await self.at(now_ms)
        found = await self.store.read("robin")
        assert found is not None
        return found

    async def pass_on(self, name: str, owner: str) -> None:
        """Remove a player, and register another one of its name for *owner*."""
        await self._manager.registry.remove(name)
        await self._manager.registry.register(name, owner)

    async def at(self, now_ms: int, tournaments: Tournaments | None = None) -> StoredTournament:
        """Return the tournament once all that is to be done at *now_ms* is done, by a new manager if none is named."""
        self.clock.now_ms = now_ms
        driving = tournaments or self.driver()
        for _ in range(10):
            await driving.drive()
        found = await self.store.read("cup")
        assert found is not None
        return found

    def driver(self) -> Tournaments:
        """Return what goes on with the tournament."""
        return Tournaments(self.store, self._manager, self.clock)


@pytest.fixture
def league(database: Database) -> League:
    return League(database)


@pytest.mark.sampled(2)
async def test_a_tournament_starts_at_its_time(league: League) -> None:
    await league.begin(entrants("deep", "wide"))
    found = await league.at(START_MS - 1)
    assert (found.row.status, found.fixtures) == ("open", ())
    found = await league.at(START_MS)
    assert (found.row.status, found.row.started_ms) == ("running", START_MS)
    assert [(one.match.round, one.status, one.ordered_ms) for one in found.fixtures] == [(1, "queued", START_MS)] * 2


@pytest.mark.sampled(2)
async def test_one_that_finds_too_few_at_its_start_is_paused_with_the_reason(league: League) -> None:
    await league.begin(entrants("deep"))
    found = await league.at(START_MS)
    assert (found.row.status, found.row.started_ms, found.row.waits_to_start) == ("paused", None, True)
    assert found.row.reason == "it could not start: its games need 2 or more entrants, not 1"


@pytest.mark.sampled(2)
async def test_one_whose_player_is_gone_is_paused_also_where_another_one_has_its_name(league: League) -> None:
    await league.begin(entrants("deep", "wide"))
    await league.pass_on("wide", "ann")
    await league.pass_on("deep", "bob")
    found = await league.at(START_MS)
    reason = "its matches cannot be ordered: the player deep of p0 is not registered any more"
    assert (found.row.status, found.row.reason) == ("paused", reason)
    await league.pass_on("deep", "ann")
    running = TournamentChange({"status": TournamentStatus.RUNNING})
    assert await league.store.apply(found.row, running)
    assert {one.status for one in (await league.at(START_MS)).fixtures} == {"queued"}


@pytest.mark.sampled(2)
async def test_absent_players_forfeit_and_rounds_begin_by_the_clock_with_any_driver(league: League) -> None:
    await league.begin(entrants("deep", "random"))
    await league.at(START_MS)
    driver = league.driver()
    await league.at(START_MS + 5_000, driver)  # it misses the player from now on
    assert {one.status for one in (await league.at(START_MS + 14_999, driver)).fixtures} == {"queued"}
    found = await league.at(START_MS + 16_000, driver)  # it looks once a second
    assert [(one.forfeited, one.status) for one in found.fixtures] == [(("p0",), "aborted")] * 2
    assert found.fixtures[0].abort_reason == "p0 was not there within 10 s, and has lost the match"
    found = await league.at(START_MS + 99_999)
    assert (found.row.status, len(found.fixtures)) == ("running", 2)
    found = await league.at(START_MS + 100_000)
    assert [(one.match.round, one.ordered_ms) for one in found.fixtures[2:]] == [(2, START_MS + 100_000)] * 2
    driver = league.driver()
    await league.at(START_MS + 100_000, driver)
    assert (await league.at(START_MS + 110_001, driver)).row.status == "over"


@pytest.mark.sampled(2)
async def test_a_match_that_all_have_missed_names_all_of_them(league: League) -> None:
    await league.begin(entrants("deep", "wide"))
    driver = league.driver()
    for at_ms in (START_MS, START_MS + 5_000):
        await league.at(at_ms, driver)
    found = await league.at(START_MS + 16_000, driver)
    reasons = {one.match.players: one.abort_reason for one in found.fixtures}
    assert reasons == {
        pair: f"{' and '.join(pair)} were not there within 10 s, and have lost the match"
        for pair in (("p0", "p1"), ("p1", "p0"))
    }


@pytest.mark.sampled(2)
async def test_one_look_lasts_until_something_changes_or_its_time_comes(league: League) -> None:
    slow = Timetable(rounds_begin=Every(every_seconds=100))
    await league.begin(entrants("deep", "wide"), slow)
    found = await league.store.read("cup")
    assert found is not None
    driver = league.driver()
    await league.at(START_MS, driver)
    assert (await league.at(START_MS * 2, driver)).row == found.row  # nothing says when it starts


@pytest.mark.sampled(2)
async def test_a_round_robin_is_played_round_by_round(league: League) -> None:
    timetable = Timetable(rounds_begin=Every(every_seconds=100))
    await league.begin_round_robin("deep", "wide", "random", rounds=1, timetable=timetable)

    async def rounds(at_ms: int) -> list[int]:
        now = await league.robin_at(at_ms)
        assert len(now.fixtures) == 6
        return sorted({one.match.round for one in now.fixtures if one.status is not None})

    assert await rounds(START_MS) == [1]
    assert await rounds(START_MS + 99_999) == [1]
    assert await rounds(START_MS + 300_000) == [1, 2]  # and not two at once
    assert await rounds(START_MS + 400_000) == [1, 2, 3]


@pytest.mark.sampled(2)
async def test_others_play_on_however_many_matches_an_absent_player_has(league: League) -> None:
    await league.begin_round_robin("random", "legal", "deep", rounds=40)
    found = await league.robin_at(START_MS)
    ordered = Counter("p2" in one.match.players for one in found.fixtures if one.status == MatchStatus.QUEUED)
    assert ordered == {True: MAX_LIVE // 3, False: MAX_LIVE - MAX_LIVE // 3}


@pytest.mark.sampled(2)
async def test_after_an_error_that_may_pass_a_tournament_goes_on_a_minute_later(
    league: League, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(_name: str) -> None:
        raise RuntimeError("can't start new thread")

    await league.begin(entrants("deep", "wide"))
    driver = league.driver()
    with monkeypatch.context() as patch:
        patch.setattr(driver, "_went_on", fail)
        assert (await league.at(START_MS, driver)).row.status == "open"
    assert [record.getMessage() for record in caplog.records] == ["tournament cup stands still: can't start new thread"]
    assert (await league.at(START_MS + RETRY_MS - 1, driver)).row.status == "open"
    assert (await league.at(START_MS + RETRY_MS, driver)).row.status == "running"


@pytest.mark.sampled(2)
async def test_the_event_loop_does_not_look_through_the_matches_itself(
    league: League, monkeypatch: pytest.MonkeyPatch
) -> None:
    await league.begin(entrants("deep", "wide"))
    await league.at(START_MS)
    threads: dict[str, set[int]] = {}

    def noted(work: Callable[..., Any]) -> Callable[..., Any]:
        def note(*arguments: Any) -> Any:
            threads.setdefault(work.__name__, set()).add(threading.get_ident())
            return work(*arguments)

        return note

    monkeypatch.setattr("server.storage.tournaments.sound", noted(sound))
    monkeypatch.setattr("server.hosting.tournament_progress.progress_of", noted(progress_of))
    monkeypatch.setattr("server.hosting.tournament_progress.open_rounds", noted(open_rounds))
    await league.at(START_MS)
    assert set(threads) == {"sound", "progress_of", "open_rounds"}
    assert threading.get_ident() not in set.union(*threads.values())
