"""The kernel: 512 plays at once, one bit each, by walking the tables of a circuit.

A row is eight words: a node's value in every play. Nothing here is compiled for a game: the kernel is compiled once
and kept on disk. It holds no lock, so threads scale.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from gdl.compiler.words import (
    W,
    any_bit,
    both,
    but_not,
    differing,
    either,
    left,
    load,
    plus,
    right,
    spread,
    store,
)

N_LANES: Final = 64 * W

DONE: Final = 0
STUCK: Final = 1
PAUSED: Final = 2

_U = np.uint64
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_ONES = ~np.uint64(0)
_COUNTER_BITS: Final = 20
_DRAWN_BITS: Final = 32


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


class Tally(NamedTuple):
    """What plays came to, per group.

    *Shapes*: `goal_counts` (groups, goals): how many plays ended with that goal as the only one of its role;
    `lengths` (groups, 4): plays, the sum of their lengths, the sum of squares, the longest. `goal_start` (roles + 1,)
    limits each role's goals.
    """

    goal_counts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    goal_start: NDArray[np.int32]


class Work(NamedTuple):
    """Room for the choice of moves: vertical counters, drawn numbers, moves legal anywhere; and random state.

    *Shapes*: `count` and `drawn` (bits, W), least significant first; `live` (moves,); `random` (4, W).
    """

    counter: NDArray[np.uint64]
    drawn: NDArray[np.uint64]
    live: NDArray[np.uint32]
    random: NDArray[np.uint64]


def rows(n_rows: int) -> NDArray[np.uint64]:
    """Return rows of nought, none of them across two cache lines."""
    room = np.zeros((n_rows + 1) * W, np.uint64)
    skipped = -room.ctypes.data % 64 // 8
    return room[skipped : skipped + n_rows * W].reshape(n_rows, W)


def lanes_for(
    n_rows: int, quota: NDArray[np.int64], group: NDArray[np.int64], start: NDArray[np.uint64], first_phase: int = 0
) -> Lanes:
    """Return lanes of which each is to play its quota from its start, none of them under way."""
    ended, idle, retired = (np.zeros((1, W), np.uint64) for _ in range(3))
    idle[:] = _ONES
    resting = quota == 0
    retired[0] = np.packbits(resting, bitorder="little").view(np.uint64)
    values = rows(n_rows)
    values[0] = _ONES
    clock = np.array([0, first_phase, resting.sum()], np.int64)
    return Lanes(quota.copy(), np.zeros(N_LANES, np.int64), group, start, values, ended, idle, retired, clock)


def work_for(n_moves: int, seed: int) -> Work:
    """Return room for choices among *n_moves* moves, drawn by generators that start from *seed*."""
    random = np.random.default_rng(seed).integers(1, 2**64 - 1, (4, W), dtype=np.uint64)
    return Work(rows(_COUNTER_BITS), rows(_COUNTER_BITS), np.zeros(n_moves + 1, np.uint32), random)


@numba.njit(cache=True, nogil=True, boundscheck=False, inline="always")
def _literal(val, x):
    return differing(load(val, _U(x) >> _ONE), spread(_ZERO - (_U(x) & _ONE)))


@numba.njit(cache=True, nogil=True, boundscheck=False, inline="always")
def _gates(val, t, start, end):
    for g in range(_U(start), _U(end)):
        begin, middle, stop = _U(t.gate_start[g]), _U(t.gate_middle[g]), _U(t.gate_start[g + _ONE])
        x = spread(_ONES)
        for j in range(begin, middle):
            x = both(x, load(val, _U(t.gate_input[j])))
        for j in range(middle, stop):
            x = but_not(x, load(val, _U(t.gate_input[j])))
        store(val, _U(t.gate_row[g]), x)


@numba.njit(cache=True, nogil=True, boundscheck=False, inline="always")
def _loop(val, t, start, end, first, last):
    for i in range(first, last):
        store(val, _U(t.loop_row[i]), spread(_ZERO))
    changed = True
    while changed:
        _gates(val, t, start, end)
        difference = spread(_ZERO)
        for i in range(first, last):
            new = _literal(val, t.loop_value[i])
            difference = either(difference, differing(new, load(val, _U(t.loop_row[i]))))
            store(val, _U(t.loop_row[i]), new)
        changed = any_bit(difference)


@numba.njit(cache=True, nogil=True, boundscheck=False, inline="always")
def _evaluate(val, t, phase, part):
    """Give the rows of the gates in a part of a phase their values."""
    for s in range(t.parts[phase, part], t.parts[phase, part + 1]):
        if t.segments[s, 2] == t.segments[s, 3]:
            _gates(val, t, t.segments[s, 0], t.segments[s, 1])
        else:
            _loop(val, t, t.segments[s, 0], t.segments[s, 1], t.segments[s, 2], t.segments[s, 3])


@numba.njit(cache=True, nogil=True, boundscheck=False, inline="always")
def _count_legal(val, t, begin, end, work):
    """Count the legal moves of every lane in vertical counters; list the moves that are legal anywhere."""
    n_live = top = 0
    for i in range(begin, end):
        carry = _literal(val, t.choice_legal[i])
        if not any_bit(carry):
            store(val, _U(t.choice_row[i]), spread(_ZERO))
            continue
        work.live[n_live] = i
        n_live += 1
        c = 0
        while c < top and any_bit(carry):
            sum_ = load(work.counter, _U(c))
            store(work.counter, _U(c), differing(sum_, carry))
            carry = both(sum_, carry)
            c += 1
        if c == top and any_bit(carry):
            store(work.counter, _U(c), carry)
            top += 1
    return n_live, top


@numba.njit(cache=True, nogil=True, boundscheck=False, inline="always")
def _random_bits(random):
    """Return 512 random bits.

    Source: Blackman and Vigna 2018, xoshiro256+, eight generators side by side.
    """
    s0, s1, s2, s3 = load(random, _U(0)), load(random, _U(1)), load(random, _U(2)), load(random, _U(3))
    found = plus(s0, s3)
    t = left(s1, 17)
    s2, s3 = differing(s2, s0), differing(s3, s1)
    s1, s0 = differing(s1, s2), differing(s0, s3)
    s2 = differing(s2, t)
    s3 = either(left(s3, 45), right(s3, 19))
    store(random, _U(0), s0)
    store(random, _U(1), s1)
    store(random, _U(2), s2)
    store(random, _U(3), s3)
    return found


@numba.njit(cache=True, nogil=True, boundscheck=False, inline="always")
def _draw(work, top):
    """Draw, in every lane, a number below its counter: the counter times a random fraction, bit by bit."""
    for c in range(top):
        store(work.drawn, _U(c), spread(_ZERO))
    for _ in range(_DRAWN_BITS):
        chosen = _random_bits(work.random)
        carry = spread(_ZERO)
        for c in range(top):
            a, b = load(work.drawn, _U(c)), both(load(work.counter, _U(c)), chosen)
            half = differing(a, b)
            if c:
                store(work.drawn, _U(c - 1), differing(half, carry))
            carry = either(both(a, b), both(half, carry))
        store(work.drawn, _U(top - 1), carry)


@numba.njit(cache=True, nogil=True, boundscheck=False, inline="always")
def _take_only(val, t, n_live, work):
    """Make the legal moves, where no lane has more than one."""
    for q in range(n_live):
        i = work.live[q]
        store(val, _U(t.choice_row[i]), _literal(val, t.choice_legal[i]))


@numba.njit(cache=True, nogil=True, boundscheck=False, inline="always")
def _take_drawn(val, t, n_live, top, work):
    """Count down through the legal moves; the one at which a lane's number would fall below nought is its move."""
    taken = spread(_ZERO)
    for q in range(n_live):
        i = work.live[q]
        borrow = but_not(_literal(val, t.choice_legal[i]), taken)
        c = 0
        while c < top and any_bit(borrow):
            digit = load(work.drawn, _U(c))
            store(work.drawn, _U(c), differing(digit, borrow))
            borrow = but_not(borrow, digit)
            c += 1
        store(val, _U(t.choice_row[i]), borrow)
        taken = either(taken, borrow)


@numba.njit(cache=True, nogil=True, boundscheck=False, inline="always")
def _choose(val, t, begin, end, idle, work):
    """Set, in every lane, one of the legal moves begin..end, each equally likely.

    Returns whether a lane that is not *idle* has no legal move.
    """
    n_live, top = _count_legal(val, t, begin, end, work)
    waiting = load(idle, _ZERO)
    some, several = spread(_ZERO), spread(_ZERO)
    for c in range(top):
        digit = load(work.counter, _U(c))
        some = either(some, digit)
        if c:
            several = either(several, digit)
    if any_bit(but_not(several, waiting)):
        _draw(work, top)
        _take_drawn(val, t, n_live, top, work)
    else:
        _take_only(val, t, n_live, work)
    return any_bit(but_not(but_not(spread(_ONES), some), waiting))


@numba.njit(cache=True, nogil=True, boundscheck=False, inline="always")
def _advance(val, t, phase, new):
    """Give the fluents their next values: first read those that others overwrite."""
    first, direct, end = t.copy_start[phase, 0], t.copy_start[phase, 1], t.copy_start[phase, 2]
    for i in range(first, direct):
        store(new, _U(i - first), _literal(val, t.copy_value[i]))
    for i in range(direct, end):
        store(val, _U(t.copy_row[i]), _literal(val, t.copy_value[i]))
    for i in range(first, direct):
        store(val, _U(t.copy_row[i]), load(new, _U(i - first)))


@numba.njit(cache=True, nogil=True, boundscheck=False)
def _popcount(x):
    x = x - ((x >> _U(1)) & _U(0x5555555555555555))
    x = (x & _U(0x3333333333333333)) + ((x >> _U(2)) & _U(0x3333333333333333))
    x = (x + (x >> _U(4))) & _U(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * _U(0x0101010101010101)) >> _U(56))


@numba.njit(cache=True, nogil=True, boundscheck=False)
def _finish(lanes, step, lengths):
    """Note that plays have ended: their lengths, and which lanes have played all that they should."""
    for k in range(W):
        x = lanes.ended[0, k]
        lanes.idle[0, k] |= x
        while x != _ZERO:
            low = x & (_ZERO - x)
            lane = k * 64 + _popcount(low - _ONE)
            length = step - lanes.started[lane]
            group = lanes.group[lane]
            lengths[group, 0] += 1
            lengths[group, 1] += length
            lengths[group, 2] += length * length
            lengths[group, 3] = max(lengths[group, 3], length)
            lanes.quota[lane] -= 1
            if lanes.quota[lane] == 0:
                lanes.retired[0, k] |= low
                lanes.clock[2] += 1
            x ^= low


@numba.njit(cache=True, nogil=True, boundscheck=False)
def _restart(lanes, new, step):
    """Begin new plays in the lanes whose play has ended, but for those that have done their share."""
    val = lanes.values
    fresh = but_not(load(lanes.idle, _ZERO), load(lanes.retired, _ZERO))
    if not any_bit(fresh):
        return
    store(new, _ZERO, fresh)
    store(lanes.idle, _ZERO, both(load(lanes.idle, _ZERO), load(lanes.retired, _ZERO)))
    for i in range(len(lanes.start)):
        begin = both(load(lanes.start, _U(i)), fresh)
        store(val, _U(i + 1), either(but_not(load(val, _U(i + 1)), fresh), begin))
    for k in range(W):
        x = new[0, k]
        while x != _ZERO:
            low = x & (_ZERO - x)
            lanes.started[k * 64 + _popcount(low - _ONE)] = step
            x ^= low


@numba.njit(cache=True, nogil=True, boundscheck=False, inline="always")
def _count_goals(val, t, phase, lanes, tally):
    """Count the goals that are their role's only one in the lanes whose play is over."""
    _evaluate(val, t, phase, 2)
    ended = load(lanes.ended, _ZERO)
    for r in range(len(tally.goal_start) - 1):
        once, twice = spread(_ZERO), spread(_ZERO)
        for g in range(tally.goal_start[r], tally.goal_start[r + 1]):
            x = _literal(val, t.goal_value[phase, g])
            twice = either(twice, both(once, x))
            once = either(once, x)
        counted = but_not(ended, twice)
        for g in range(tally.goal_start[r], tally.goal_start[r + 1]):
            x = both(_literal(val, t.goal_value[phase, g]), counted)
            if any_bit(x):
                store(lanes.ended, _ZERO, x)
                _add(lanes.ended, lanes.group, tally.goal_counts, g)
    store(lanes.ended, _ZERO, ended)


@numba.njit(cache=True, nogil=True, boundscheck=False)
def _add(bits, group, counts, g):
    """Count the lanes of *bits* in column *g*, each in its group's row."""
    if len(counts) == 1:
        for k in range(W):
            counts[0, g] += _popcount(bits[0, k])
        return
    for k in range(W):
        x = bits[0, k]
        while x != _ZERO:
            low = x & (_ZERO - x)
            counts[group[k * 64 + _popcount(low - _ONE)], g] += 1
            x ^= low


@numba.njit(cache=True, nogil=True, boundscheck=False)
def _record(trace, lanes, step):
    """Keep fluents and moves of this step; in the row of the constant, which lanes are at play."""
    if step < len(trace):
        for i in range(trace.shape[1]):
            for k in range(W):
                trace[step, i, k] = lanes.values[i, k]
        for k in range(W):
            trace[step, 0, k] = ~lanes.idle[0, k]


@numba.njit(cache=True, nogil=True, boundscheck=False)
def play(t, lanes, work, n_steps, tally, trace):
    """Go on with each lane's quota of random plays for *n_steps* steps or to their end, and add to *tally*.

    *trace* (steps, inputs, W), which may have no steps, keeps the first steps. Returns DONE, or PAUSED, or STUCK
    where a role had no legal move.
    """
    val = lanes.values
    new = np.empty((t.n_fluents + 1, W), np.uint64)
    n_phases, n_roles = len(t.parts), t.role_start.shape[1] - 1
    step, phase = lanes.clock[0], lanes.clock[1]
    first_phase = (phase - step) % n_phases
    last = step + n_steps
    while lanes.clock[2] < N_LANES:
        if step == last:
            lanes.clock[0], lanes.clock[1] = step, phase
            return PAUSED
        if phase == first_phase:
            _restart(lanes, new, step)
        _evaluate(val, t, phase, 0)
        ended = but_not(_literal(val, t.terminal[phase]), load(lanes.idle, _ZERO))
        if any_bit(ended):
            store(lanes.ended, _ZERO, ended)
            _count_goals(val, t, phase, lanes, tally)
            _finish(lanes, step, tally.lengths)
        for r in range(n_roles):
            begin, end = t.role_start[phase, r], t.role_start[phase, r + 1]
            if begin < end and _choose(val, t, begin, end, lanes.idle, work):
                return STUCK
        if step < len(trace):
            _record(trace, lanes, step)
        _evaluate(val, t, phase, 1)
        _advance(val, t, phase, new)
        step += 1
        phase = phase + 1 if phase + 1 < n_phases else 0
    lanes.clock[0], lanes.clock[1] = step, phase
    return DONE
