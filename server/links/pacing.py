"""How much of what players send is read at a time: the first reads at once, then each connection in its turn.

Reading is work of the event loop, which all matches share. A reply that comes in a few reads is never held up; players
that go on sending share one slice of reading for each short pause, however many they are.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Final
from weakref import WeakKeyDictionary

N_FREE_READS: Final = 8
PAUSE_S: Final = 0.002

CallLater = Callable[[float, Callable[[], None]], Any]


class Turns:
    """The connections of an event loop that wait for their next slice: one reads after each pause, the first first.

    *call_later* is the event loop's.
    """

    def __init__(self, call_later: CallLater) -> None:
        self._call_later = call_later
        self._waiting: deque[asyncio.ReadTransport] = deque()

    def pause(self, transport: asyncio.ReadTransport) -> None:
        """Let *transport* read nothing until its turn comes."""
        transport.pause_reading()
        self._waiting.append(transport)
        if len(self._waiting) == 1:
            self._call_later(PAUSE_S, self._resume_next)

    def _resume_next(self) -> None:
        while self._waiting and self._waiting[0].is_closing():
            self._waiting.popleft()
        if self._waiting:
            self._waiting.popleft().resume_reading()
        if self._waiting:
            self._call_later(PAUSE_S, self._resume_next)


_TURNS: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, Turns]] = WeakKeyDictionary()


def turns() -> Turns:
    """Return the turns of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _TURNS:
        _TURNS[loop] = Turns(loop.call_later)
    return _TURNS[loop]


class PacedReading:
    """The reads of one connection; after `N_FREE_READS` for one message it waits for its turn before each."""

    def __init__(self, transport: asyncio.ReadTransport, turns: Turns) -> None:
        self._transport, self._turns = transport, turns
        self._n_reads = 0

    def begin(self) -> None:
        """Let the reply to a message begin."""
        self._n_reads = 0

    def note_read(self) -> None:
        """Note that something was read, and pause if that was often enough."""
        self._n_reads += 1
        if self._n_reads > N_FREE_READS and self._transport.is_reading():
            self._turns.pause(self._transport)
