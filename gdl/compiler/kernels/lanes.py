"""The kernel: 512 plays at once, one bit each, by walking the tables of a circuit.

A row is eight words: a node's value in every play. Nothing here is compiled for a game: the kernel is compiled once
and kept on disk. It holds no lock, so threads scale.

*t* are the addresses of the tables, *p* those of the lanes, and *c* those of the tally: arrays that are handed on would
be counted as referred to, one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sized
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels.choice import choose, forget, literal, stuck_among
from gdl.compiler.kernels.evaluation import GOALS, MOVES, STATE, advance, evaluate
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
    hold,
    load,
    lowest_bit,
    n_bits,
    or_,
    put_word,
    rows,
    store,
    word_at,
)

N_LANES: Final = 64 * W

DONE: Final = 0
STUCK: Final = 1
PAUSED: Final = 2


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


class Size(NamedTuple):
    """How much there is of everything in the plays of a call; of roles that choose, as many as at any phase."""

    n_fluents: int
    n_phases: int
    n_choosers: int
    n_roles: int
    n_goals: int
    n_groups: int


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


@subroutine
def _finish(p, c, step):
    """Note that plays have ended: their lengths, and which lanes have played all that they should."""
    for k in range(U(W)):
        x = word_at(p.ended, k)
        put_word(p.idle, k, word_at(p.idle, k) | x)
        while x != ZERO:
            lane = U(64) * k + U(lowest_bit(x))
            _add_length(c, U(4) * word_at(p.group, lane), U(step) - word_at(p.started, lane))
            left = word_at(p.quota, lane) - ONE
            put_word(p.quota, lane, left)
            if left == ZERO:
                put_word(p.retired, k, word_at(p.retired, k) | (x & (ZERO - x)))
                put_word(p.clock, U(2), word_at(p.clock, U(2)) + ONE)
            x &= x - ONE


@inlined
def _add_length(c, row, length):
    """Add a play to the lengths of its group."""
    put_word(c.lengths, row, word_at(c.lengths, row) + ONE)
    put_word(c.lengths, row + U(1), word_at(c.lengths, row + U(1)) + length)
    put_word(c.lengths, row + U(2), word_at(c.lengths, row + U(2)) + length * length)
    put_word(c.lengths, row + U(3), max(word_at(c.lengths, row + U(3)), length))


@subroutine
def _restart(p, val, new, n_fluents, step):
    """Begin new plays in the lanes whose play has ended, but for those that have done their share."""
    fresh = and_not(load(p.idle, ZERO), load(p.retired, ZERO))
    if not any_bit(fresh):
        return
    store(new, ZERO, fresh)
    store(p.idle, ZERO, and_(load(p.idle, ZERO), load(p.retired, ZERO)))
    for i in range(n_fluents):
        begin = and_(load(p.start, U(i)), fresh)
        store(val, U(i + 1), or_(and_not(load(val, U(i + 1)), fresh), begin))
    for k in range(U(W)):
        x = word_at(new, k)
        while x != ZERO:
            put_word(p.started, U(64) * k + U(lowest_bit(x)), U(step))
            x &= x - ONE


@inlined
def _count_goals(val, t, phase, p, c, size):
    """Count the goals that are their role's only one in the lanes whose play is over."""
    evaluate(val, t, phase, GOALS)
    ended = load(p.ended, ZERO)
    for r in range(size.n_roles):
        once, twice = broadcast(ZERO), broadcast(ZERO)
        first, last = at(c.goal_start, U(r)), at(c.goal_start, U(r + 1))
        for g in range(first, last):
            x = literal(val, at(t.goal_value, U(size.n_goals * phase + g)))
            twice = or_(twice, and_(once, x))
            once = or_(once, x)
        counted = and_not(ended, twice)
        for g in range(first, last):
            x = and_(literal(val, at(t.goal_value, U(size.n_goals * phase + g))), counted)
            if any_bit(x):
                store(p.ended, ZERO, x)
                _add(p, c, size, g)
    store(p.ended, ZERO, ended)


@subroutine
def _add(p, c, size, g):
    """Count the lanes of `ended` in column *g*, each in its group's row."""
    if size.n_groups == 1:
        for k in range(U(W)):
            put_word(c.goal_counts, U(g), word_at(c.goal_counts, U(g)) + U(n_bits(word_at(p.ended, k))))
        return
    for k in range(U(W)):
        x = word_at(p.ended, k)
        while x != ZERO:
            place = word_at(p.group, U(64) * k + U(lowest_bit(x))) * U(size.n_goals) + U(g)
            put_word(c.goal_counts, place, word_at(c.goal_counts, place) + ONE)
            x &= x - ONE


@subroutine
def _is_worth_waiting(tables):
    """Return whether goals cost so much more than what plays need that ended states had better be collected."""
    n_gates = np.zeros(3, np.int64)
    for part in range(3):
        for s in range(tables.parts[0, part], tables.parts[0, part + 1]):
            n_gates[part] += tables.segments[s, 1] - tables.segments[s, 0]
    return n_gates[GOALS] > 2 * n_gates[STATE] + tables.n_fluents


@subroutine
def _exchange(val, aside, begin, n_fluents):
    """Let the states at play and those set aside change places."""
    for i in range(n_fluents):
        now = load(val, U(1 + i))
        store(val, U(1 + i), load(aside, U(begin + i)))
        store(aside, U(begin + i), now)


@subroutine
def _flush(val, t, phase, p, c, size, aside, waiting):
    """Count the goals of the plays that ended in a phase since the last time, whose last states are set aside."""
    store(p.ended, ZERO, load(waiting, U(phase)))
    store(waiting, U(phase), broadcast(ZERO))
    for again in range(2):
        _exchange(val, aside, phase * size.n_fluents, size.n_fluents)
        evaluate(val, t, phase, STATE)
        if not again:
            _count_goals(val, t, phase, p, c, size)


@subroutine
def _flush_all(val, t, p, c, size, aside, waiting):
    for phase in range(size.n_phases):
        if any_bit(load(waiting, U(phase))):
            _flush(val, t, phase, p, c, size, aside, waiting)


@subroutine
def _set_aside(val, begin, p, n_fluents, aside):
    """Keep the last states of the plays that have ended."""
    ended = load(p.ended, ZERO)
    for i in range(n_fluents):
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


@inlined
def _over(val, t, phase, size, room):
    """Return the lanes in which no play goes on, be it that a role has no legal move, where such plays end."""
    found = literal(val, at(t.terminal, U(phase)))
    if room.ends_stuck != ZERO:
        for r in range(size.n_choosers):
            place = U(phase * (size.n_choosers + 1) + r)
            begin, end = at(t.block_start, place), at(t.block_start, place + ONE)
            if begin < end:
                found = or_(found, stuck_among(val, t.block_legal, begin, end))
    return found


@kernel
def play(tables, lanes, work, n_steps, tally, trace):
    """Go on with each lane's quota of random plays for *n_steps* steps or to their end, and add to *tally*.

    *trace* (steps, inputs, W), which may have no steps, keeps the first steps. Returns DONE, or PAUSED, or STUCK
    where a role had no legal move and *work* does not have such plays end, with the goals as they stand.
    """
    t, p, c, room = addresses(tables), addresses(lanes), addresses(tally), addresses(work)
    n_groups, n_goals = tally.goal_counts.shape
    n_choosers, n_roles = tables.role_start.shape[1] - 1, len(tally.goal_start) - 1
    size = Size(tables.n_fluents, len(tables.parts), n_choosers, n_roles, n_goals, n_groups)
    is_waiting = _is_worth_waiting(tables)
    spare_rows = np.empty((size.n_fluents + 1, W), np.uint64)
    aside_rows = np.zeros((size.n_phases * size.n_fluents if is_waiting else 1, W), np.uint64)
    waiting_rows = np.zeros((size.n_phases, W), np.uint64)
    val, new = p.values, addresses(Spare(spare_rows)).rows
    aside, waiting = addresses(Spare(aside_rows)).rows, addresses(Spare(waiting_rows)).rows
    step, phase = lanes.clock[0], lanes.clock[1]
    first_phase = (phase - step) % size.n_phases
    last, ending = step + n_steps, DONE
    while word_at(p.clock, U(2)) < U(N_LANES):
        if step == last:
            ending = PAUSED
            break
        if phase == first_phase:
            _restart(p, val, new, size.n_fluents, step)
        evaluate(val, t, phase, STATE)
        ended = and_not(_over(val, t, phase, size, room), load(p.idle, ZERO))
        if any_bit(ended):
            if is_waiting:
                if any_bit(and_(ended, load(waiting, U(phase)))):
                    _flush(val, t, phase, p, c, size, aside, waiting)
                store(p.ended, ZERO, ended)
                _set_aside(val, phase * size.n_fluents, p, size.n_fluents, aside)
                store(waiting, U(phase), or_(load(waiting, U(phase)), ended))
            else:
                store(p.ended, ZERO, ended)
                _count_goals(val, t, phase, p, c, size)
            _finish(p, c, step)
        for r in range(size.n_choosers):
            place = U(phase * (size.n_choosers + 1) + r)
            begin, end = at(t.block_start, place), at(t.block_start, place + ONE)
            if begin < end and choose(val, t, begin, end, load(p.idle, ZERO), room):
                lanes.clock[0] = step
                forget(val, t, broadcast(ONES), room)  # the moves of roles that chose before
                return STUCK
        if step < len(trace):
            _record(trace, lanes, step)
        evaluate(val, t, phase, MOVES)
        advance(val, t, phase, new)
        forget(val, t, load(p.idle, ZERO), room)
        step += 1
        phase = phase + 1 if phase + 1 < size.n_phases else 0
    _flush_all(val, t, p, c, size, aside, waiting)
    lanes.clock[0], lanes.clock[1] = step, phase
    hold(spare_rows)
    hold(aside_rows)
    hold(waiting_rows)
    return ending
