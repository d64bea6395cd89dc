"""The values of the gates of a circuit in all lanes, and of the fluents after a step.

A row is eight words: a node's value in every play. Nothing here is compiled for a game.
"""

from __future__ import annotations

from typing import Final

from gdl.compiler.kernels.choice import literal
from gdl.compiler.kernels.jit import inlined
from gdl.compiler.kernels.words import (
    ONE,
    ONES,
    ZERO,
    U,
    and_,
    and_not,
    any_bit,
    at,
    broadcast,
    load,
    or_,
    store,
    xor,
)
from gdl.errors import UnstableLoopError

STATE: Final = 0
MOVES: Final = 1
GOALS: Final = 2
PERCEPTS: Final = 3
"""The parts of the gates: for legal moves and the end, for the next fluents, for goals, for percepts."""


@inlined
def _gates(val, t, first, last, g):
    """Evaluate runs of gates from gate *g* on: where all have the same shape, the processor foresees jumps."""
    for r in range(U(first), U(last)):
        n_plain, n_complemented = at(t.runs, U(3) * r), at(t.runs, U(3) * r + ONE)
        end = U(at(t.runs, U(3) * r + U(2)))
        n_inputs = n_plain + n_complemented
        if n_inputs == 2:
            _pairs(val, t, g, end, n_plain)
        elif n_inputs == 3:
            _triples(val, t, g, end, n_plain)
        else:
            _wide(val, t, g, end, n_plain)
        g = end


@inlined
def _pairs(val, t, g, end, n_plain):
    a, b = _mask(n_plain, 0), _mask(n_plain, 1)
    j = U(at(t.gate_start, g))
    for i in range(g, end):
        store(val, U(at(t.gate_row, i)), and_(_input(val, t, j, a), _input(val, t, j + ONE, b)))
        j += U(2)


@inlined
def _triples(val, t, g, end, n_plain):
    a, b, c = _mask(n_plain, 0), _mask(n_plain, 1), _mask(n_plain, 2)
    j = U(at(t.gate_start, g))
    for i in range(g, end):
        x = and_(_input(val, t, j, a), _input(val, t, j + ONE, b))
        store(val, U(at(t.gate_row, i)), and_(x, _input(val, t, j + U(2), c)))
        j += U(3)


@inlined
def _mask(n_plain, number):
    """Return what turns an input of gates into what they need."""
    return broadcast(ONES if n_plain <= number else ZERO)


@inlined
def _input(val, t, j, mask):
    return xor(load(val, U(at(t.gate_input, j))), mask)


@inlined
def _wide(val, t, g, end, n_plain):
    for i in range(g, end):
        begin, stop = U(at(t.gate_start, i)), U(at(t.gate_start, i + ONE))
        x = broadcast(ONES)
        for j in range(begin, begin + U(n_plain)):
            x = and_(x, load(val, U(at(t.gate_input, j))))
        for j in range(begin + U(n_plain), stop):
            x = and_not(x, load(val, U(at(t.gate_input, j))))
        store(val, U(at(t.gate_row, i)), x)


@inlined
def _loop(val, t, first_run, last_run, start, first, last):
    for i in range(first, last):
        store(val, U(at(t.loop_row, U(i))), broadcast(ZERO))
    changed = True
    n_left = last - first + 1  # a pass that changes something sets a node for good, where rules are stratified
    while changed:
        if n_left == 0:
            raise UnstableLoopError
        n_left -= 1
        _gates(val, t, first_run, last_run, start)
        difference = broadcast(ZERO)
        for i in range(first, last):
            new = literal(val, at(t.loop_value, U(i)))
            difference = or_(difference, xor(new, load(val, U(at(t.loop_row, U(i))))))
            store(val, U(at(t.loop_row, U(i))), new)
        changed = any_bit(difference)


@inlined
def evaluate(val, t, phase, part):
    """Give the rows of the gates in a part of a phase their values."""
    for s in range(at(t.parts, U(5 * phase + part)), at(t.parts, U(5 * phase + part + 1))):
        start = U(at(t.segments, U(4 * s)))
        first_run, last_run = at(t.run_start, U(s)), at(t.run_start, U(s + 1))
        first, last = at(t.segments, U(4 * s + 2)), at(t.segments, U(4 * s + 3))
        if first == last:
            _gates(val, t, first_run, last_run, start)
        else:
            _loop(val, t, first_run, last_run, start, first, last)


@inlined
def advance(val, t, phase, new):
    """Give the fluents their next values: first read those that others overwrite."""
    first, direct = at(t.copy_start, U(3 * phase)), at(t.copy_start, U(3 * phase + 1))
    end = at(t.copy_start, U(3 * phase + 2))
    for i in range(first, direct):
        store(new, U(i - first), literal(val, at(t.copy_value, U(i))))
    for i in range(direct, end):
        store(val, U(at(t.copy_row, U(i))), literal(val, at(t.copy_value, U(i))))
    for i in range(first, direct):
        store(val, U(at(t.copy_row, U(i))), load(new, U(i - first)))
