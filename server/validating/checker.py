"""Rules that came from somebody, validated beside the event loop: a few at a time, in bounded time and memory."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Final

from gdl.kif import ReadLimits
from gdl.simulation import SimulationBudget
from gdl.source import Source
from server.errors import RequestError
from server.validating.validation import Options, Validation, check_source, play_file

MAX_CHARACTERS: Final = 500_000
"""The longest rules that are taken."""
_AT_ONCE: Final = 2
_WAITING: Final = 8
_CHECKING: Final = Options(max_seconds=15.0, max_memory_mb=1024, read_limits=ReadLimits(max_characters=MAX_CHARACTERS))
_PLAYING: Final = SimulationBudget(plays=50, seconds=8.0, states=2_000)


class Checker:
    """Validates one text after another; no more than a few wait."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(_AT_ONCE)
        self._n_waiting = 0

    async def validation(self, text: str, name: str, *, is_played: bool) -> Validation:
        """Return what is to be said of the rules *text*; where *is_played*, after random plays too.

        Raises:
            RequestError: many others are waiting.
        """
        if self._n_waiting >= _WAITING:
            raise RequestError("busy", "many rules are being checked just now", "try again in a minute", 503)
        self._n_waiting += 1
        try:
            async with self._free:
                return await asyncio.to_thread(_validation, Source(name, text), is_played=is_played)
        finally:
            self._n_waiting -= 1


def _validation(source: Source, *, is_played: bool) -> Validation:
    found = check_source(source, _CHECKING)
    if not is_played or found.has_error or found.limit is not None:
        return found
    return play_file(source.name, found, replace(_CHECKING, budget=_PLAYING))
