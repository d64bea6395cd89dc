"""Figures of games that were not uploaded, those of the library above all: measured once a page needs them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from aiohttp import web

from server.storage.games import GameStore
from server.storage.rows import GameVersion
from server.validating.checker import Checker
from server.validating.formats import file_report
from server.web.cache import BackgroundCache
from server.web.game_list import figures_of

_N_KEPT: Final = 4_096
_NO_PATIENCE_S: Final = 0.0


@dataclass(frozen=True, slots=True)
class _Rules:
    sha256: str
    version: GameVersion = field(compare=False)


class Measurements:
    """Plays games at random of which no figures are kept, one after the other, and keeps what the plays say."""

    def __init__(self, games: GameStore, checker: Checker) -> None:
        self._games, self._checker = games, checker
        self._turn = asyncio.Lock()
        self._found = BackgroundCache(self._measured, n_kept=_N_KEPT, patience_s=_NO_PATIENCE_S)

    async def begin(self, versions: Iterable[GameVersion]) -> None:
        """Have those of *versions* measured behind the scenes that have no figures yet."""
        for version in versions:
            if not figures_of(version):
                await self._found.of(_Rules(version.sha256, version))

    async def _measured(self, rules: _Rules) -> bool:
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
