"""Events for many viewers: produced by one task, encoded once, and sent to a few viewers at a time.

A viewer keeps its place among the events that all share, and nothing else: one that is slow costs no memory.
"""

import asyncio
import json
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, Protocol

from server.clock import now_ms

N_AT_ONCE: Final = 20
"""How many viewers are sent something before everything else has its turn, for as long as they took of the core."""
MAX_PAUSE_S: Final = 0.1
"""The longest of these pauses."""
NOW_MS: Final = 100
"""How long an event that tells the time may be sent as it is."""


def framed(kind: str, data: dict[str, Any], event_id: str = "", *, is_ndjson: bool = False) -> bytes:
    r"""Return an event as a server-sent one, or as a line of JSON.

    Example:
        >>> framed("step", {"step": 1}, "7")
        b'id: 7\nevent: step\ndata: {"step": 1}\n\n'
    """
    if is_ndjson:
        return (json.dumps({"event": kind, "id": event_id, "data": data}) + "\n").encode()
    id_line = f"id: {event_id}\n" if event_id else ""
    return f"{id_line}event: {kind}\ndata: {json.dumps(data)}\n\n".encode()


class SharedEvent:
    """An event of *kind* for many viewers; where it *tells_now*, its data has the time at which it is sent as `now`."""

    __slots__ = ("_encoded", "_tells_now", "data", "event_id", "kind")

    def __init__(self, kind: str, data: dict[str, Any], event_id: str = "", *, tells_now: bool = False) -> None:
        self.kind, self.data, self.event_id = kind, data, event_id
        self._tells_now = tells_now
        self._encoded: dict[bool, tuple[int, bytes]] = {}

    def encoded(self, *, is_ndjson: bool) -> bytes:
        """Return the event as it is sent, the same bytes for all viewers."""
        at_ms = now_ms() if self._tells_now else 0
        known = self._encoded.get(is_ndjson)
        if known is None or at_ms - known[0] > NOW_MS:
            data = self.data | {"now": at_ms} if self._tells_now else self.data
            known = self._encoded[is_ndjson] = at_ms, framed(self.kind, data, self.event_id, is_ndjson=is_ndjson)
        return known[1]


MAX_PIECE: Final = 32_768
"""From how many bytes on no more events are sent in one piece."""


def pieces(events: Iterable[SharedEvent], *, is_ndjson: bool) -> Iterator[bytes]:
    """Yield *events* as they are sent, short ones together."""
    held: list[bytes] = []
    size = 0
    for event in events:
        held.append(event.encoded(is_ndjson=is_ndjson))
        size += len(held[-1])
        if size >= MAX_PIECE:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield held[0] if len(held) == 1 else b"".join(held)


class Sink(Protocol):
    """Where the events of a viewer go."""

    @property
    def is_ndjson(self) -> bool:
        """Whether the events are lines of JSON."""

    def send_now(self, data: bytes) -> bool:
        """Send *data* if everything before is on its way; return whether it was sent."""


@dataclass(eq=False, slots=True)
class Member:
    """One who follows: the events up to `place` were sent. Only one who waits may be sent something by the producer.

    *brought* is what the producer may need of it.
    """

    place: int
    sink: Sink | None = None
    brought: object = None
    is_waiting: bool = False
    fresh: asyncio.Event = field(default_factory=asyncio.Event)

    async def wait(self) -> None:
        """Wait until there is something new that was not sent already, or the end."""
        self.is_waiting = True
        try:
            await self.fresh.wait()
        finally:
            self.is_waiting = False


class Audience:
    """Those who follow the same thing; *produce* runs in a task for them as long as there are any.

    Attributes:
        is_over: whether *produce* has ended.
        error: what it raised, which all get.
    """

    def __init__(self, produce: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._produce = produce
        self._members: dict[Member, None] = {}
        self._task: asyncio.Task[None] | None = None
        self.is_over = False
        self.error: Exception | None = None

    @property
    def members(self) -> Sequence[Member]:
        """Those who follow now, the first who came first."""
        return tuple(self._members)

    @contextmanager
    def joined(self, place: int, sink: Sink | None = None, brought: object = None) -> Iterator[Member]:
        """Follow while the block runs, from behind *place* on."""
        member = Member(place, sink, brought)
        self._members[member] = None
        if self._task is None:
            self.is_over, self.error = False, None
            self._task = asyncio.create_task(self._run())
        try:
            yield member
        finally:
            del self._members[member]
            if not self._members and self._task is not None:
                self._task.cancel()
                self._task = None

    async def send(self, events: Sequence[SharedEvent], first: int, last: int) -> None:
        """Send *events*, those behind place *first* up to *last*, to all who have the others; wake those who do not.

        It is done a few at a time, since a step of a match takes many turns of the loop. One who has not taken yet what
        was sent before is woken, and goes on by itself.
        """
        data: dict[bool, bytes] = {}
        waiting = iter(self.members)
        while some := tuple(islice(waiting, N_AT_ONCE)):
            started_s = time.thread_time()
            for member in some:
                if not (member.place == first and self._is_sent(events, member, data)):
                    member.fresh.set()
                else:
                    member.place = last
            await asyncio.sleep(0)
            if len(some) == N_AT_ONCE:
                await asyncio.sleep(min(MAX_PAUSE_S, time.thread_time() - started_s))

    def _is_sent(self, events: Sequence[SharedEvent], member: Member, data: dict[bool, bytes]) -> bool:
        """Send *events* to a member that waits and can take them; they are joined in *data* once for all."""
        if not events or member.sink is None or not member.is_waiting or member.fresh.is_set():
            return False
        is_ndjson = member.sink.is_ndjson
        if is_ndjson not in data:
            data[is_ndjson] = b"".join(pieces(events, is_ndjson=is_ndjson))
        return member.sink.send_now(data[is_ndjson])

    async def _run(self) -> None:
        try:
            await self._produce()
        except Exception as error:  # whatever it is, it is each viewer's
            self.error = error
        self.is_over, self._task = True, None
        for member in self.members:
            member.fresh.set()

    def check(self) -> None:
        """Raise what *produce* raised, if it did."""
        if self.error is not None:
            raise self.error
