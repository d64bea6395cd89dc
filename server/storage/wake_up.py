"""Wakes the tasks of this process that wait for something new in a match."""

import asyncio
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress


async def something_new(fresh: asyncio.Event, limit_s: float) -> None:
    """Wait until *fresh* is set, but no longer than *limit_s*."""
    with suppress(TimeoutError):
        async with asyncio.timeout(limit_s):
            await fresh.wait()


class Notifier:
    """Wakes the tasks that wait for something new in a match, or in any match."""

    def __init__(self) -> None:
        self._waiting: dict[str | None, set[asyncio.Event]] = {}

    def tell(self, match_ids: Collection[str]) -> None:
        """Say that something happened in the matches."""
        for match_id in (*match_ids, None):
            for event in self._waiting.get(match_id, ()):
                event.set()

    @contextmanager
    def subscribed(self, match_id: str | None = None) -> Iterator[asyncio.Event]:
        """Yield an event that is set when something happens in the match (None: in any); clear it before looking."""
        event = asyncio.Event()
        self._waiting.setdefault(match_id, set()).add(event)
        try:
            yield event
        finally:
            waiting = self._waiting[match_id]
            waiting.discard(event)
            if not waiting:
                del self._waiting[match_id]
