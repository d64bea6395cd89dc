"""Matches as they change, read from the database: the events of one, lists, and all at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Protocol, TypeAlias

from server.match.link import now_ms
from server.records.entries import ClosedEntry, Entry
from server.records.record import understood
from server.spectating.events import PublicJournal, broadcast_of
from server.spectating.public import PublicEvent
from server.spectating.state import MatchSource, known_match
from server.storage.journals import Notifier, something_new
from server.storage.listing import Filter
from server.storage.rows import LIVE, MatchRow, MatchStatus, SeatRow
from server.visibility import Principal, people_of, secrecy_of

Listed: TypeAlias = dict[str, Any]


class LiveSource(MatchSource, Protocol):
    """The matches of a game manager, which knows what happens just now.

    Attributes:
        notifier: wakes the tasks that wait for new events.
        waiting_for_core: which matches wait for a core to think on, besides what else they may wait for.
    """

    notifier: Notifier
    waiting_for_core: frozenset[str]


async def listed(source: LiveSource, matches: Sequence[MatchRow], who: Principal | None = None) -> list[Listed]:
    """Return what lists show of *matches* to *who*, in their order."""
    seats = await source.matches.seats([match.id for match in matches])
    found = [_listed(match, seats[match.id]) | _people(match, who) for match in matches]
    for line in found:
        if line["status"] == MatchStatus.QUEUED and "players" in line and line["id"] in source.waiting_for_core:
            line["waitsFor"] = "core"
    return found


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
    rows = await source.matches.listed(**asdict(wanted), before=before, limit=limit)
    return await listed(source, rows, who), rows[-1].id if len(rows) == limit else None


POLL_S: Final = 1.0


async def feed(
    source: LiveSource, match_id: str, after: int = -1, poll_s: float = POLL_S
) -> AsyncIterator[PublicEvent]:
    """Yield the public events of a match that come after number *after*; it ends with the match.

    Raises:
        UnknownMatchError: there is no such match.
    """
    reading = _Reading(source, match_id, after + 1)
    with source.notifier.subscribed(match_id) as fresh:
        while True:
            fresh.clear()
            match = await known_match(source, match_id)
            for event in await reading.more(match):
                yield event
            if match.has_ended or reading.is_closed:
                return
            await something_new(fresh, poll_s)


async def public_events(source: LiveSource, match_id: str, after: int = -1) -> list[PublicEvent]:
    """Return the public events of a match up to now that come after number *after*; raises as `feed`."""
    match = await known_match(source, match_id)
    return await _Reading(source, match_id, after + 1).more(match)


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
        entries = broadcast_of(match, await self._source.matches.entries(self._match_id, self._next - 1))
        with understood(self._match_id):
            return self._public_of(match, entries)

    def _public_of(self, match: MatchRow, entries: Sequence[Entry]) -> list[PublicEvent]:
        """Return what spectators may know of *entries*, the next ones of the journal."""
        found = []
        if self._journal is not None and match.has_ended:
            self._journal.end()
        for number, entry in enumerate(entries, self._next):
            self._journal = self._journal or PublicJournal(entry, secrecy_of(match))
            event = PublicEvent(number, self._journal.public(entry))
            found += [event] if number >= self._first else []
            self.is_closed |= isinstance(entry, ClosedEntry)
        self._next += len(entries)
        return found


MAX_SHOWN: Final = 200
"""How many of the matches that are played, and how many that wait for people or players: the newest."""
MAX_RECENT: Final = 500
"""How many of the matches that ended since a viewer's last event are sent: the newest."""
AGE_MS: Final = 500
"""How long what was read is shown to everybody, so that many viewers cost no more than one."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What lists showed at `at_ms` of each match that waited or was played, by id."""

    at_ms: int
    matches: dict[str, Listed] = field(default_factory=dict)


class Overview:
    """What all matches of *source* are at; *clock_ms* tells the time."""

    def __init__(self, source: LiveSource, clock_ms: Callable[[], int] = now_ms) -> None:
        self._source, self._clock_ms = source, clock_ms
        self._latest = Snapshot(0)
        self._reading = asyncio.Lock()

    async def changes(self, after_ms: int | None = None, poll_s: float = POLL_S) -> AsyncIterator[tuple[int, Listed]]:
        """Yield each match that waits or is played, and again whenever it has changed, with the time of that.

        With *after_ms*, the time of the viewer's last event, also the matches that ended since. It never ends.
        """
        seen: dict[str, Listed] = {}
        with self._source.notifier.subscribed() as fresh:
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
                await asyncio.sleep(AGE_MS / 1000)  # changes that come together are sent together

    async def _current(self) -> Snapshot:
        async with self._reading:
            at_ms = self._clock_ms()
            if at_ms - self._latest.at_ms >= AGE_MS:
                self._latest = Snapshot(at_ms, {match["id"]: match for match in await self._read()})
            return self._latest

    async def _read(self) -> list[Listed]:
        store = self._source.matches
        found = [await store.listed(status=status, limit=MAX_SHOWN) for status in LIVE]
        return await listed(self._source, [match for matches in found for match in matches])

    async def _gone(self, seen: dict[str, Listed], snapshot: Snapshot) -> list[Listed]:
        """Return what became of the matches that were *seen* and are not in *snapshot* any more."""
        found = [await self._source.matches.find(match_id) for match_id in seen if match_id not in snapshot.matches]
        return await listed(self._source, [match for match in found if match is not None])

    async def _ended_since(self, after_ms: int | None) -> list[Listed]:
        if after_ms is None:
            return []
        changed = await self._source.matches.changed_since(after_ms, MAX_RECENT)
        return await listed(self._source, [match for match in reversed(changed) if match.has_ended])
