"""Whose turn it is to read: counted with a clock that the test turns on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import count

from server.links.pacing import N_FREE_READS, PacedReading, Turns


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


class Loop:
    """An event loop in which floods are read whenever they may be."""

    def __init__(self, n_floods: int) -> None:
        self.later: list[Callable[[], None]] = []
        turns = Turns(lambda _, work: self.later.append(work))
        self.floods = [Flood() for _ in range(n_floods)]
        self.readings = [PacedReading(flood, turns) for flood in self.floods]

    def read(self) -> int:
        """Read once from every connection that is read, and return how many these are."""
        open_ones = [i for i, flood in enumerate(self.floods) if flood.is_reading()]
        for i in open_ones:
            self.floods[i].n_reads += 1
            self.readings[i].note_read()
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
