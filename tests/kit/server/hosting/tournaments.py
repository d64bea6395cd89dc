"""Tournaments in a database, for the tests of what plays them."""

from __future__ import annotations

from typing import Any

from server.hosting.game_manager import GameManager
from server.hosting.settings import GameManagerSettings
from server.hosting.tournament_progress import progress_of
from server.storage.database import Database
from server.storage.tournament_rows import EntrantRow, PinnedGame, TournamentRow, TournamentStatus
from server.storage.tournaments import StoredTournament, TournamentStore
from server.tournament.plan import TournamentTerms
from server.tournament.table import table_of
from server.tournament.timetable import Timetable
from tests.kit.polling import until

PLAYERS = ("random", "legal", "random", "legal")
SWISS: dict[str, Any] = {"format": "swiss", "games": ["tictactoe"], "rounds": 3, "start_clock": 1, "play_clock": 1}


def tournament(
    name: str = "cup",
    sha256: str = "5ha",
    status: TournamentStatus = TournamentStatus.RUNNING,
    timetable: Timetable | None = None,
    **changes: Any,
) -> TournamentRow:
    """Return a tournament that runs, unless *status* says otherwise."""
    terms = TournamentTerms.model_validate(SWISS | {"seed": 7} | changes)
    games = {game: PinnedGame(sha256, 2) for game in terms.games}
    started_ms = None if status == TournamentStatus.OPEN else 11
    return TournamentRow(name, "ann", terms, games, 10, status, started_ms=started_ms, timetable=timetable)


def entrants(*specs: str) -> list[EntrantRow]:
    """Return entrants called `p0`, `p1`, ..., with players as *specs* say."""
    return [EntrantRow(f"p{place}", spec, place, "ann", 10) for place, spec in enumerate(specs or PLAYERS)]


async def begin(database: Database, *specs: str, **changes: Any) -> None:
    """Keep a tournament that runs, of players of ours."""
    manager = GameManager(database, GameManagerSettings())
    await manager.finder.keep_library()
    version = await manager.games.find("tictactoe")
    assert version is not None
    assert await TournamentStore(database).add(tournament("cup", version.sha256, **changes), entrants(*specs))


async def until_over(store: TournamentStore, name: str = "cup", limit_s: float = 120.0) -> StoredTournament:
    """Return the tournament once it is over."""

    async def over() -> StoredTournament | None:
        found = await store.read(name)
        assert found is not None
        return found if found.row.status == TournamentStatus.OVER else None

    return await until(over, limit_s, pause_s=0.1)


def outcome(found: StoredTournament) -> list[dict[str, Any]]:
    """Return the standings, without how long the players thought."""
    rows = [row.as_json() for row in table_of(progress_of(found))]
    return [{name: value for name, value in row.items() if name != "thinkingSeconds"} for row in rows]
