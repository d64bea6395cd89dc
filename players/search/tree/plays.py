"""The third stage of a batch: random plays from the leaves, in lanes.

All plays of a call must stand at the same phase of the rules: where leaves do not, plays from them take their first
steps apart, phase by phase, until they do. Plays that look a move ahead have tables of their own. Those that are cut
before their end are worth what weights of the fluents that hold add up to.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels import lanes
from gdl.compiler.kernels.choice import Work, work_for
from gdl.compiler.kernels.jit import inlined, subroutine
from gdl.compiler.kernels.lanes import N_LANES, Lanes, Spare, Tally, lanes_for
from gdl.compiler.kernels.packing import load_lanes
from gdl.compiler.kernels.words import (
    ONE,
    ONES,
    ZERO,
    U,
    W,
    addresses,
    and_,
    and_not,
    at,
    broadcast,
    float_at,
    load,
    lowest_bit,
    or_,
    put,
    put_float,
    rows,
    store,
    word_at,
    xor,
)
from gdl.compiler.tables import CompiledRules, Tables
from players.search.tree.nodes import BOUNDS, ENDED, EVEN, LOW, SOLVED, node_at

_MAX_COPIES: Final = 16


class Goals(NamedTuple):
    """What plays came to, for kernels that want its address. *Shapes*: `goals` (R, 512), in percent, by lane."""

    goals: NDArray[np.int32]


class Weights(NamedTuple):
    """Weights, and what they add up to, likewise."""

    weights: NDArray[np.float32]
    sums: NDArray[np.float32]


class PlayRoom(NamedTuple):
    """Room for the plays of a batch. *Shapes*: F fluents, R roles.

    `values` (rows, W) are those of `lanes`; `hold` (F + 1, W); `waiting` (3, W); `start` (512,) the node of each lane,
    `walk` (512,) the walks that need plays, `n_open` (1,) in number; `goals` (R, 512) what lanes came to; `trace` has
    no steps. `weights` (F + 1,) judge plays that are cut, the last one is a constant (0: there are none, and such plays
    count as even); `sums` (512,) are for that.
    """

    lanes: Lanes
    work: Work
    tally: Tally
    hold: NDArray[np.uint64]
    waiting: NDArray[np.uint64]
    start: NDArray[np.int32]
    walk: NDArray[np.int32]
    n_open: NDArray[np.int64]
    goals: NDArray[np.int32]
    trace: NDArray[np.uint64]
    weights: NDArray[np.float32]
    sums: NDArray[np.float32]


def play_room(rules: CompiledRules, tables: Tables, seed: int, keeps_moves: bool) -> PlayRoom:
    """Return room for plays by *tables* that are drawn from *seed*, and for the moves that they make."""
    n_fluents = len(rules.fluents)
    return PlayRoom(
        lanes_for(tables.n_rows, np.zeros(N_LANES, np.int64), np.arange(N_LANES), rows(n_fluents)),
        work_for(len(tables.choice_legal), seed, tables.n_rows if keeps_moves else 0),
        lanes.tally_for(rules.goals, N_LANES),
        rows(n_fluents + 1),
        rows(3),
        np.zeros(N_LANES, np.int32),
        np.zeros(N_LANES, np.int32),
        np.zeros(1, np.int64),
        np.zeros((len(rules.goals), N_LANES), np.int32),
        lanes.NO_TRACE,
        np.zeros(0, np.float32),
        np.zeros(N_LANES, np.float32),
    )


@subroutine
def _begin_plays(room, phase):
    """Let the lanes of row 2 of `waiting`, all at a phase, play once, the others rest; return whether there is any."""
    ours, n_resting = room.lanes, np.int64(0)
    for lane in range(N_LANES):
        is_playing = np.int64((room.waiting[2, lane >> 6] >> U(lane & 63)) & ONE)
        ours.quota[lane], ours.started[lane] = is_playing, 0
        n_resting += 1 - is_playing
    for k in range(W):
        resting = ~room.waiting[2, k]
        ours.retired[0, k], ours.idle[0, k], ours.ended[0, k] = resting, resting, ZERO
    ours.clock[0], ours.clock[1], ours.clock[2] = 0, phase, n_resting
    return n_resting < N_LANES


@subroutine
def _mark_phase(a, rules, phase, waiting):
    """Note in row 2 the lanes at play, those of row 1, that stand at a phase."""
    here, n_known = load(waiting, U(1)), len(rules.known)
    for i in range(n_known):
        value = broadcast(rules.known_value[phase * n_known + i])
        here = and_not(here, xor(load(a, U(1 + rules.known[i])), value))
    store(waiting, U(2), here)


@subroutine
def _enter_phase(a, rules, phase, going):
    """Give the fluents that tell the phase their values in the lanes that come to it: tables of phases do not."""
    n_known = len(rules.known)
    for i in range(n_known):
        row = U(1 + rules.known[i])
        entered = and_(broadcast(rules.known_value[phase * n_known + i]), going)
        store(a, row, or_(and_not(load(a, row), going), entered))


@subroutine
def _lead_home(phased, rules, room):
    """Let the lanes at play take random steps until they stand at the first phase, or their play is over.

    Returns whether a role has no legal move. Row 1 of `waiting` has the lanes at play; in row 2 those at the first
    phase are left.
    """
    a, hold, n_fluents = addresses(room.lanes).values, addresses(Spare(room.hold)).rows, phased.n_fluents
    one_step = np.int64(1)  # a literal would have the kernel compiled once more
    for phase in range(1, rules.n_phases):
        _mark_phase(a, rules, phase, room.waiting)
        if not _begin_plays(room, phase):
            continue
        for f in range(n_fluents):
            store(hold, U(f), load(a, U(1 + f)))
        if lanes.play(phased, room.lanes, room.work, one_step, room.tally, room.trace) == lanes.STUCK:
            return True
        going = load(room.waiting, U(2))
        for f in range(n_fluents):
            moved, held = and_(load(a, U(1 + f)), going), and_not(load(hold, U(f)), going)
            store(a, U(1 + f), or_(moved, held))
        _enter_phase(a, rules, (phase + 1) % rules.n_phases, going)
        ended = and_(load(room.lanes.retired, ZERO), going)
        store(room.waiting, U(1), and_not(load(room.waiting, U(1)), ended))
    _mark_phase(a, rules, np.int64(0), room.waiting)
    return False


@inlined
def copies_of(n_open):
    """Return how many plays each of so many walks has."""
    return min(N_LANES // n_open, _MAX_COPIES)


@subroutine
def _place(t, f, w, n, room):
    """Give the walks that need plays lanes, the same number each; return how many walks that are."""
    n_open = 0
    for i in range(n):
        leaf = at(w.leaf, U(i))
        if leaf == ENDED:
            continue
        node = at(w.end, U(leaf))
        if node_at(t, node, SOLVED) != 0:
            for r in range(f.n_roles):
                put(w.goals, U(i) * f.n_roles + r, node_at(t, node, BOUNDS + np.int64(r)) & LOW)
        else:
            room.walk[n_open] = i
            n_open += 1
    room.n_open[0] = n_open
    if n_open > 0:
        copies = copies_of(n_open)
        for lane in range(N_LANES):
            k = lane // copies
            room.start[lane] = at(w.end, U(at(w.leaf, U(room.walk[k if k < n_open else 0]))))
    return n_open


@inlined
def first_lanes(n_lanes, k):
    """Return word *k* of a row in which the first lanes are set."""
    n = min(max(n_lanes - 64 * k, 0), 64)
    return ONES if n == 64 else (ONE << U(n)) - ONE


@subroutine
def _begin(room, n_lanes):
    """Set the first lanes to play once, the others at rest."""
    for k in range(W):
        room.waiting[1, k] = first_lanes(n_lanes, k)
    room.tally.goal_counts[:] = 0


@subroutine
def _play_on(phased, room, max_steps):
    """Play from where the plays begin to their ends; return whether a role had no legal move."""
    return (
        _begin_plays(room, np.int64(0))
        and lanes.play(phased, room.lanes, room.work, max_steps, room.tally, room.trace) == lanes.STUCK
    )


@subroutine
def weigh(room, values, left_out, n_fluents):
    """Add up the weights of the fluents that hold in each lane of *values* (rows, W) that is not *left_out* (1, W)."""
    weights, sums = addresses(Weights(room.weights, room.sums))
    rows_of, out = addresses(Spare(values)).rows, addresses(Spare(left_out)).rows
    constant = float_at(weights, U(n_fluents))
    for lane in range(U(N_LANES)):
        put_float(sums, lane, constant)
    for f in range(U(n_fluents)):
        weight = float_at(weights, f)
        if weight == 0:
            continue
        for k in range(U(W)):
            x = word_at(rows_of, U(W) * (f + ONE) + k) & ~word_at(out, k)
            while x != ZERO:
                held = U(64) * k + U(lowest_bit(x))
                put_float(sums, held, float_at(sums, held) + weight)
                x &= x - ONE


@inlined
def weighed(f, total, r):
    """Return the goal of a role, one of two, that weights of such a *total* promise, not rounded."""
    share = np.float32(1) / (np.float32(1) + np.exp(-total))
    if r > 0:
        share = np.float32(1) - share
    low, high = at(f.low, U(r)), at(f.high, U(r))
    return np.float32(low) + share * np.float32(high - low)


@inlined
def _goal_in(f, counts, n_goals, lane, r):
    """Return what the play in a lane came to for a role, -1 where it has no goal."""
    for g in range(at(f.goal_start, U(r)), at(f.goal_start, U(r) + ONE)):
        if word_at(counts, U(lane * n_goals + g)) != ZERO:
            return at(f.goal_value, U(g))
    return np.int64(-1)


@subroutine
def _score(f, room, n_lanes):
    """Note what the plays in the first lanes came to; what is cut is worth what weights say, all else is even."""
    n_goals, n_roles, has_weights = room.tally.goal_counts.shape[1], np.int64(f.n_roles), len(room.weights) > 0
    counts, retired = addresses(room.tally).goal_counts, addresses(Spare(room.lanes.retired)).rows
    goals, sums = addresses(Goals(room.goals)).goals, addresses(Weights(room.weights, room.sums)).sums
    for r in range(n_roles):
        for lane in range(n_lanes):
            goal = _goal_in(f, counts, n_goals, lane, r)
            if goal < 0:
                goal = np.int64(EVEN)
                is_cut = word_at(retired, U(lane >> 6)) >> U(lane & 63) & ONE == ZERO
                if is_cut and has_weights:
                    goal = np.int64(weighed(f, float_at(sums, U(lane)), r) + np.float32(0.5))
            put(goals, U(N_LANES * r + lane), goal)


@subroutine
def _add_up(f, w, n_open, copies, room):
    """Give each walk the mean of the goals of its plays.

    What rounding leaves goes to the next walk: else goals that plays seldom come to would be rounded away.
    """
    _score(f, room, n_open * copies)
    goals = addresses(Goals(room.goals)).goals
    for r in range(np.int64(f.n_roles)):
        total = copies // 2
        for j in range(n_open):
            for lane in range(j * copies, (j + 1) * copies):
                total += at(goals, U(N_LANES * r + lane))
            put(w.goals, U(room.walk[j]) * f.n_roles + U(r), total // copies)
            total %= copies


@subroutine
def play_out(phased, tree, t, rules, f, w, n, room, max_steps):
    """Play at random from the leaves of the first *n* walks, and note the mean goals.

    Returns how many plays that were, or -1 where a role had no legal move. *tree* and *rules* are arrays, *t*, *f* and
    *w* addresses.
    """
    n_open = _place(t, f, w, n, room)
    if n_open == 0:
        return 0
    copies = copies_of(n_open)
    load_lanes(tree.words, room.start, room.lanes.values, 1, phased.n_fluents)
    _begin(room, n_open * copies)
    if _lead_home(phased, rules, room):
        return -1
    if _play_on(phased, room, max_steps):
        return -1
    if len(room.weights) > 0:
        weigh(room, room.lanes.values, room.lanes.retired, phased.n_fluents)
    _add_up(f, w, n_open, copies, room)
    return n_open * copies
