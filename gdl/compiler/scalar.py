"""The kernel for single states: one byte a node, by the same tables as the lanes."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, nogil=True, boundscheck=False)
def _gates(val, t, start, end):
    for g in range(start, end):
        x = np.uint8(1)
        for j in range(t.gate_start[g], t.gate_middle[g]):
            x &= val[t.gate_input[j]]
        for j in range(t.gate_middle[g], t.gate_start[g + 1]):
            x &= ~val[t.gate_input[j]]
        val[t.gate_row[g]] = x


@numba.njit(cache=True, nogil=True, boundscheck=False)
def _evaluate(val, t, part):
    for s in range(t.parts[0, part], t.parts[0, part + 1]):
        start, end, begin, stop = t.segments[s]
        if begin == stop:
            _gates(val, t, start, end)
            continue
        for i in range(begin, stop):
            val[t.loop_row[i]] = np.uint8(0)
        changed = True
        while changed:
            _gates(val, t, start, end)
            changed = False
            for i in range(begin, stop):
                new = _value(val, t.loop_value[i])
                if new != val[t.loop_row[i]]:
                    val[t.loop_row[i]] = new
                    changed = True


@numba.njit(cache=True, nogil=True, boundscheck=False, inline="always")
def _value(val, literal):
    return val[literal >> 1] ^ np.uint8(literal & 1)


@numba.njit(cache=True, nogil=True, boundscheck=False)
def look(t, bits):
    """Return the rows of a state, which moves are legal there, and whether it is terminal."""
    val = np.zeros(t.n_rows, np.uint8)
    val[0] = np.uint8(1)
    val[1 : 1 + t.n_fluents] = bits
    _evaluate(val, t, 0)
    legal = np.empty(len(t.choice_legal), np.uint8)
    for i in range(len(legal)):
        legal[i] = _value(val, t.choice_legal[i])
    return val, legal, _value(val, t.terminal[0]) == 1


@numba.njit(cache=True, nogil=True, boundscheck=False)
def goals(t, val):
    """Return which goal literals hold in the state whose rows are *val*."""
    _evaluate(val, t, 2)
    found = np.empty(t.goal_value.shape[1], np.uint8)
    for i in range(len(found)):
        found[i] = _value(val, t.goal_value[0, i])
    return found


@numba.njit(cache=True, nogil=True, boundscheck=False)
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
