"""Whose turn it is to read: counted with a clock that the test turns on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import count

from server.links.connection import N_FREE_BYTES, N_FREE_READS, PAUSE_FACTOR, PAUSE_S, PacedReading, Turns, turns
from tests.kit.polling import until


class Flood(asyncio.ReadTransport):
    """A connection on which there is always more to read."""

    def __init__(self) -> None:
        super().__init__()
        self.n_reads, self.is_paused, self.is_closed = 0, False, False

    def is_reading(self) -> bool:
        return not self.is_paused

    def pause_reading(self) -> None:
        self.is_paused = True

    def resume_reading(self) -> None:
        self.is_paused = False

    def is_closing(self) -> bool:
        return self.is_closed


class SilentFlood(Flood):
    """A connection that does not say whether it reads, as a pipe of Python 3.11.2."""

    def is_reading(self) -> bool:
        raise NotImplementedError


class Loop:
    """An event loop in which floods are read whenever they may be."""

    def __init__(self, n_floods: int) -> None:
        self.later: list[Callable[[], None]] = []
        self.pauses_s: list[float] = []
        turns = Turns(self._call_later)
        self.floods = [Flood() for _ in range(n_floods)]
        self.readings = [PacedReading(flood, turns) for flood in self.floods]

    def _call_later(self, pause_s: float, work: Callable[[], None]) -> None:
        self.pauses_s.append(pause_s)
        self.later.append(work)

    def read(self, slice_s: float = 0.0, n_bytes: int = 1) -> int:
        """Read once from every connection that is read, and return how many these are."""
        open_ones = [i for i, flood in enumerate(self.floods) if flood.is_reading()]
        for i in open_ones:
            self.floods[i].n_reads += 1
            self.readings[i].note_read(n_bytes, slice_s)
        return len(open_ones)

    def pass_pause(self) -> int:
        """Let a pause pass, and return how many timers ran."""
        due, self.later = self.later, []
        for work in due:
            work()
        return len(due)


def test_a_short_reply_is_never_paused() -> None:
    loop = Loop(20)
    assert [loop.read() for _ in range(N_FREE_READS)] == [20] * N_FREE_READS


def test_after_that_one_connection_is_read_for_each_pause_however_many_there_are() -> None:
    loop = Loop(20)
    while loop.read():
        pass
    assert [(loop.pass_pause(), loop.read()) for _ in range(100)] == [(1, 1)] * 100
    assert [flood.n_reads - N_FREE_READS - 1 for flood in loop.floods] == [5] * 20


def test_a_long_reply_is_paused_earlier() -> None:
    loop = Loop(2)
    assert [loop.read(n_bytes=N_FREE_BYTES // 2) for _ in range(4)] == [2, 2, 2, 0]


def test_slices_that_take_long_take_a_small_part_of_the_time() -> None:
    loop = Loop(3)
    while loop.read():
        pass
    for _ in range(60):
        loop.pass_pause()
        loop.read(slice_s=0.004)
    assert (loop.pauses_s[0], round(loop.pauses_s[-1], 4)) == (PAUSE_S, round(PAUSE_FACTOR * 0.004, 4))


def test_a_slice_of_which_no_time_is_told_counts_as_none() -> None:
    loop = Loop(1)
    for _ in range(N_FREE_READS + 1):
        loop.readings[0].note_read(1)
    assert loop.pauses_s == [PAUSE_S]


def test_a_connection_that_does_not_say_whether_it_reads_takes_one_turn_after_the_other() -> None:
    flood, later = SilentFlood(), list[Callable[[], None]]()
    reading = PacedReading(flood, Turns(lambda _pause_s, work: later.append(work)))
    for _ in range(N_FREE_READS + 2):  # the last one had been read before the pause
        reading.note_read(1)
    assert (flood.is_paused, len(later)) == (True, 1)
    later.pop()()
    assert (flood.is_paused, later) == (False, [])


async def test_an_event_loop_has_turns_of_its_own_and_keeps_them() -> None:
    flood = Flood()
    turns().pause(flood, 0.0)
    await until(flood.is_reading, pause_s=0)
    assert turns() is turns()


def test_a_connection_that_is_gone_takes_no_turn() -> None:
    loop = Loop(3)
    while loop.read():
        pass
    loop.floods[0].is_closed = loop.floods[1].is_closed = True
    loop.pass_pause()
    assert [flood.is_reading() for flood in loop.floods] == [False, False, True]


def test_the_next_message_begins_with_free_reads() -> None:
    loop = Loop(1)
    while loop.read():
        pass
    loop.pass_pause()
    loop.readings[0].begin()
    assert next(n for n in count() if not loop.read()) == N_FREE_READS + 1


def test_turns_end_when_no_connection_waits() -> None:
    loop = Loop(1)
    while loop.read():
        pass
    loop.pass_pause()
    assert loop.later == []
