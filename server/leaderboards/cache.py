"""Leaderboards and encounters, worked out in the background, large ones in a child process, and remembered."""

import asyncio
from typing import Final

from cachetools import LRUCache

from gdl.worker import ChildLimits, run_limited
from server.cache import BackgroundCache
from server.leaderboards.encounters import Encounters, encounters_of, opponents
from server.leaderboards.leaderboard import Leaderboard, RatingCurves, leaderboard_of
from server.refusals import RequestError
from server.storage.results import ResultStore, by_version
from server.storage.rows import RatedResult

_FRESH_S: Final = 60.0
_PATIENCE_S: Final = 0.15
_CURRENT_S: Final = 1.0
"""How long a request waits that tells more than the answer, before it takes an old one."""
_LONG_PATIENCE_S: Final = 10.0
"""How long a request waits that has nothing to tell without the answer."""
_N_KEPT: Final = 128
_MOST_MET: Final = 2_000
"""How many results of a player count where its opponents are listed, or two players are compared: the latest."""
_MOST_HERE: Final = 500
"""Leaderboards of more results than that are worked out in a process of their own, since matches would wait for it."""
_LIMITS: Final = ChildLimits(max_seconds=300.0)
_LATER: Final = "try again in a minute"
ALL_GAMES: Final = ""
"""The key of the leaderboard over all games."""


class Leaderboards:
    """The leaderboards of what *store* holds, worked out in the background and remembered for a minute."""

    def __init__(self, store: ResultStore) -> None:
        self.store = store
        self._curves: LRUCache[str, RatingCurves] = LRUCache(_N_KEPT)
        self._found = BackgroundCache(self._find, n_kept=_N_KEPT, patience_s=_PATIENCE_S, fresh_s=_FRESH_S)
        self._met = BackgroundCache(self._find_met, n_kept=_N_KEPT, patience_s=_PATIENCE_S, fresh_s=_FRESH_S)
        self._encounters = BackgroundCache(
            self._find_encounters, n_kept=_N_KEPT, patience_s=_LONG_PATIENCE_S, fresh_s=_FRESH_S
        )
        self._games = BackgroundCache(self._find_games, n_kept=1, patience_s=_PATIENCE_S, fresh_s=_FRESH_S)

    async def of(self, game: str = ALL_GAMES, patience_s: float = _PATIENCE_S) -> Leaderboard | None:
        """Return the leaderboard of *game*; None while it is worked out, after *patience_s* seconds."""
        return await self._found.of(game, patience_s)

    async def current(self, game: str = ALL_GAMES, patience_s: float = _CURRENT_S) -> Leaderboard | None:
        """Return the leaderboard of *game* as it was a minute ago or later, or an older one after *patience_s* seconds.

        None where there is none by then.
        """
        return await self._found.of(game, patience_s, may_be_old=False)

    async def needed(self, game: str) -> Leaderboard:
        """Return the leaderboard of *game* like `current`, for a request that has nothing to tell without it.

        Raises:
            RequestError: it takes too long just now.
        """
        board = await self.current(game, _LONG_PATIENCE_S)
        if board is None:
            raise RequestError("busy", "the ratings are being worked out", _LATER, 503)
        return board

    async def _find(self, game: str) -> Leaderboard:
        latest, versions = await self.store.latest(game or None), await self.store.versions()
        found = await asyncio.to_thread(by_version, latest, versions)
        work = leaderboard_of if len(found) <= _MOST_HERE else _leaderboard_apart
        board = await asyncio.to_thread(work, found, self._curves.get(game))
        self._curves[game] = board.curves
        return board

    async def opponents_of(self, player: str) -> list[tuple[str, int]]:
        """Return whom a player has met in matches that are rated, each with how often; the most frequent first."""
        return await self._met.of(player) or []

    async def _find_met(self, player: str) -> list[tuple[str, int]]:
        return opponents(player, await self.store.latest(players=(player,), limit=_MOST_MET))

    async def encounters(self, one: str, other: str) -> Encounters:
        """Return what *one* made against *other*.

        Raises:
            RequestError: that takes too long just now.
        """
        found = await self._encounters.of((one, other), may_be_old=False)
        if found is None:
            raise RequestError("busy", "the matches of these two are being looked up", _LATER, 503)
        return found

    async def _find_encounters(self, pair: tuple[str, str]) -> Encounters:
        one, other = pair
        found = await self.store.latest(players=pair, limit=_MOST_MET) if one != other else []
        return await asyncio.to_thread(encounters_of, one, other, found)

    async def rated_games(self) -> list[tuple[str, int]]:
        """Return the games that have results, as `ResultStore.rated_games`; none while they are counted."""
        return await self._games.of(ALL_GAMES) or []

    async def _find_games(self, _key: str) -> list[tuple[str, int]]:
        return await self.store.rated_games()

    async def close(self) -> None:
        """End what is being worked out."""
        for cache in (self._found, self._met, self._encounters, self._games):
            await cache.close()


def _leaderboard_apart(found: list[RatedResult], kept: RatingCurves | None) -> Leaderboard:
    return run_limited(leaderboard_of, (found, kept), _LIMITS)
