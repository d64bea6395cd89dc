"""What happens in matches, as it happens: from the database, so that it does not matter which manager plays a match.

News of what this manager commits wake a stream at once; what another one commits is looked for every second.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

from server.hosting.news import something_new
from server.records.entries import ENDS, Entry
from server.spectating.events import Curtain, PublicEvent
from server.spectating.record import known_match
from server.spectating.source import Source

POLL_S: Final = 1.0


async def feed(source: Source, match_id: str, after: int = -1, poll_s: float = POLL_S) -> AsyncIterator[PublicEvent]:
    """Yield the public events of a match that come after number *after*; it ends with the match.

    Raises:
        UnknownMatchError: there is no such match.
    """
    reading = _Reading(source, match_id, after + 1)
    with source.news.subscribed(match_id) as fresh:
        while True:
            fresh.clear()
            is_over = (await known_match(source, match_id)).has_ended
            for event in await reading.more(has_ended=is_over):
                yield event
            if is_over or reading.is_closed:
                return
            await something_new(fresh, poll_s)


async def public_events(source: Source, match_id: str, after: int = -1) -> list[PublicEvent]:
    """Return the public events of a match up to now that come after number *after*; raises as `feed`."""
    match = await known_match(source, match_id)
    return await _Reading(source, match_id, after + 1).more(has_ended=match.has_ended)


class _Reading:
    """How far the journal of one match was read."""

    def __init__(self, source: Source, match_id: str, first: int) -> None:
        self._source, self._match_id, self._next = source, match_id, first
        self._started: Entry | None = None
        self.is_closed = False

    async def more(self, *, has_ended: bool) -> list[PublicEvent]:
        """Return the events that were not yet read."""
        first = self._next if self._started is not None else 0
        entries = await self._source.matches.entries(self._match_id, first - 1)
        if self._started is None and entries:
            self._started = entries[0]
        found = []
        for number, entry in enumerate(entries, first):
            has_ended |= entry["event"] in ENDS
            event = self._public(number, entry, has_ended=has_ended)
            found += [event] if event is not None and number >= self._next else []
            self.is_closed |= entry["event"] == "closed"
        self._next = max(self._next, first + len(entries))
        return found

    def _public(self, number: int, entry: Entry, *, has_ended: bool) -> PublicEvent | None:
        assert self._started is not None
        return Curtain(self._started, has_ended).public(number, entry)
