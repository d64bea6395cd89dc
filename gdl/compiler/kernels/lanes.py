"""The kernel: 512 plays at once, one bit each, by walking the tables of a circuit.

A row is eight words: a node's value in every play. Nothing here is compiled for a game: the kernel is compiled once
and kept on disk. It holds no lock, so threads scale.
"""

from __future__ import annotations

from collections.abc import Iterable, Sized
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels.choice import choose, forget, literal
from gdl.compiler.kernels.jit import inlined, kernel, subroutine
from gdl.compiler.kernels.words import (
    ONE,
    ONES,
    ZERO,
    U,
    W,
    addresses,
    and_,
    and_not,
    any_bit,
    at,
    broadcast,
    load,
    lowest_bit,
    n_bits,
    or_,
    rows,
    store,
    xor,
)
from gdl.errors import UnstableLoopError

N_LANES: Final = 64 * W

DONE: Final = 0
STUCK: Final = 1
PAUSED: Final = 2

_STATE: Final = 0
_MOVES: Final = 1
_GOALS: Final = 2


class Lanes(NamedTuple):
    """What is known of each lane. *Shapes*: words (1, W) of one bit a lane, and counts (N_LANES,).

    `start` (fluents, W) is the state in which each lane's plays begin, `group` (N_LANES,) where its results are
    counted; `values` (rows, W); `clock` (3,): steps made, the phase, and how many lanes have retired.
    """

    quota: NDArray[np.int64]
    started: NDArray[np.int64]
    group: NDArray[np.int64]
    start: NDArray[np.uint64]
    values: NDArray[np.uint64]
    ended: NDArray[np.uint64]
    idle: NDArray[np.uint64]
    retired: NDArray[np.uint64]
    clock: NDArray[np.int64]


class Spare(NamedTuple):
    """Rows for values on their way."""

    rows: NDArray[np.uint64]


class Tally(NamedTuple):
    """What plays came to, per group.

    *Shapes*: `goal_counts` (groups, goals): how many plays ended with that goal as the only one of its role;
    `lengths` (groups, 4): plays, the sum of their lengths, the sum of squares, the longest. `goal_start` (roles + 1,)
    limits each role's goals.
    """

    goal_counts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    goal_start: NDArray[np.int32]


NO_TRACE: Final = np.zeros((0, 1, W), np.uint64)
"""The trace of plays of which no step is kept."""


def tally_for(goals: Iterable[Sized], n_groups: int) -> Tally:
    """Return a tally of no plays yet, for the *goals* of each role."""
    goal_start = np.cumsum([0, *map(len, goals)]).astype(np.int32)
    return Tally(np.zeros((n_groups, goal_start[-1]), np.int64), np.zeros((n_groups, 4), np.int64), goal_start)


def lanes_for(
    n_rows: int, quota: NDArray[np.int64], group: NDArray[np.int64], start: NDArray[np.uint64], first_phase: int = 0
) -> Lanes:
    """Return lanes of which each is to play its quota from its start, none of them under way."""
    ended, idle, retired = (np.zeros((1, W), np.uint64) for _ in range(3))
    idle[:] = ONES
    resting = quota == 0
    retired[0] = np.packbits(resting, bitorder="little").view(np.uint64)
    values = rows(n_rows)
    values[0] = ONES
    clock = np.array([0, first_phase, resting.sum()], np.int64)
    return Lanes(quota.copy(), np.zeros(N_LANES, np.int64), group, start, values, ended, idle, retired, clock)


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
    n_left = last - first + 1  # a round that changes something sets a node for good, where rules are stratified
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
def _evaluate(val, t, phase, part):
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
def _advance(val, t, phase, new):
    """Give the fluents their next values: first read those that others overwrite."""
    first, direct = at(t.copy_start, U(3 * phase)), at(t.copy_start, U(3 * phase + 1))
    end = at(t.copy_start, U(3 * phase + 2))
    for i in range(first, direct):
        store(new, U(i - first), literal(val, at(t.copy_value, U(i))))
    for i in range(direct, end):
        store(val, U(at(t.copy_row, U(i))), literal(val, at(t.copy_value, U(i))))
    for i in range(first, direct):
        store(val, U(at(t.copy_row, U(i))), load(new, U(i - first)))


@subroutine
def _finish(lanes, step, lengths):
    """Note that plays have ended: their lengths, and which lanes have played all that they should."""
    for k in range(W):
        x = lanes.ended[0, k]
        lanes.idle[0, k] |= x
        while x != ZERO:
            lane = k * 64 + lowest_bit(x)
            length = step - lanes.started[lane]
            group = lanes.group[lane]
            lengths[group, 0] += 1
            lengths[group, 1] += length
            lengths[group, 2] += length * length
            lengths[group, 3] = max(lengths[group, 3], length)
            lanes.quota[lane] -= 1
            if lanes.quota[lane] == 0:
                lanes.retired[0, k] |= x & (ZERO - x)
                lanes.clock[2] += 1
            x &= x - ONE


@subroutine
def _restart(lanes, new, step):
    """Begin new plays in the lanes whose play has ended, but for those that have done their share."""
    val = lanes.values
    fresh = and_not(load(lanes.idle, ZERO), load(lanes.retired, ZERO))
    if not any_bit(fresh):
        return
    store(new, ZERO, fresh)
    store(lanes.idle, ZERO, and_(load(lanes.idle, ZERO), load(lanes.retired, ZERO)))
    for i in range(len(lanes.start)):
        begin = and_(load(lanes.start, U(i)), fresh)
        store(val, U(i + 1), or_(and_not(load(val, U(i + 1)), fresh), begin))
    for k in range(W):
        x = new[0, k]
        while x != ZERO:
            lanes.started[k * 64 + lowest_bit(x)] = step
            x &= x - ONE


@inlined
def _count_goals(val, t, phase, lanes, tally):
    """Count the goals that are their role's only one in the lanes whose play is over."""
    _evaluate(val, t, phase, _GOALS)
    ended = load(lanes.ended, ZERO)
    n_goals = tally.goal_start[len(tally.goal_start) - 1]
    for r in range(len(tally.goal_start) - 1):
        once, twice = broadcast(ZERO), broadcast(ZERO)
        for g in range(tally.goal_start[r], tally.goal_start[r + 1]):
            x = literal(val, at(t.goal_value, U(n_goals * phase + g)))
            twice = or_(twice, and_(once, x))
            once = or_(once, x)
        counted = and_not(ended, twice)
        for g in range(tally.goal_start[r], tally.goal_start[r + 1]):
            x = and_(literal(val, at(t.goal_value, U(n_goals * phase + g))), counted)
            if any_bit(x):
                store(lanes.ended, ZERO, x)
                _add(lanes.ended, lanes.group, tally.goal_counts, g)
    store(lanes.ended, ZERO, ended)


@subroutine
def _add(bits, group, counts, g):
    """Count the lanes of *bits* in column *g*, each in its group's row."""
    if len(counts) == 1:
        for k in range(W):
            counts[0, g] += n_bits(bits[0, k])
        return
    for k in range(W):
        x = bits[0, k]
        while x != ZERO:
            counts[group[k * 64 + lowest_bit(x)], g] += 1
            x &= x - ONE


@subroutine
def _is_worth_waiting(tables):
    """Return whether goals cost so much more than what plays need that ended states had better be collected."""
    n_gates = np.zeros(3, np.int64)
    for part in range(3):
        for s in range(tables.parts[0, part], tables.parts[0, part + 1]):
            n_gates[part] += tables.segments[s, 1] - tables.segments[s, 0]
    return n_gates[_GOALS] > 2 * n_gates[_STATE] + tables.n_fluents


@subroutine
def _exchange(val, aside, begin, n_fluents):
    """Let the states at play and those set aside change places."""
    for i in range(n_fluents):
        now = load(val, U(1 + i))
        store(val, U(1 + i), load(aside, U(begin + i)))
        store(aside, U(begin + i), now)


@subroutine
def _flush(val, t, phase, lanes, tally, aside, waiting):
    """Count the goals of the plays that ended in a phase since the last time, whose last states are set aside."""
    n_fluents = len(lanes.start)
    store(lanes.ended, ZERO, load(waiting, U(phase)))
    store(waiting, U(phase), broadcast(ZERO))
    for again in range(2):
        _exchange(val, aside, phase * n_fluents, n_fluents)
        _evaluate(val, t, phase, _STATE)
        if not again:
            _count_goals(val, t, phase, lanes, tally)


@subroutine
def _flush_all(val, t, n_phases, lanes, tally, aside, waiting):
    for phase in range(n_phases):
        if any_bit(load(waiting, U(phase))):
            _flush(val, t, phase, lanes, tally, aside, waiting)


@subroutine
def _set_aside(val, begin, lanes, aside):
    """Keep the last states of the plays that have ended."""
    ended = load(lanes.ended, ZERO)
    for i in range(len(lanes.start)):
        kept = and_not(load(aside, U(begin + i)), ended)
        store(aside, U(begin + i), or_(kept, and_(load(val, U(1 + i)), ended)))


@subroutine
def _record(trace, lanes, step):
    """Keep fluents and moves of this step; in the row of the constant, which lanes are at play."""
    if step < len(trace):
        for i in range(trace.shape[1]):
            for k in range(W):
                trace[step, i, k] = lanes.values[i, k]
        for k in range(W):
            trace[step, 0, k] = ~lanes.idle[0, k]


@kernel
def play(tables, lanes, work, n_steps, tally, trace):
    """Go on with each lane's quota of random plays for *n_steps* steps or to their end, and add to *tally*.

    *trace* (steps, inputs, W), which may have no steps, keeps the first steps. Returns DONE, or PAUSED, or STUCK
    where a role had no legal move.
    """
    t, room, val = addresses(tables), addresses(work), addresses(lanes).values
    spare = np.empty((tables.n_fluents + 1, W), np.uint64)
    new = addresses(Spare(spare)).rows
    is_waiting = _is_worth_waiting(tables)
    aside = np.zeros((len(tables.parts) * tables.n_fluents if is_waiting else 1, W), np.uint64)
    waiting = np.zeros((len(tables.parts), W), np.uint64)
    n_phases, n_roles = len(tables.parts), tables.role_start.shape[1] - 1
    step, phase = lanes.clock[0], lanes.clock[1]
    first_phase = (phase - step) % n_phases
    last = step + n_steps
    while lanes.clock[2] < N_LANES:
        if step == last:
            _flush_all(val, t, n_phases, lanes, tally, aside, waiting)
            lanes.clock[0], lanes.clock[1] = step, phase
            return PAUSED
        if phase == first_phase:
            _restart(lanes, spare, step)
        _evaluate(val, t, phase, _STATE)
        ended = and_not(literal(val, at(t.terminal, U(phase))), load(lanes.idle, ZERO))
        if any_bit(ended):
            if is_waiting:
                if any_bit(and_(ended, load(waiting, U(phase)))):
                    _flush(val, t, phase, lanes, tally, aside, waiting)
                store(lanes.ended, ZERO, ended)
                _set_aside(val, phase * tables.n_fluents, lanes, aside)
                store(waiting, U(phase), or_(load(waiting, U(phase)), ended))
            else:
                store(lanes.ended, ZERO, ended)
                _count_goals(val, t, phase, lanes, tally)
            _finish(lanes, step, tally.lengths)
        for r in range(n_roles):
            begin, end = tables.block_start[phase, r], tables.block_start[phase, r + 1]
            if begin < end and choose(val, t, begin, end, load(lanes.idle, ZERO), room):
                lanes.clock[0] = step
                return STUCK
        if step < len(trace):
            _record(trace, lanes, step)
        _evaluate(val, t, phase, _MOVES)
        _advance(val, t, phase, new)
        forget(val, t, load(lanes.idle, ZERO), room)
        step += 1
        phase = phase + 1 if phase + 1 < n_phases else 0
    _flush_all(val, t, n_phases, lanes, tally, aside, waiting)
    lanes.clock[0], lanes.clock[1] = step, phase
    return DONE
