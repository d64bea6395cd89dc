"""What is counted is what happened, and tells nothing of matches that are played by people who may not know it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from server.storage.database import Database
from server.storage.match_queries import MatchFilter
from server.storage.matches import MatchStore
from server.storage.queue import MatchQueue
from server.storage.rows import MatchStatus, MatchSummary, SeatKind, SeatResult
from server.storage.statistics import GameStatistics, PlayerStatistics, Statistics, VersionResult
from tests.kit.server.storage.finished import FinishedMatch, add_finished
from tests.kit.server.storage.samples import ORDER, add, match, seats

NONE = {"lobby": 0, "queued": 0, "running": 0, "completed": 0, "aborted": 0, "failed": 0}


def over(
    match_id: str, goals: tuple[int, int] | None, *players: str, game: str = "tiny", n_steps: int = 4
) -> FinishedMatch:
    results = {
        "x": SeatResult(None if goals is None else goals[0], 1, 1_000, n_steps),
        "o": SeatResult(None if goals is None else goals[1], 0, 500, n_steps),
    }
    summary = MatchSummary(
        MatchStatus.ABORTED if goals is None else MatchStatus.COMPLETED, 99, n_steps, 1, goals, results
    )
    return FinishedMatch(match(match_id, game=game), seats(match_id, *players), []).ended(summary)


@pytest.fixture
async def statistics(database: Database) -> Statistics:
    finished = [
        over("a", (100, 0), "ann", "bob", n_steps=4),
        over("b", (50, 50), "bob", "ann", n_steps=7),
        over("c", None, "ann", "bob"),
        over("d", (0, 100), "bob", "bob", game="other"),
    ]
    assert await add_finished(database, finished) == 4
    store = MatchStore(database)
    await add(store, match("waits"))
    await add(store, match("hidden", is_hidden=True, order={"text": ORDER["text"] | {"scramble": True}}))
    await MatchQueue(database).claim(["hidden"], "here", 10)
    return Statistics(database)


async def test_matches_that_are_over_are_counted_by_game(statistics: Statistics) -> None:
    assert await statistics.by_game() == {"tiny": 3, "other": 1}


async def test_a_game_has_means_over_its_completed_matches(statistics: Statistics) -> None:
    counts = NONE | {"completed": 2, "aborted": 1, "queued": 1}
    assert await statistics.of_game("tiny") == GameStatistics(
        counts, 5.5, {"x": 75.0, "o": 25.0}, {"x": 49.0, "o": 49.0}
    )


async def test_a_game_without_matches_has_no_means(statistics: Statistics) -> None:
    assert await statistics.of_game("unknown") == GameStatistics(NONE, None, {})


async def test_a_player_has_means_over_its_seats_in_completed_matches(statistics: Statistics) -> None:
    assert await statistics.of_player("bob") == {
        "other": PlayerStatistics(2, 50.0, 1, 8, 1_500),
        "tiny": PlayerStatistics(2, 25.0, 1, 11, 1_500),
    }


async def test_a_player_has_results_by_game_and_version_since_some_time(database: Database) -> None:
    def played(match_id: str, version: str | None, game: str = "tiny") -> FinishedMatch:
        found = over(match_id, (100, 0), "ann", "bob", game=game)
        return replace(found, seats=[replace(found.seats[0], version=version), found.seats[1]])

    finished = [played("a", "2.0"), played("b", None), played("c", "2.0"), played("d", "1.0", game="other")]
    assert await add_finished(database, finished) == 4
    assert [await Statistics(database).by_version("ann", since_ms) for since_ms in (10, 11)] == [
        [
            VersionResult("other", "1.0", 1, 100.0, 1),
            VersionResult("tiny", None, 1, 100.0, 1),
            VersionResult("tiny", "2.0", 2, 100.0, 2),
        ],
        [],
    ]


async def test_seats_of_chance_are_not_those_of_the_player_random(database: Database) -> None:
    dealt = over("e", (30, 0), "random", "random", game="dealt")
    chance = replace(dealt, seats=[dealt.seats[0], replace(dealt.seats[1], kind=SeatKind.CHANCE)])
    alone = over("f", (0, 60), "ann", "random", game="dealt")
    unplayed = replace(alone, seats=[alone.seats[0], replace(alone.seats[1], kind=SeatKind.CHANCE)])
    assert await add_finished(database, [chance, unplayed]) == 2
    assert await Statistics(database).of_player("random") == {"dealt": PlayerStatistics(1, 30.0, 1, 4, 1_000)}
    store = MatchStore(database)
    assert [row.id for row in await store.listed(MatchFilter(player="random"))] == ["e"]
    assert [row.id for row in await store.listed(MatchFilter(player="ann"))] == ["f"]
