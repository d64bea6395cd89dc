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
ENDLESS: Final = 2

_U = np.uint64
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_ONES = ~np.uint64(0)
_COUNTER_BITS: Final = 20
_DRAWN_BITS: Final = 32


class Lanes(NamedTuple):
    """What is known of each lane. *Shapes*: words (1, W) of one bit a lane, and counts (N_LANES,)."""

    quota: NDArray[np.int64]
    started: NDArray[np.int64]
    ended: NDArray[np.uint64]
    idle: NDArray[np.uint64]
    retired: NDArray[np.uint64]


class Work(NamedTuple):
    """Room for the choice of moves: vertical counters, drawn numbers, moves legal anywhere; and random state.

    *Shapes*: `count` and `drawn` (bits, W), least significant first; `live` (moves,); `random` (4, W).
    """

    counter: NDArray[np.uint64]
    drawn: NDArray[np.uint64]
    live: NDArray[np.uint32]
    random: NDArray[np.uint64]


def lanes_for(quota: NDArray[np.int64]) -> Lanes:
    """Return lanes of which each is to play its quota, none of them under way."""
    ended, idle, retired = (np.zeros((1, W), np.uint64) for _ in range(3))
    idle[:] = _ONES
    return Lanes(quota, np.zeros(N_LANES, np.int64), ended, idle, retired)


def work_for(n_moves: int, seed: int) -> Work:
    """Return room for choices among *n_moves* moves, drawn by generators that start from *seed*."""
    random = np.random.default_rng(seed).integers(1, 2**64 - 1, (4, W), dtype=np.uint64)
    counters = np.zeros((_COUNTER_BITS, W), np.uint64), np.zeros((_COUNTER_BITS, W), np.uint64)
    return Work(*counters, np.zeros(n_moves + 1, np.uint32), random)


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
def _finish(quota, started, ended, idle, retired, step, lengths):
    """Note that plays have ended: their lengths, and which lanes have played all that they should."""
    n_retired = 0
    for k in range(W):
        x = ended[0, k]
        idle[0, k] |= x
        while x != _ZERO:
            low = x & (_ZERO - x)
            lane = k * 64 + _popcount(low - _ONE)
            length = step - started[lane]
            lengths[0] += 1
            lengths[1] += length
            lengths[2] += length * length
            lengths[3] = max(lengths[3], length)
            quota[lane] -= 1
            if quota[lane] == 0:
                retired[0, k] |= low
                n_retired += 1
            x ^= low
    return n_retired


@numba.njit(cache=True, nogil=True, boundscheck=False)
def _restart(val, start_bits, started, new, idle, retired, step):
    """Begin new plays in the lanes whose play has ended, but for those that have done their share."""
    fresh = but_not(load(idle, _ZERO), load(retired, _ZERO))
    if not any_bit(fresh):
        return
    store(new, _ZERO, fresh)
    store(idle, _ZERO, both(load(idle, _ZERO), load(retired, _ZERO)))
    for i in range(len(start_bits)):
        row = _U(i + 1)
        now = load(val, row)
        store(val, row, either(now, fresh) if start_bits[i] else but_not(now, fresh))
    for k in range(W):
        x = new[0, k]
        while x != _ZERO:
            low = x & (_ZERO - x)
            started[k * 64 + _popcount(low - _ONE)] = step
            x ^= low


@numba.njit(cache=True, nogil=True, boundscheck=False, inline="always")
def _count_goals(val, t, phase, ended, goal_counts):
    """Count the goals that hold in the lanes whose play is over."""
    _evaluate(val, t, phase, 2)
    for g in range(t.goal_value.shape[1]):
        x = t.goal_value[phase, g]
        row, mask = x >> 1, _ZERO - _U(x & 1)
        for k in range(W):
            goal_counts[g] += _popcount((val[row, k] ^ mask) & ended[0, k])


@numba.njit(cache=True, nogil=True, boundscheck=False)
def _longest(started, idle, step):
    """Return how many steps the longest play under way has."""
    longest = 0
    for lane in range(N_LANES):
        if (idle[0, lane // 64] >> _U(lane % 64)) & _ONE == _ZERO:
            longest = max(longest, step - started[lane])
    return longest


@numba.njit(cache=True, nogil=True, boundscheck=False)
def play(t, start_bits, first_phase, lanes, work, max_steps, goal_counts, lengths):
    """Play each lane's quota of random plays, from the state *start_bits* to the end.

    Adds to `goal_counts`, per goal literal, how many plays ended with it, and to `lengths` the number of plays, the
    sum of their lengths, the sum of squares and the longest. Returns DONE, or STUCK where a role had no legal move,
    or ENDLESS where a play took more than *max_steps* steps.
    """
    val = np.zeros((t.n_rows, W), np.uint64)
    new = np.empty((t.n_fluents + 1, W), np.uint64)
    store(val, _ZERO, spread(_ONES))
    n_retired = 0
    for lane in range(N_LANES):
        if lanes.quota[lane] == 0:
            lanes.retired[0, lane // 64] |= _ONE << _U(lane % 64)
            n_retired += 1
    n_phases, n_roles = len(t.parts), t.role_start.shape[1] - 1
    step, phase = 0, first_phase
    while n_retired < N_LANES:
        if phase == first_phase:
            _restart(val, start_bits, lanes.started, new, lanes.idle, lanes.retired, step)
        _evaluate(val, t, phase, 0)
        ended = but_not(_literal(val, t.terminal[phase]), load(lanes.idle, _ZERO))
        if any_bit(ended):
            store(lanes.ended, _ZERO, ended)
            _count_goals(val, t, phase, lanes.ended, goal_counts)
            n_retired += _finish(lanes.quota, lanes.started, lanes.ended, lanes.idle, lanes.retired, step, lengths)
        for r in range(n_roles):
            begin, end = t.role_start[phase, r], t.role_start[phase, r + 1]
            if begin < end and _choose(val, t, begin, end, lanes.idle, work):
                return STUCK
        _evaluate(val, t, phase, 1)
        _advance(val, t, phase, new)
        step += 1
        phase = phase + 1 if phase + 1 < n_phases else 0
        if step & 1023 == 0 and _longest(lanes.started, lanes.idle, step) > max_steps:
            return ENDLESS
    return DONE
