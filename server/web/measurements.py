"""What random plays measure of games, those of games that come without figures, too: their branching, their length."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any, Final

from aiohttp import web

from server.cache import BackgroundCache
from server.storage.games import GameStore
from server.storage.rows import GameVersion
from server.validating.checker import Checker
from server.validating.formats import file_report
from server.web.game_versions import RulesKey

_N_KEPT: Final = 4_096
_NO_PATIENCE_S: Final = 0.0


def figures_of(version: GameVersion) -> Mapping[str, Any]:
    """Return the figures that random plays of *version* gave; none where none were made."""
    return (version.report or {}).get("simulation") or {}


def measured(version: GameVersion) -> list[tuple[str, str]]:
    """Return what random plays measured of *version*, each figure with its words; nothing where none were made."""
    figures = figures_of(version)
    exact = figures.get("exhaustive") or {}
    found = [
        (_spread(figures.get("jointMoves")), "joint moves in a state"),
        (_spread(figures.get("steps")), "steps of a play"),
        (_number(exact.get("states"), ","), "states in all"),
        (_number(figures.get("playsPerSecond")), "plays a second, interpreted"),
    ]
    return [(value, words) for value, words in found if value]


def _spread(spread: Mapping[str, float | None] | None) -> str:
    """Return the least, the mean and the most of a figure in words; empty where it is none."""
    least, mean, most = ((spread or {}).get(name) for name in ("min", "mean", "max"))
    if least is None or mean is None or most is None:
        return ""
    return f"{mean:,.3g}" if least == most else f"{mean:,.3g} ({least:,} to {most:,})"


def _number(value: float | None, form: str = ",.3g") -> str:
    return "" if value is None else format(value, form)


class Measurements:
    """Plays games at random of which no figures are kept, one after the other, and keeps what the plays say."""

    def __init__(self, games: GameStore, checker: Checker) -> None:
        self._games, self._checker = games, checker
        self._turn = asyncio.Lock()
        self._found = BackgroundCache(self._measured, n_kept=_N_KEPT, patience_s=_NO_PATIENCE_S)

    async def begin(self, versions: Iterable[GameVersion]) -> int:
        """Have those of *versions* measured behind the scenes that have no figures yet; return how many still wait."""
        missing = [version for version in versions if not figures_of(version)]
        return [await self._found.of(RulesKey(version.sha256, version)) for version in missing].count(None)

    async def _measured(self, rules: RulesKey) -> bool:
        version = rules.version
        async with self._turn:
            found = await self._checker.validation(version.rules, version.name, is_played=True)
        if found.figures is not None and not found.is_wrong:
            await self._games.judge(version.sha256, found.verdict, file_report(found))
        return True

    async def close(self) -> None:
        """End what is being measured."""
        await self._found.close()


MEASUREMENTS: Final = web.AppKey("measurements", Measurements)
