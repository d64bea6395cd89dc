"""The arrays of an environment and the threads that fill them: copies, the one that all begin as, room, and bytes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels.lanes import N_LANES
from gdl.compiler.kernels.packing import n_words
from gdl.compiler.kernels.words import ONES, rows
from players.environments.kernels import arrays
from players.environments.kernels.plans import Copies, Initial, StepRoom
from players.environments.numbering import Numbering


def copies_for(numbering: Numbering, n: int) -> Copies:
    """Return *n* copies, of which none is begun."""
    n_players, n_state = len(numbering.players), n_words(len(numbering.game.fluents))
    n_memory = numbering.memory_words and numbering.memory_words + max(map(n_words, map(len, numbering.percepts)))
    return Copies(
        states=np.zeros((n, n_state), np.uint64),
        legal=np.zeros((n, numbering.group_words[-1]), np.uint64),
        phase=np.zeros(n, np.int32),
        mover=np.zeros(n, np.int32),
        is_chance=np.zeros(n, np.int32),
        is_over=np.zeros(n, np.bool_),
        ended=np.zeros(n, np.bool_),
        rewards=np.zeros((n, n_players), np.float32),
        goals=np.full((n, n_players), -1, np.int32),
        memory=np.zeros((n * n_players, 2 * n_memory), np.uint64),
    )


def initial_for(numbering: Numbering) -> Initial:
    """Return the copy that all begin as, of which what the state allows is not found yet."""
    one = copies_for(numbering, 1)
    one.states[0] = numbering.initial
    bits = np.unpackbits(numbering.initial.view(np.uint8), bitorder="little")
    one.phase[0] = numbering.phase_of(bits)
    return Initial(one.states, one.legal, one.phase, one.mover, one.is_chance)


def room_for(numbering: Numbering, n: int) -> StepRoom:
    """Return room for a thread that takes *n* copies further."""
    tables, n_players = numbering.tables, len(numbering.players)
    values = rows(tables.n_rows)
    values[0] = ONES
    return StepRoom(
        values=values,
        columns=rows(sum(numbering.group_sizes)),
        extra=rows(max(n_players + 6, *(len(percepts) + 1 for percepts in numbering.percepts))),
        next=rows(tables.n_fluents + 1),
        numbers=np.zeros(N_LANES, np.int32),
        active=np.zeros(n, np.int32),
        order=np.zeros(n, np.int32),
        again=np.zeros(n, np.int32),
        moved=np.zeros(N_LANES * (n_players + 1), np.int32),
        starts=np.zeros(2 * len(numbering.known) + 1, np.int32),
        square=rows(8),
    )


def copied(copies: Copies) -> Copies:
    """Return the same copies in arrays of their own."""
    fields: dict[str, Any] = {name: field.copy() for name, field in copies._asdict().items()}
    return Copies(**fields)


RangeWork: TypeAlias = Callable[[int, int], Any]


class Ranges:
    """Divides *n* copies into ranges, one for each of *n_threads* threads, which work on them at once."""

    def __init__(self, n: int, n_threads: int) -> None:
        limits = [n * i // n_threads for i in range(n_threads + 1)]
        self.parts = list(pairwise(limits))
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None

    @property
    def has_threads(self) -> bool:
        """Whether there is more than the caller's thread."""
        return self._pool is not None

    def run(self, work: RangeWork) -> list[Any]:
        """Return what *work* returns of each range, given its first number and its end."""
        if self._pool is None:
            return [work(*part) for part in self.parts]
        return [future.result() for future in [self._pool.submit(work, *part) for part in self.parts]]

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()


class Expansion:
    """Writes *n* bits of each row of *words*, from word *first* on, to the bytes of *out* from place *start* of it on.

    *out* has a row for each of *words*, of which there are the same number for each copy.
    """

    def __init__(self, words: NDArray[np.uint64], first: int, n: int, out: NDArray[np.bool_], start: int) -> None:
        self._rows_of_copy = len(words) // len(out)
        self._source = (words.ctypes.data, words.shape[1], first, n)
        self._target = (out.ctypes.data, out.size // len(words), start)

    def __call__(self, begin: int, end: int) -> None:
        """Write those of the copies begin..end."""
        rows = self._rows_of_copy
        arrays.expand(*self._source, begin * rows, end * rows, *self._target)


def narrowed(actions: NDArray[np.integer[Any]], limit: int) -> NDArray[np.int32]:
    """Return *actions* as kernels read them, in 32 bits; one that does not fit becomes -1 or *limit*, and so illegal.

    Raises:
        ValueError: they are no whole numbers.
    """
    given = np.asarray(actions)
    if given.dtype.kind not in "iu":
        raise ValueError(f"actions are whole numbers, not {given.dtype}")
    if not np.can_cast(given.dtype, np.int32):
        given = given.clip(max(-1, np.iinfo(given.dtype).min), limit)
    return np.ascontiguousarray(given, np.int32)


def address_of(array: NDArray[Any]) -> int:
    """Return where the first item of an array is."""
    found: int = array.__array_interface__["data"][0]
    return found
