"""Lists of matches as viewers see them, and the overview of all that wait or are played, as it changes."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from itertools import takewhile
from typing import Any, Final, TypeAlias

from server.clock import now_ms
from server.match.profiles import MAX_GRACE_S
from server.match.setup import MAX_FAREWELL_S
from server.principal import Principal
from server.registry.queueing import WaitReason
from server.spectating.fanout import Audience, Member, SharedEvent, Sink
from server.spectating.public_record import LiveSource, as_broadcast
from server.spectating.stream import POLL_S
from server.spectating.viewers import end_reason, people_of, secrecy_of
from server.storage.match_queries import MatchFilter
from server.storage.notifications import something_new
from server.storage.rows import LIVE_STATUSES, MatchRow, MatchStatus, SeatRow

Listed: TypeAlias = dict[str, Any]
MAX_SHOWN: Final = 200
"""How many of the matches that are played, and how many that wait for people or players: the newest."""
MAX_RECENT: Final = 500
"""How many of the matches that ended since a viewer's last event are sent: the newest."""
MAX_ENDING_MS: Final = 1000 * (MAX_FAREWELL_S + round(MAX_GRACE_S) + 5)
"""How long after its last state a match may still count as played: until players have answered STOP, and it is kept."""
AGE_MS: Final = 500
"""How long all matches are looked at only once, however much happens."""


async def listed(source: LiveSource, matches: Sequence[MatchRow], who: Principal | None = None) -> list[Listed]:
    """Return what lists show of *matches* to *who*, in their order."""
    seats = await source.matches.seats([match.id for match in matches])
    shown = await as_broadcast(source.journals, matches)
    found = [_listed(match, seats[match.id]) | _people(match, who) for match in shown]
    return [line | _waiting(line, source.wait_reasons) for line in found]


def _waiting(line: Listed, reasons: Mapping[str, WaitReason]) -> Listed:
    """Return what a match of the queue waits for.

    Who plays is public of every match (`Aspect.COURSE`), and so is whom it waits for; only roles may tell the game.
    """
    reason = reasons.get(line["id"])
    return {} if reason is None or line["status"] != MatchStatus.QUEUED else reason.told


def _people(match: MatchRow, who: Principal | None) -> Listed:
    found = {} if secrecy_of(match).hides_game else people_of(match, who)
    return {"people": dict(found)} if found else {}


def _listed(match: MatchRow, seats: Sequence[SeatRow]) -> Listed:
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
    found |= _given(
        {
            "started": match.started_ms,
            "ended": match.ended_ms,
            "tournament": match.tournament,
            "purpose": match.purpose,
            "broadcastDelay": text.get("broadcastDelay") or None,
        }
    )
    return found if secrecy.hides_game else found | _of_game(match, seats, text.get("from"))


def _of_game(match: MatchRow, seats: Sequence[SeatRow], begun_from: Mapping[str, Any] | None) -> Listed:
    """Return what the line has beside that where the game may be known: it, its roles, and how the match ended."""
    is_open, has_ended = match.status == MatchStatus.LOBBY, match.goals is not None
    origin = None if begun_from is None else {"match": str(begun_from["match"]), "step": int(begun_from["step"])}
    return {"game": match.game, "players": {seat.role: seat.player for seat in seats}} | _given(
        {
            "reason": end_reason(match) or None,
            "missing": [seat.role for seat in seats if seat.is_missing] if is_open else None,
            "from": origin,
            "result": {seat.role: seat.goal for seat in seats} if has_ended else None,
        }
    )


def _given(values: Listed) -> Listed:
    return {name: value for name, value in values.items() if value is not None}


async def page(
    source: LiveSource, wanted: MatchFilter, before: str | None = None, limit: int = 50, who: Principal | None = None
) -> tuple[list[Listed], str | None]:
    """Return up to *limit* matches that are as *wanted*, the newest first, and the id to go on from, if there are more.

    A list of the matches of one game leaves out those whose game is not public yet.

    Raises:
        UnknownMatchError: there is no match with the id *before*.
    """
    rows = await source.matches.listed(wanted, before=before, limit=limit + 1)
    shown = rows[:limit]
    return await listed(source, shown, who), shown[-1].id if len(rows) > limit else None


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
        found = [await store.listed(MatchFilter(status), limit=MAX_SHOWN) for status in LIVE_STATUSES]
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
