"""The ladder in a database: idle players that allow it are paired, once, and their matches count."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
import sqlalchemy as sa

from gdl.errors import CallerError, UnknownNameError
from server.errors import ScheduleError
from server.hosting.game_manager import GameManager
from server.hosting.idle_ladder import LATE_MS, RATED_S, IdleLadder
from server.hosting.order import DrawnMatch, MatchRequest, SeatText
from server.hosting.settings import GameManagerSettings, LadderSettings
from server.registry.registry import PlayerWishes
from server.storage.database import Database
from server.storage.results import MOST_RESULTS, ResultStore
from server.storage.rows import MatchPurpose, MatchStatus, RatedResult, SeatKind
from server.storage.schema import matches, seats
from server.tournament.ratings import Ratings

SETTINGS = GameManagerSettings(ladder=LadderSettings(("tictactoe",), 1, 1))


async def furnished(database: Database, settings: GameManagerSettings = SETTINGS) -> GameManager:
    """Return a manager of four players, of whom one does not want to, and one is not there."""
    manager = GameManager(database, settings)
    await manager.finder.keep_library()
    for name, joins in (("ann", True), ("bob", True), ("cid", False)):
        await manager.registry.register(name, "me", "http://127.0.0.1:9", wishes=PlayerWishes(joins_ladder=joins))
    await manager.registry.register("dan", "me")
    return manager


@pytest.mark.sampled(2)
async def test_idle_players_are_paired_and_not_again_while_they_wait(database: Database) -> None:
    manager = await furnished(database)
    assert [await manager.ladder.look(), await manager.ladder.look()] == [2, 0]
    found = await manager.matches.listed()
    assert {(row.purpose, row.ordered_by, row.game) for row in found} == {(MatchPurpose.LADDER, "ladder", "tictactoe")}
    seat_rows = await manager.matches.seats([row.id for row in found])
    assert sorted(tuple(seat.player for seat in each) for each in seat_rows.values()) == [
        ("ann", "bob"),
        ("bob", "ann"),
    ]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("game", "n_seeds"), [("tictactoe", 1), ("kuhnpoker", 2)])
async def test_what_the_record_of_one_match_tells_of_chance_is_not_so_in_the_other(
    database: Database, game: str, n_seeds: int
) -> None:
    manager = await furnished(database, GameManagerSettings(ladder=LadderSettings((game,), 1, 1)))
    assert await manager.ladder.look() == 2
    assert len({row.order["seed"] for row in await manager.matches.listed()}) == n_seeds


@pytest.mark.sampled(2)
async def test_the_results_of_the_ladder_become_ratings(database: Database) -> None:
    manager = await furnished(database)
    await manager.ladder.look()
    async with database.begin() as connection:
        await connection.execute(sa.update(matches).values(status=MatchStatus.COMPLETED, ended_ms=1))
        goal = sa.case((seats.c.player == "ann", 100), else_=0)
        await connection.execute(sa.update(seats).values(goal=goal))
    results = await ResultStore(database).latest(limit=10)
    assert [sorted(zip(each.result.players, each.result.goals, strict=True)) for each in results] == [
        [("ann", 100), ("bob", 0)]
    ] * 2
    assert await manager.ladder.look() == 2
    rated = await IdleLadder(manager, ResultStore(database)).ratings()
    assert [each.player for each in rated.players] == ["ann", "bob"]
    async with database.begin() as connection:
        await connection.execute(sa.update(seats).where(seats.c.player == "bob").values(kind=SeatKind.HUMAN))
    assert await ResultStore(database).latest(limit=10) == []


@pytest.mark.sampled(2)
async def test_a_player_of_whose_address_a_match_was_ordered_is_not_idle(database: Database) -> None:
    manager = await furnished(database)
    await manager.registry.change("bob", "http://127.0.0.1:10")
    players = {"x": SeatText(player="http://127.0.0.1:10/")}
    ordered = await manager.order(MatchRequest(game="tictactoe", players=players))
    n_while_it_waits = await manager.ladder.look()
    await manager.queue.claim([ordered.row.id], "here", 60)
    assert (n_while_it_waits, await manager.ladder.look()) == (0, 0)


async def resign(manager: GameManager) -> None:
    await manager.registry.change("bob", wishes=PlayerWishes(joins_ladder=False))


async def pause(manager: GameManager) -> None:
    await manager.registry.pause("bob", "lunch")


async def remove(manager: GameManager) -> None:
    await manager.registry.remove("bob")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("leave", [resign, pause, remove])
async def test_a_player_that_leaves_while_ratings_are_made_is_not_paired(
    database: Database, leave: Callable[[GameManager], Awaitable[None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    manager = await furnished(database)
    ratings = manager.ladder.ratings

    async def ratings_after_it_left() -> Ratings:
        await leave(manager)
        return await ratings()

    monkeypatch.setattr(manager.ladder, "ratings", ratings_after_it_left)
    assert (await manager.ladder.look(), await manager.matches.listed()) == (0, [])


@pytest.mark.sampled(2)
async def test_a_meeting_of_which_a_player_leaves_while_it_is_ordered_is_left_out(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    manager = await furnished(database)
    draw, n_drawn = manager.draw, 0

    async def draw_until_it_left(*order: Any) -> DrawnMatch:
        nonlocal n_drawn
        n_drawn += 1
        if n_drawn == 2:
            await remove(manager)
        return await draw(*order)

    monkeypatch.setattr(manager, "draw", draw_until_it_left)
    assert (await manager.ladder.look(), await manager.matches.listed(), n_drawn) == (0, [], 2)


class Counted(ResultStore):
    """Counts the results that are read, each time."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.n_read: list[int] = []

    async def latest(
        self, game: str | None = None, players: Sequence[str] = (), limit: int = MOST_RESULTS, since_ms: int = 0
    ) -> list[RatedResult]:
        found = await super().latest(game, players, limit, since_ms)
        self.n_read.append(len(found))
        return found


@pytest.mark.sampled(2)
async def test_between_two_ratings_only_new_results_are_read(database: Database) -> None:
    manager, results, now_s = await furnished(database), Counted(database), [0.0]
    ladder = IdleLadder(manager, results, lambda: now_s[0])
    n_ordered = []
    for ended_ms in (1, 2 * LATE_MS, 4 * LATE_MS):
        n_ordered.append(await ladder.look())
        async with database.begin() as connection:
            over = {"status": MatchStatus.COMPLETED, "ended_ms": ended_ms}
            await connection.execute(sa.update(matches).where(matches.c.ended_ms.is_(None)).values(over))
            await connection.execute(sa.update(seats).values(goal=50))
        now_s[0] += 0.6 * RATED_S
    await ladder.look()
    assert (n_ordered, results.n_read) == ([2, 2, 2], [0, 0, 2, 4, 2, 4])


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("game", "error"), [("tictactoo", UnknownNameError), ("eightpuzzle", ScheduleError)])
async def test_a_ladder_of_a_game_in_which_no_players_meet_is_refused(
    database: Database, game: str, error: type[CallerError]
) -> None:
    """It is not there, or has one role."""
    manager = GameManager(database, GameManagerSettings(ladder=LadderSettings((game,))))
    with pytest.raises(error, match=game):
        await manager.start()
    await manager.close()
