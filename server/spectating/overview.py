"""All matches at once, as they change: what lists show of each that waits, is played, or ended lately."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Final

from server.hosting.news import something_new
from server.match.clock import now_ms
from server.spectating.listing import Listed, listed
from server.spectating.source import Source
from server.spectating.stream import POLL_S
from server.storage.rows import QUEUED, RUNNING

MAX_SHOWN: Final = 200
"""How many of the matches that are played, and how many that wait: the newest."""
MAX_RECENT: Final = 500
"""How many matches are told that changed since somebody looked last."""
AGE_MS: Final = 500
"""How long what was read is shown to everybody, so that many viewers cost no more than one."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What lists showed at `at_ms` of each match that waited or was played, by id."""

    at_ms: int
    matches: dict[str, Listed] = field(default_factory=dict)


class Overview:
    """What all matches of *source* are at; *clock_ms* tells the time."""

    def __init__(self, source: Source, clock_ms: Callable[[], int] = now_ms) -> None:
        self._source, self._clock_ms = source, clock_ms
        self._latest = Snapshot(0)
        self._reading = asyncio.Lock()

    async def changes(self, after_ms: int | None = None, poll_s: float = POLL_S) -> AsyncIterator[tuple[int, Listed]]:
        """Yield each match that waits or is played, and again whenever it has changed, with the time of that.

        With *after_ms*, the time of what somebody saw last, also the matches that ended since. It never ends.
        """
        seen: dict[str, Listed] = {}
        with self._source.news.subscribed() as fresh:
            for match in await self._ended_since(after_ms):
                yield self._clock_ms(), match
            while True:
                fresh.clear()
                snapshot = await self._current()
                for match in [*await self._gone(seen, snapshot), *snapshot.matches.values()]:
                    if seen.get(match["id"]) != match:
                        yield snapshot.at_ms, match
                seen = snapshot.matches
                await something_new(fresh, poll_s)
                await asyncio.sleep(AGE_MS / 1000)  # more will come; nobody sees faster

    async def _current(self) -> Snapshot:
        async with self._reading:
            at_ms = self._clock_ms()
            if at_ms - self._latest.at_ms >= AGE_MS:
                self._latest = Snapshot(at_ms, {match["id"]: match for match in await self._read()})
            return self._latest

    async def _read(self) -> list[Listed]:
        store = self._source.matches
        played = await store.listed(status=RUNNING, limit=MAX_SHOWN)
        return await listed(self._source, [*await store.listed(status=QUEUED, limit=MAX_SHOWN), *played])

    async def _gone(self, seen: dict[str, Listed], snapshot: Snapshot) -> list[Listed]:
        """Return what became of the matches that were *seen* and are not in *snapshot* any more."""
        found = [await self._source.matches.get(match_id) for match_id in seen if match_id not in snapshot.matches]
        return await listed(self._source, [match for match in found if match is not None])

    async def _ended_since(self, after_ms: int | None) -> list[Listed]:
        if after_ms is None:
            return []
        changed = await self._source.matches.changed_since(after_ms, MAX_RECENT)
        return await listed(self._source, [match for match in reversed(changed) if match.has_ended])
