"""Matches as they change, read from the database: the events of one, lists, and all at once."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import takewhile
from typing import Any, Final, Protocol, TypeAlias

from server.match.link import now_ms
from server.match.setup import MAX_FAREWELL_S, MAX_GRACE_S
from server.principal import Principal
from server.records.entries import ClosedEntry, Entry
from server.records.record import understood
from server.registry.queueing import WaitReason
from server.spectating.events import PublicJournal, broadcast_of
from server.spectating.fanout import Audience, Member, SharedEvent, Sink
from server.spectating.public import PublicClose, PublicEnd, PublicEvent, PublicQuestion
from server.spectating.public_record import MatchSource, as_broadcast, known_match
from server.spectating.viewers import end_reason, people_of, secrecy_of
from server.storage.listing import Filter
from server.storage.notifications import Notifier, something_new
from server.storage.rows import LIVE_STATUSES, MatchRow, MatchStatus, SeatRow

Listed: TypeAlias = dict[str, Any]


class LiveSource(MatchSource, Protocol):
    """The matches of a game manager, which knows what happens just now.

    Attributes:
        notifier: wakes the tasks that wait for new events.
    """

    notifier: Notifier

    @property
    def wait_reasons(self) -> Mapping[str, WaitReason]:
        """What matches of the queue wait for, by their ids."""


async def listed(source: LiveSource, matches: Sequence[MatchRow], who: Principal | None = None) -> list[Listed]:
    """Return what lists show of *matches* to *who*, in their order."""
    seats = await source.matches.seats([match.id for match in matches])
    shown = await as_broadcast(source.journals, matches)
    found = [_listed(match, seats[match.id]) | _people(match, who) for match in shown]
    return [line | _waiting(line, source.wait_reasons) for line in found]


def _waiting(line: Listed, reasons: Mapping[str, WaitReason]) -> Listed:
    """Return what a match waits for: of several things the players, who tell more than a core.

    Who plays is public of every match (`Aspect.COURSE`), and so is whom it waits for; only roles may tell the game.
    """
    reason = reasons.get(line["id"])
    if reason is None or line["status"] != MatchStatus.QUEUED:
        return {}
    return {"waitsFor": "players", "unavailable": dict(reason.players)} if reason.players else {"waitsFor": "core"}


def _people(match: MatchRow, who: Principal | None) -> Listed:
    found = {} if secrecy_of(match).hides_game else people_of(match, who)
    return {"people": dict(found)} if found else {}


def _listed(match: MatchRow, seats: Iterable[SeatRow]) -> Listed:
    """Return the line of *match* in lists, without what is not public."""
    text, secrecy = match.order["text"], secrecy_of(match)
    found: Listed = {
        "id": match.id,
        "status": match.status,
        "steps": match.n_steps,
        "errors": match.n_errors,
        "startClock": text["startClock"],
        "playClock": text["playClock"],
        "isHidden": secrecy.is_hidden,
        "created": match.created_ms,
    }
    if match.damage:
        return found | {"damage": match.damage}
    times = {
        "started": match.started_ms,
        "ended": match.ended_ms,
        "tournament": match.tournament,
        "purpose": match.purpose,
    }
    found |= {name: value for name, value in times.items() if value is not None}
    if text.get("broadcastDelay"):
        found["broadcastDelay"] = text["broadcastDelay"]
    if secrecy.hides_game:
        return found
    if reason := end_reason(match):
        found["reason"] = reason
    if match.status == MatchStatus.LOBBY:
        found["missing"] = [seat.role for seat in seats if seat.is_missing]
    found |= {"game": match.game, "players": {seat.role: seat.player for seat in seats}}
    if "from" in text:
        found["from"] = {"match": str(text["from"]["match"]), "step": int(text["from"]["step"])}
    return found if match.goals is None else found | {"result": {seat.role: seat.goal for seat in seats}}


async def page(
    source: LiveSource, wanted: Filter, before: str | None = None, limit: int = 50, who: Principal | None = None
) -> tuple[list[Listed], str | None]:
    """Return up to *limit* matches that are as *wanted*, the newest first, and the id to go on from, if there are more.

    A list of the matches of one game leaves out those whose game is not public yet.

    Raises:
        UnknownMatchError: there is no match with the id *before*.
    """
    rows = await source.matches.listed(**asdict(wanted), before=before, limit=limit + 1)
    shown = rows[:limit]
    return await listed(source, shown, who), shown[-1].id if len(rows) > limit else None


POLL_S: Final = 1.0


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
    """Return the end of a match for a viewer who was told all *events*: `closed`, and before it why none began."""
    if not events and match.status in (MatchStatus.ABORTED, MatchStatus.FAILED):
        told = [shared(event) for event in _never_begun(match)]
        return told[after + 1 :] or [SharedEvent(CLOSED, told[-1].data, str(after))]
    is_told = bool(events) and events[-1].kind == CLOSED
    at_ms = events[-1].data["at"] if is_told else match.ended_ms or now_ms()
    return [SharedEvent(CLOSED, {"at": at_ms}, str(after))]


CLOSED: Final = "closed"
MAX_EVENTS: Final = 64
"""How many events of a match are yielded at once."""
MAX_SHOWN: Final = 200
"""How many of the matches that are played, and how many that wait for people or players: the newest."""
MAX_RECENT: Final = 500
"""How many of the matches that ended since a viewer's last event are sent: the newest."""
MAX_ENDING_MS: Final = 1000 * (MAX_FAREWELL_S + round(MAX_GRACE_S) + 5)
"""How long after its last state a match may still count as played: until players have answered STOP, and it is kept."""
AGE_MS: Final = 500
"""How long all matches are looked at only once, however much happens."""


class Overview:
    """What all matches of *source* are at; *clock_ms* tells the time.

    Of each match the latest change is kept, for all viewers: one that was slow gets that, and none before it.
    """

    def __init__(self, source: LiveSource, clock_ms: Callable[[], int] = now_ms, poll_s: float = POLL_S) -> None:
        self._source, self._clock_ms, self._poll_s = source, clock_ms, poll_s
        self._live: dict[str, Listed] = {}
        self._latest: dict[str, tuple[int, SharedEvent]] = {}
        self._n_changes = self._n_looks = 0
        self._audience = Audience(self._watch)

    async def changes(self, after_ms: int | None = None) -> AsyncGenerator[tuple[int, Listed]]:
        """Yield the changes of `batches` one by one, each with its time."""
        async for events in self.batches(after_ms):
            for event in events:
                yield int(event.event_id), event.data

    async def batches(self, after_ms: int | None = None, sink: Sink | None = None) -> AsyncGenerator[list[SharedEvent]]:
        """Yield each match that waits or is played, and again whenever it has changed; it never ends.

        The id of an event is the time of the change. With *after_ms*, the time of the viewer's last event, also the
        matches that ended since, or so shortly before that the viewer may have seen them played. What changes while
        the next event is waited for may go to *sink* instead.

        Raises:
            StorageError: the database failed.
        """
        ended = [self._event(self._clock_ms(), match) for match in await self._ended_since(after_ms)]
        if ended:
            yield ended
        if not self._audience.members:
            self._n_looks = 0  # what was seen for earlier viewers is old
        with self._audience.joined(-1, sink) as member:
            while not self._n_looks:
                await self._until(member)
            member.place = self._n_changes
            found = [event for key, (_, event) in self._latest.items() if key in self._live]
            while True:
                if found:
                    yield found
                await self._until(member)
                found, member.place = self._changed_after(member.place), self._n_changes

    async def _until(self, member: Member) -> None:
        """Wait for the next look; raises what it raised."""
        await member.wait()
        member.fresh.clear()
        self._audience.check()

    def _changed_after(self, n_seen: int) -> list[SharedEvent]:
        """Return the latest change of each match of which the viewer, who has seen the first *n_seen*, lacks it."""
        lacking = takewhile(lambda change: change[0] > n_seen, reversed(self._latest.values()))
        return [event for _, event in lacking][::-1]

    async def _watch(self) -> None:
        """Look at the matches as long as anybody follows them, whenever something has happened."""
        self._live, self._latest, self._n_looks = {}, {}, 0
        with self._source.notifier.subscribed() as fresh:
            while True:
                fresh.clear()
                n_before = self._n_changes
                await self._look()
                if self._n_changes > n_before or self._n_looks == 1:
                    await self._audience.send(self._changed_after(n_before), n_before, self._n_changes)
                await something_new(fresh, self._poll_s)
                await asyncio.sleep(AGE_MS / 1000)  # changes that come together are sent together

    async def _look(self) -> None:
        at_ms, found = self._clock_ms(), {match["id"]: match for match in await self._read()}
        gone = await self._gone(found)
        for match in [*gone, *found.values()]:
            if self._live.get(match["id"]) != match:
                self._n_changes += 1
                self._latest.pop(match["id"], None)
                self._latest[match["id"]] = self._n_changes, self._event(at_ms, match)
        live = {match["id"]: match for match in gone if match["status"] in LIVE_STATUSES}
        self._live = found | live  # newer matches have pushed those out of what is read: their ends are told as well
        self._n_looks += 1
        for match_id in [key for key in self._latest if key not in self._live][:-MAX_RECENT]:
            del self._latest[match_id]

    def _event(self, at_ms: int, match: Listed) -> SharedEvent:
        return SharedEvent("match", match, str(at_ms))

    async def _read(self) -> list[Listed]:
        store = self._source.matches
        found = [await store.listed(status=status, limit=MAX_SHOWN) for status in LIVE_STATUSES]
        return await listed(self._source, [match for matches in found for match in matches])

    async def _gone(self, found: Mapping[str, Listed]) -> list[Listed]:
        """Return what became of the matches that were live and are not among those *found* any more."""
        rows = await self._source.matches.of_ids(self._live.keys() - found.keys())
        return await listed(self._source, rows)

    async def _ended_since(self, after_ms: int | None) -> list[Listed]:
        if after_ms is None:
            return []
        ended = await self._source.matches.ended_since(after_ms - MAX_ENDING_MS, MAX_RECENT)
        return await listed(self._source, ended[::-1])
