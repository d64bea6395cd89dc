"""The kernel of plays by a policy: 512 plays of one role at once, each move drawn with a weight of its own.

A policy has a logit for every move at every age; the age is how many moves were made before, the last for all later.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels.choice import bit
from gdl.compiler.kernels.graphs import Graph, GraphRoom, distance_in, follow, goal_in, list_pairs, run
from gdl.compiler.kernels.jit import kernel, subroutine
from gdl.compiler.kernels.lanes import N_LANES
from gdl.compiler.kernels.packing import load_lanes
from gdl.compiler.kernels.words import ONE, ZERO, U, W, lowest_bit
from gdl.compiler.tables import Tables

_NO_GOAL: Final = -1
_SCALE: Final = 1.0 / (1 << 53)


class Plays(NamedTuple):
    """What plays came to. *Shapes*: L = 512 lanes, T steps at most.

    `moves` (L, T); `lengths`, `goals` and `distances` (L,): the goal at the end, -1 where there is none, and how many
    conditions of the best goal do not hold there; `totals` (L,) and `playing` (W,) are for the kernel, `random` (1,)
    is its state.
    """

    moves: NDArray[np.int32]
    lengths: NDArray[np.int64]
    goals: NDArray[np.int64]
    distances: NDArray[np.int64]
    totals: NDArray[np.float64]
    playing: NDArray[np.uint64]
    random: NDArray[np.uint64]


def plays_for(max_steps: int, seed: int) -> Plays:
    """Return room for plays of at most *max_steps* steps."""
    return Plays(
        moves=np.empty((N_LANES, max_steps), np.int32),
        lengths=np.empty(N_LANES, np.int64),
        goals=np.empty(N_LANES, np.int64),
        distances=np.empty(N_LANES, np.int64),
        totals=np.empty(N_LANES, np.float64),
        playing=np.empty(W, np.uint64),
        random=np.array([seed * 2 + 1], np.uint64),
    )


def run_each(tables: Tables, graph: Graph, room: GraphRoom) -> None:
    """Run every kernel of this module once: numba loads it from its cache on disk, or compiles it."""
    plays = plays_for(1, 1)
    logits = np.zeros((1, len(tables.choice_legal)))
    state = np.zeros(graph.words.shape[1], np.uint64)
    play(tables, graph, room, plays, state, np.exp(logits))
    starts, legal = np.zeros(1, np.int64), np.empty(1, np.int32)
    options(tables, room, state, plays.moves[0, :0], starts, legal)
    adapt(logits, logits.copy(), plays.moves[0, :0], starts, legal, 1.0)


@subroutine
def _drawn(random):
    """Return a number from 0 to 1."""
    x = random[0]
    x ^= x << U(13)
    x ^= x >> U(7)
    x ^= x << U(17)
    random[0] = x
    return np.float64(x >> U(11)) * _SCALE


@subroutine
def _choose(t, values, plays, step, weights):
    """Draw a move in every lane at play, each legal one in proportion to its weight."""
    plays.totals[:] = 0.0
    for move in range(len(t.choice_legal)):
        literal = t.choice_legal[move]
        weight = weights[move]
        for w in range(W):
            x = values[literal >> 1, w]
            if literal & 1:
                x = ~x
            x &= plays.playing[w]
            while x != ZERO:
                lane = 64 * w + lowest_bit(x)
                plays.totals[lane] += weight
                if _drawn(plays.random) * plays.totals[lane] <= weight:
                    plays.moves[lane, step] = move
                x &= x - ONE


@subroutine
def _finish(t, graph, values, plays, step, is_cut):
    """Note what the plays that have ended came to; with *is_cut*, all that are at play."""
    has_ended = is_cut
    for w in range(W):
        ends = values[t.terminal[0] >> 1, w]
        if t.terminal[0] & 1:
            ends = ~ends
        has_ended |= ends & plays.playing[w] != ZERO
    if not has_ended:
        return
    run(values, t, 2)
    for lane in range(N_LANES):
        if not plays.playing[lane >> 6] >> U(lane & 63) & ONE:
            continue
        is_end = bit(values, t.terminal[0], lane)
        if is_end or is_cut:
            plays.playing[lane >> 6] ^= ONE << U(lane & 63)
            plays.lengths[lane] = step
            plays.goals[lane] = goal_in(t, graph, values, lane) if is_end else np.int64(_NO_GOAL)
            plays.distances[lane] = distance_in(graph, values, lane)


@kernel
def play(t, graph, room, plays, state, weights):
    """Play from *state* in every lane, moves drawn by *weights* (ages, M)."""
    values, n_steps = room.values, plays.moves.shape[1]
    for lane in range(N_LANES):
        room.states[lane] = state
    load_lanes(room.states, room.order, values, 1, t.n_fluents)
    plays.playing[:] = ~ZERO
    first = 1 + t.n_fluents
    for step in range(n_steps):
        run(values, t, 0)
        _finish(t, graph, values, plays, step, False)
        any_playing = False
        for w in range(W):
            any_playing |= plays.playing[w] != ZERO
        if not any_playing:
            return
        _choose(t, values, plays, step, weights[min(step, len(weights) - 1)])
        for lane in range(N_LANES):
            if plays.playing[lane >> 6] >> U(lane & 63) & ONE:
                if plays.totals[lane] > 0.0:
                    values[first + plays.moves[lane, step], lane >> 6] |= ONE << U(lane & 63)
                else:
                    plays.playing[lane >> 6] ^= ONE << U(lane & 63)
                    plays.lengths[lane], plays.goals[lane], plays.distances[lane] = step, _NO_GOAL, 0
        run(values, t, 1)
        follow(values, t, room.new)
        values[first : first + len(t.choice_legal)] = ZERO
    run(values, t, 0)
    _finish(t, graph, values, plays, n_steps, True)


@kernel
def options(t, room, state, moves, starts, legal):
    """Find the legal moves at each step of *moves* from *state*; return how many there are in all.

    Those of step i are `legal[starts[i] : starts[i + 1]]`; where *legal* is too short they are only counted.
    """
    values, n, first = room.values, 0, 1 + t.n_fluents
    room.states[0] = state
    load_lanes(room.states, room.order[:1], values, 1, t.n_fluents)
    for step in range(len(moves)):
        run(values, t, 0)
        starts[step] = n
        n_here = list_pairs(t, values, room.pairs, 1)
        for i in range(n_here):
            if n + i < len(legal):
                legal[n + i] = room.pairs[i, 1]
        n += n_here
        values[first + moves[step], 0] |= ONE
        run(values, t, 1)
        follow(values, t, room.new)
        values[first + moves[step], 0] = ZERO
    starts[len(moves)] = n
    return n


@kernel
def adapt(logits, new, moves, starts, legal, alpha):
    """Make *moves* likelier: add to the logits *new* the gradient of their likelihood under *logits*, times *alpha*."""
    for step in range(len(moves)):
        age = min(step, len(logits) - 1)
        total = 0.0
        for i in range(starts[step], starts[step + 1]):
            total += np.exp(logits[age, legal[i]])
        for i in range(starts[step], starts[step + 1]):
            new[age, legal[i]] -= alpha * np.exp(logits[age, legal[i]]) / total
        new[age, moves[step]] += alpha
