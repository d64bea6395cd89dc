"""How much of what players send is read at a time: the first reads at once, then each connection in its turn.

Reading is work of the event loop, which all matches share. A short reply is never held up; players that go on sending
share one slice of reading for each pause, however many they are, and with it a fortieth of the time.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Final
from weakref import WeakKeyDictionary

from server.links.http_reply import SLICE_BYTES

N_FREE_READS: Final = 16
N_FREE_BYTES: Final = 4 * 1024
PAUSE_S: Final = 0.002
PAUSE_FACTOR: Final = 39
"""How many times as long as the last slices took the loop does other things before the next one."""
_SMOOTHING: Final = 0.25
"""How much the last slice counts in the mean."""

CallLater = Callable[[float, Callable[[], None]], Any]


class Turns:
    """The connections of an event loop that wait for their next slice: one reads after each pause, the first first.

    *call_later* is the event loop's.

    Attributes:
        slice: what all connections of the loop read into; what was read must be copied before anything else is.
    """

    def __init__(self, call_later: CallLater) -> None:
        self._call_later = call_later
        self.slice = memoryview(bytearray(SLICE_BYTES))
        self._slice_s = 0.0
        self._waiting: deque[asyncio.ReadTransport] = deque()

    def pause(self, transport: asyncio.ReadTransport, slice_s: float = 0.0) -> None:
        """Let *transport*, whose last slice took *slice_s* seconds, read nothing until its turn comes."""
        self._slice_s += _SMOOTHING * (slice_s - self._slice_s)
        transport.pause_reading()
        self._waiting.append(transport)
        if len(self._waiting) == 1:
            self._call_later(self._pause_s, self._resume_next)

    @property
    def _pause_s(self) -> float:
        return max(PAUSE_S, PAUSE_FACTOR * self._slice_s)

    def _resume_next(self) -> None:
        while self._waiting and self._waiting[0].is_closing():
            self._waiting.popleft()
        if self._waiting:
            self._waiting.popleft().resume_reading()
        if self._waiting:
            self._call_later(self._pause_s, self._resume_next)


_TURNS: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, Turns]] = WeakKeyDictionary()


def turns() -> Turns:
    """Return the turns of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _TURNS:
        _TURNS[loop] = Turns(loop.call_later)
    return _TURNS[loop]


class PacedReading:
    """The reads of one connection; after the free ones for each message it waits for its turn before each."""

    def __init__(self, transport: asyncio.ReadTransport, turns: Turns) -> None:
        self._transport, self._turns = transport, turns
        self._n_reads = self._n_bytes = 0

    def begin(self) -> None:
        """Let the reply to a message begin."""
        self._n_reads = self._n_bytes = 0

    def note_read(self, n_bytes: int, slice_s: float = 0.0) -> None:
        """Note that *n_bytes* were read, which took *slice_s* seconds, and pause if that was enough for now."""
        self._n_reads += 1
        self._n_bytes += n_bytes
        is_free = self._n_reads <= N_FREE_READS and self._n_bytes <= N_FREE_BYTES
        if not is_free and self._transport.is_reading():
            self._turns.pause(self._transport, slice_s)
