"""All objects are collected in quiet moments only, and after a while in any case."""

from __future__ import annotations

import gc
import weakref

import pytest

from server.operation.garbage_collection import (
    LEAST_PAUSE_S,
    MOST_NEW,
    MOST_PAUSE_S,
    QUIET,
    THRESHOLDS,
    CollectionTimes,
    collecting,
)
from tests.kit.polling import until


class Clocks:
    """A clock of the wall and one of the work of a core, and what was collected, which a test moves on."""

    def __init__(self) -> None:
        self.now_s = self.worked_s = 100.0
        self.n_objects = 1_000_000
        self.times = CollectionTimes(lambda: self.now_s, lambda: self.worked_s, lambda: self.n_objects)

    def is_due_after(self, pause_s: float, busy: float) -> bool:
        """Return whether a collection is due *pause_s* later, when a core was *busy* meanwhile."""
        self.now_s += pause_s
        self.worked_s += busy * pause_s
        return self.times.is_due()


@pytest.mark.parametrize(
    ("pause_s", "busy", "is_due"),
    [
        (LEAST_PAUSE_S - 1, 0.0, False),
        (LEAST_PAUSE_S, 0.0, True),
        (LEAST_PAUSE_S, QUIET + 0.01, False),
        (MOST_PAUSE_S - 1, 1.0, False),
        (MOST_PAUSE_S, 1.0, True),
    ],
)
def test_a_collection_waits_for_a_quiet_moment_but_not_for_ever(pause_s: float, busy: float, is_due: bool) -> None:
    assert Clocks().is_due_after(pause_s, busy) is is_due


def test_it_waits_no_longer_when_there_are_very_many_new_objects() -> None:
    clocks = Clocks()
    clocks.n_objects += MOST_NEW - 1
    found = [clocks.is_due_after(1.0, 1.0)]
    clocks.n_objects += 1
    assert [*found, clocks.is_due_after(1.0, 1.0)] == [False, True]


def test_what_counts_is_how_busy_the_process_was_since_the_last_look() -> None:
    clocks = Clocks()
    assert [clocks.is_due_after(LEAST_PAUSE_S, 1.0), clocks.is_due_after(5.0, 0.0)] == [False, True]


def test_after_a_collection_the_next_one_waits_again() -> None:
    clocks = Clocks()
    clocks.n_objects += MOST_NEW
    found = [clocks.is_due_after(LEAST_PAUSE_S, 0.0)]
    clocks.times.note_collected()
    assert [*found, clocks.is_due_after(LEAST_PAUSE_S - 1, 0.0)] == [True, False]


class Node:
    """Part of a cycle."""

    def __init__(self) -> None:
        self.itself = self


@pytest.mark.exhaustive
async def test_cycles_that_are_old_go_when_a_collection_is_due() -> None:
    thresholds, clocks = gc.get_threshold(), Clocks()
    async with collecting(clocks.times, pause_s=0.0001):
        node = Node()
        old = weakref.ref(node)
        gc.collect()
        del node
        clocks.now_s += LEAST_PAUSE_S
        await until(lambda: old() is None)
    assert gc.get_threshold() == thresholds


async def test_cycles_that_are_young_go_soon() -> None:
    async with collecting(Clocks().times, pause_s=0.001):
        young = weakref.ref(Node())
        await until(lambda: young() is None)


async def test_the_interpreter_collects_no_old_ones_by_itself() -> None:
    async with collecting(Clocks().times):
        assert gc.get_threshold() == THRESHOLDS
