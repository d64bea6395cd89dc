"""The kernels for single states: one byte a node, by the same tables as the lanes.

The walker evaluates only the gates that a change of state touches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels.jit import inlined, kernel, subroutine
from gdl.compiler.tables import Tables
from gdl.errors import UnstableLoopError


@subroutine
def _gates(val, t, start, end):
    for g in range(start, end):
        x = np.uint8(1)
        for j in range(t.gate_start[g], t.gate_middle[g]):
            x &= val[t.gate_input[j]]
        for j in range(t.gate_middle[g], t.gate_start[g + 1]):
            x &= ~val[t.gate_input[j]]
        val[t.gate_row[g]] = x


@subroutine
def _evaluate(val, t, part):
    for s in range(t.parts[0, part], t.parts[0, part + 1]):
        start, end, begin, stop = t.segments[s]
        if begin == stop:
            _gates(val, t, start, end)
            continue
        for i in range(begin, stop):
            val[t.loop_row[i]] = np.uint8(0)
        changed = True
        n_left = stop - begin + 1
        while changed:
            if n_left == 0:
                raise UnstableLoopError
            n_left -= 1
            _gates(val, t, start, end)
            changed = False
            for i in range(begin, stop):
                new = _value(val, t.loop_value[i])
                if new != val[t.loop_row[i]]:
                    val[t.loop_row[i]] = new
                    changed = True


@inlined
def _value(val, literal):
    return val[literal >> 1] ^ np.uint8(literal & 1)


@kernel
def legal_and_terminal(t, bits):
    """Return the rows of a state, which moves are legal there, and whether it is terminal."""
    val = np.zeros(t.n_rows, np.uint8)
    val[0] = np.uint8(1)
    val[1 : 1 + t.n_fluents] = bits
    _evaluate(val, t, 0)
    legal = np.empty(len(t.choice_legal), np.uint8)
    for i in range(len(legal)):
        legal[i] = _value(val, t.choice_legal[i])
    return val, legal, _value(val, t.terminal[0]) == 1


@kernel
def goals(t, val):
    """Return which goal literals hold in the state whose rows are *val*."""
    _evaluate(val, t, 2)
    found = np.empty(t.goal_value.shape[1], np.uint8)
    for i in range(len(found)):
        found[i] = _value(val, t.goal_value[0, i])
    return found


@kernel
def step(t, val, moves):
    """Return the fluents and the percepts after the moves of those numbers, made in the state whose rows are *val*."""
    for move in moves:
        val[1 + t.n_fluents + move] = np.uint8(1)
    _evaluate(val, t, 1)
    bits = val[1 : 1 + t.n_fluents].copy()
    for i in range(len(t.copy_row)):
        bits[t.copy_row[i] - 1] = _value(val, t.copy_value[i])
    _evaluate(val, t, 3)
    sees = np.empty(t.sees_value.shape[1], np.uint8)
    for i in range(len(sees)):
        sees[i] = _value(val, t.sees_value[0, i])
    for move in moves:
        val[1 + t.n_fluents + move] = np.uint8(0)
    return bits, sees


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

    def legal_and_terminal(self, packed: bytes) -> tuple[Ints, bool]:
        """Return the numbers of the legal moves of all roles, ascending, and whether the state is terminal."""
        state = np.frombuffer(packed, np.uint8)
        found = _legal_and_terminal(self._plan, self._values, self._false_inputs, self._queue, state, self._legal)
        return self._legal[: found >> 1].copy(), bool(found & 1)

    def step(self, packed: bytes, moves: Sequence[int]) -> bytes:
        """Return the state after *moves*, one legal move of each role."""
        state = np.frombuffer(packed, np.uint8)
        numbers = np.array(moves, np.int32)
        _step(self._plan, self._values, self._false_inputs, self._queue, state, numbers, self._next)
        return self._next.tobytes()

    def next_and_legal(self, packed: bytes, moves: Sequence[int]) -> tuple[bytes, Ints, bool]:
        """Return the state after *moves*, its legal moves, and whether it is terminal, in one call."""
        numbers = np.array(moves, np.int32)
        found = _next_and_legal(
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


@kernel
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


@subroutine
def _propagate(plan, values, false_inputs, queue, n_waiting):
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


@subroutine
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
    _propagate(plan, values, false_inputs, queue, n_waiting)


@kernel
def _legal_and_terminal(plan, values, false_inputs, queue, packed, legal):
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


@kernel
def _step(plan, values, false_inputs, queue, packed, moves, following):
    """Write the packed state after *moves*."""
    _go_to(plan, values, false_inputs, queue, packed)
    now, first = values[0], 1 + plan[_N_FLUENTS]
    for i in range(len(moves)):
        now[first + moves[i]] = 1
        queue[i] = first + moves[i]
    _propagate(plan, values, false_inputs, queue, len(moves))
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
    _propagate(plan, values, false_inputs, queue, len(moves))


@kernel
def _next_and_legal(plan, values, false_inputs, queue, packed, moves, following, legal):
    _step(plan, values, false_inputs, queue, packed, moves, following)
    return _legal_and_terminal(plan, values, false_inputs, queue, following, legal)
