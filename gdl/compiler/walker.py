"""One state at a time, for tree search: only the gates that a change touches are evaluated again.

A walker stands at a state. Asked about another, it flips the fluents in which they differ and lets the change run
through the circuit: each gate counts its inputs that are false, and flips when the count leaves nought or returns to
it. Neighbouring states differ in little, so this takes microseconds where the whole circuit would take hundreds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

import numba
import numpy as np
from numpy.typing import NDArray

from gdl.compiler.tables import Tables

Ints: TypeAlias = NDArray[np.int32]
Bits: TypeAlias = NDArray[np.uint8]

_HEADER: Final = 10
(_N_FLUENTS, _N_ROWS, _N_MOVES, _TERMINAL, _FAN_START, _FAN, _GATE_ROW, _LEGAL, _COPY, _N_COPIES) = range(_HEADER)


def has_loops(tables: Tables) -> bool:
    """Return whether the circuit of *tables* has loops, which no walker can follow."""
    begin, _, end = tables.parts[0, :3]
    return bool((tables.segments[begin:end, 2] != tables.segments[begin:end, 3]).any())


class Walker:
    """Answers questions about packed states; not to be shared by threads.

    *Shapes*: a packed state is the bytes of `numpy.packbits` over the fluents; moves are numbers over all roles.
    """

    def __init__(self, tables: Tables) -> None:
        if has_loops(tables):
            raise ValueError("a circuit with loops cannot be walked")
        self._plan = _plan(tables)
        n_rows = int(self._plan[_N_ROWS])
        n_gates = int(self._plan[_LEGAL] - self._plan[_GATE_ROW])
        self._values = np.zeros((2, n_rows), np.uint8)
        self._false_inputs = np.zeros(n_gates, np.int32)
        self._queue = np.zeros(n_rows + 1, np.int32)
        self._legal = np.zeros(int(self._plan[_N_MOVES]) + 1, np.int32)
        self._next = np.zeros((int(self._plan[_N_FLUENTS]) + 7) // 8, np.uint8)
        _start(self._plan, self._values, self._false_inputs, self._queue, *_inputs_of(tables))

    def look(self, packed: bytes) -> tuple[Ints, bool]:
        """Return the numbers of the legal moves of all roles, ascending, and whether the state is terminal."""
        state = np.frombuffer(packed, np.uint8)
        found = _look(self._plan, self._values, self._false_inputs, self._queue, state, self._legal)
        return self._legal[: found >> 1].copy(), bool(found & 1)

    def step(self, packed: bytes, moves: Sequence[int]) -> bytes:
        """Return the state after *moves*, one legal move of each role."""
        state = np.frombuffer(packed, np.uint8)
        numbers = np.array(moves, np.int32)
        _step(self._plan, self._values, self._false_inputs, self._queue, state, numbers, self._next)
        return self._next.tobytes()

    def visit(self, packed: bytes, moves: Sequence[int]) -> tuple[bytes, Ints, bool]:
        """Return the state after *moves*, its legal moves, and whether it is terminal: a step and a look in one."""
        numbers = np.array(moves, np.int32)
        found = _visit(
            self._plan,
            self._values,
            self._false_inputs,
            self._queue,
            np.frombuffer(packed, np.uint8),
            numbers,
            self._next,
            self._legal,
        )
        return self._next.tobytes(), self._legal[: found >> 1].copy(), bool(found & 1)


def _gate_range(tables: Tables) -> tuple[int, int]:
    begin, _, end = tables.parts[0, :3]
    if begin == end:
        return 0, 0
    return int(tables.segments[begin, 0]), int(tables.segments[end - 1, 1])


def _inputs_of(tables: Tables) -> tuple[Ints, Ints, Ints]:
    """Return where the inputs of the gates that are walked begin, where the complemented ones do, and their rows."""
    first, last = _gate_range(tables)
    return tables.gate_start[first : last + 1], tables.gate_middle[first:last], tables.gate_input


def _plan(tables: Tables) -> Ints:
    """Return all that the kernels read as one array: passing many arrays costs more than a small state does."""
    first, last = _gate_range(tables)
    starts, middles, inputs = _inputs_of(tables)
    used = inputs[starts[0] : starts[-1]] if last > first else inputs[:0]
    gate = np.repeat(np.arange(last - first), np.diff(starts)) if last > first else np.zeros(0, np.int64)
    is_complement = np.arange(len(used)) + (starts[0] if last > first else 0) >= middles[gate]
    order = np.argsort(used, kind="stable")
    fan = (2 * gate + is_complement)[order]
    fan_start = np.searchsorted(used[order], np.arange(tables.n_rows + 1))
    copies = np.stack([tables.copy_row, tables.copy_value]).T.ravel()
    parts: list[NDArray[np.integer]] = [fan_start, fan, tables.gate_row[first:last], tables.choice_legal, copies]
    offsets = _HEADER + np.cumsum([0, *(len(part) for part in parts)])
    header = [
        tables.n_fluents,
        tables.n_rows,
        len(tables.choice_legal),
        tables.terminal[0],
        *offsets[:5],
        len(tables.copy_row),
    ]
    return np.concatenate([header, *parts]).astype(np.int32)


@numba.njit(cache=True, nogil=True, boundscheck=False)
def _start(plan, values, false_inputs, queue, starts, middles, inputs):
    """Give all gates their values and counts in the state without facts."""
    now, seen = values[0], values[1]
    now[0] = seen[0] = 1
    gate_row = plan[plan[_GATE_ROW] : plan[_LEGAL]]
    for g in range(len(gate_row)):
        n_false = 0
        for j in range(starts[g], middles[g]):
            n_false += 1 - now[inputs[j]]
        for j in range(middles[g], starts[g + 1]):
            n_false += now[inputs[j]]
        false_inputs[g] = n_false
        now[gate_row[g]] = seen[gate_row[g]] = n_false == 0
    queue[0] = 0


@numba.njit(cache=True, nogil=True, boundscheck=False)
def _settle(plan, values, false_inputs, queue, n_waiting):
    """Let the changes of the rows in the queue run through the circuit.

    A row waits in the queue once; by the time that its turn comes it may have changed back.
    """
    now, seen = values[0], values[1]
    fan_start, fan, gate_row = plan[_FAN_START], plan[_FAN], plan[_GATE_ROW]
    size = len(queue)
    head, tail = 0, n_waiting
    while head != tail:
        row = queue[head]
        head = head + 1 if head + 1 < size else 0
        value = now[row] & 1
        now[row] = value
        if value == seen[row]:
            continue
        seen[row] = value
        for j in range(fan + plan[fan_start + row], fan + plan[fan_start + row + 1]):
            g = plan[j] >> 1
            before = false_inputs[g]
            after = before - 1 if value ^ (plan[j] & 1) else before + 1
            false_inputs[g] = after
            if (before == 0) != (after == 0):
                target = plan[gate_row + g]
                if now[target] < 2:
                    queue[tail] = target
                    tail = tail + 1 if tail + 1 < size else 0
                now[target] = 2 + (after == 0)


@numba.njit(cache=True, nogil=True, boundscheck=False)
def _go_to(plan, values, false_inputs, queue, packed):
    """Stand at the state *packed*."""
    now = values[0]
    n_waiting = 0
    for i in range(plan[_N_FLUENTS]):
        bit = (packed[i >> 3] >> (7 - (i & 7))) & 1
        if bit != now[1 + i]:
            now[1 + i] = bit
            queue[n_waiting] = 1 + i
            n_waiting += 1
    _settle(plan, values, false_inputs, queue, n_waiting)


@numba.njit(cache=True, nogil=True, boundscheck=False)
def _look(plan, values, false_inputs, queue, packed, legal):
    """Write the numbers of the legal moves; return twice how many, plus one where the state is terminal."""
    _go_to(plan, values, false_inputs, queue, packed)
    now = values[0]
    n_legal = 0
    for i in range(plan[_N_MOVES]):
        literal = plan[plan[_LEGAL] + i]
        legal[n_legal] = i
        n_legal += now[literal >> 1] ^ (literal & 1)
    end = plan[_TERMINAL]
    return 2 * n_legal + (now[end >> 1] ^ (end & 1))


@numba.njit(cache=True, nogil=True, boundscheck=False)
def _step(plan, values, false_inputs, queue, packed, moves, following):
    """Write the packed state after *moves*."""
    _go_to(plan, values, false_inputs, queue, packed)
    now, first = values[0], 1 + plan[_N_FLUENTS]
    for i in range(len(moves)):
        now[first + moves[i]] = 1
        queue[i] = first + moves[i]
    _settle(plan, values, false_inputs, queue, len(moves))
    for i in range(len(packed)):
        following[i] = packed[i]
    copy = plan[_COPY]
    for i in range(plan[_N_COPIES]):
        fluent, literal = plan[copy + 2 * i] - 1, plan[copy + 2 * i + 1]
        bit = np.uint8(1 << (7 - (fluent & 7)))
        if now[literal >> 1] ^ (literal & 1):
            following[fluent >> 3] |= bit
        else:
            following[fluent >> 3] &= ~bit
    for i in range(len(moves)):
        now[first + moves[i]] = 0
        queue[i] = first + moves[i]
    _settle(plan, values, false_inputs, queue, len(moves))


@numba.njit(cache=True, nogil=True, boundscheck=False)
def _visit(plan, values, false_inputs, queue, packed, moves, following, legal):
    _step(plan, values, false_inputs, queue, packed, moves, following)
    return _look(plan, values, false_inputs, queue, following, legal)
