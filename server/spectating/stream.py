"""The public events of one match as they come, read from the database once for all who follow it."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Final

from server.clock import now_ms
from server.records.entries import ClosedEntry, Entry
from server.records.record import understood
from server.spectating.broadcast import broadcast_of
from server.spectating.events import PublicClose, PublicEnd, PublicEvent, PublicQuestion
from server.spectating.fanout import Audience, SharedEvent, Sink
from server.spectating.public_journal import PublicJournal
from server.spectating.public_record import LiveSource, known_match
from server.spectating.viewers import end_reason, secrecy_of
from server.storage.notifications import something_new
from server.storage.rows import MatchRow, MatchStatus

POLL_S: Final = 1.0
CLOSED: Final = "closed"
MAX_EVENTS: Final = 64
"""How many events of a match are yielded at once."""


async def feed(
    source: LiveSource, match_id: str, after: int = -1, poll_s: float = POLL_S
) -> AsyncIterator[PublicEvent]:
    """Yield the public events of a match that come after number *after*; it ends with the match.

    Raises:
        UnknownMatchError: there is no such match.
    """
    async for events in _batches(source, match_id, after, poll_s):
        for event in events:
            yield event


async def _batches(source: LiveSource, match_id: str, after: int, poll_s: float) -> AsyncIterator[list[PublicEvent]]:
    """Yield the same as `feed`, what is read together at once."""
    reading = _Reading(source, match_id, after + 1)
    with source.notifier.subscribed(match_id) as fresh:
        while True:
            fresh.clear()
            match = await known_match(source, match_id)
            if events := await reading.more(match):
                yield events
            if match.has_ended or reading.is_closed:
                return
            await something_new(fresh, poll_s)


async def public_events(source: LiveSource, match_id: str, after: int = -1) -> list[PublicEvent]:
    """Return the public events of a match up to now that come after number *after*; raises as `feed`."""
    match = await known_match(source, match_id)
    if match.has_ended and match.started_ms is None:
        return [event for event in _never_begun(match) if event.number > after]
    return await _Reading(source, match_id, after + 1).more(match)


def _never_begun(match: MatchRow) -> list[PublicEvent]:
    """Return the end of a match that ended before it began, of which no journal tells."""
    at_ms = match.ended_ms or now_ms()
    end = PublicEnd(match.status.value, at_ms, 0, reason=end_reason(match))
    return [PublicEvent(0, end), PublicEvent(1, PublicClose(at_ms))]


class _Reading:
    """How far the journal of one match was read."""

    def __init__(self, source: LiveSource, match_id: str, first: int) -> None:
        self._source, self._match_id, self._first, self._next = source, match_id, first, 0
        self._journal: PublicJournal | None = None
        self.is_closed = False

    async def more(self, match: MatchRow) -> list[PublicEvent]:
        """Return the events that were not yet read, and that spectators of *match* see by now.

        Raises:
            MatchRecordError: the journal makes no sense.
        """
        entries = broadcast_of(match, await self._source.journals.entries(self._match_id, self._next - 1))
        with understood(self._match_id):
            return self._public_of(match, entries)

    def _public_of(self, match: MatchRow, entries: Sequence[Entry]) -> list[PublicEvent]:
        """Return what spectators may know of *entries*, the next ones of the journal."""
        found = []
        if self._journal is not None:
            self._journal.renew(secrecy_of(match))
        for number, entry in enumerate(entries, self._next):
            self._journal = self._journal or PublicJournal(entry, secrecy_of(match))
            event = PublicEvent(number, self._journal.public(entry))
            found += [event] if number >= self._first else []
            self.is_closed |= isinstance(entry, ClosedEntry)
        self._next += len(entries)
        return found


class _MatchFeed:
    """The public events of one match up to now, read once for all who follow it."""

    def __init__(self, source: LiveSource, match_id: str, poll_s: float) -> None:
        self._source, self._match_id, self._poll_s = source, match_id, poll_s
        self.events: list[SharedEvent] = []
        self.audience = Audience(self._read_on)

    async def _read_on(self) -> None:
        self.events = []
        async for events in _batches(self._source, self._match_id, -1, self._poll_s):
            found, first = list(map(shared, events)), len(self.events)
            self.events += found
            await self.audience.send(found, first, len(self.events))


def shared(event: PublicEvent) -> SharedEvent:
    """Return a public event of a match for all who follow it; questions tell the time, which clocks go by."""
    return SharedEvent(event.kind, event.data, str(event.number), tells_now=isinstance(event.content, PublicQuestion))


class MatchFeeds:
    """The feeds of the matches of *source* that are followed just now."""

    def __init__(self, source: LiveSource, poll_s: float = POLL_S) -> None:
        self._source, self._poll_s = source, poll_s
        self._feeds: dict[str, _MatchFeed] = {}

    async def follow(
        self, match_id: str, after: int = -1, sink: Sink | None = None
    ) -> AsyncGenerator[list[SharedEvent]]:
        """Yield the public events of a match that come after number *after*, some at a time; it ends with the match.

        The last event is `closed`, also where the viewer knew it already: it must not connect again and again.
        What happens while the next ones are waited for may go to *sink* instead.

        Raises:
            UnknownMatchError: there is no such match.
        """
        feed = self._feeds.get(match_id)
        if feed is None or feed.audience.is_over:  # after the end there may be more to see
            feed = self._feeds[match_id] = _MatchFeed(self._source, match_id, self._poll_s)
        try:
            with feed.audience.joined(after + 1, sink) as member:
                while True:
                    member.fresh.clear()
                    is_over = feed.audience.is_over
                    while member.place < len(feed.events):
                        found = feed.events[member.place : member.place + MAX_EVENTS]
                        member.place += len(found)
                        yield found
                    if is_over:
                        feed.audience.check()
                        if after + 1 >= len(feed.events) or feed.events[-1].kind != CLOSED:
                            yield _end_of(await known_match(self._source, match_id), after, feed.events)
                        return
                    await member.wait()
        finally:
            if not feed.audience.members and self._feeds.get(match_id) is feed:
                del self._feeds[match_id]


def _end_of(match: MatchRow, after: int, events: Sequence[SharedEvent]) -> list[SharedEvent]:
    """Return the end of a match for a viewer who was told all *events*: `closed`, and before it why none began.

    The id of a `closed` that no journal has is that of the last event, from which the viewer may go on.
    """
    if not events and match.status in (MatchStatus.ABORTED, MatchStatus.FAILED):
        told = [shared(event) for event in _never_begun(match)]
        return told[after + 1 :] or [SharedEvent(CLOSED, told[-1].data, str(after))]
    is_told = bool(events) and events[-1].kind == CLOSED
    at_ms = events[-1].data["at"] if is_told else match.ended_ms or now_ms()
    return [SharedEvent(CLOSED, {"at": at_ms}, str(max(after, len(events) - 1, 0)))]
