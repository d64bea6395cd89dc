"""Kernels over vectors of variables: distances within a pattern, and the successors of a beam with their distances.

What they know of a game are the tables of its variables.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels.jit import inlined, kernel

FAR: Final = 255
"""The distance from which the goal is not reached."""
_NONE: Final = 1 << 40
"""No shift, of a place that is listed."""


class Databases(NamedTuple):
    """Distances to the goal in several patterns.

    *Shapes*: P patterns. Variable c is in the `patterns` from `start[c]` to `start[c + 1]`; the `strides` of the values
    of a pattern's variables, added up from `first[p]` (P,) on, lead to one of the `distances`.
    """

    start: NDArray[np.int64]
    patterns: NDArray[np.int64]
    strides: NDArray[np.int64]
    first: NDArray[np.int64]
    distances: NDArray[np.uint8]


class Touched(NamedTuple):
    """The variables that move m changes or that forbid it, `variables` from `start[m]` to `start[m + 1]`."""

    start: NDArray[np.int64]
    variables: NDArray[np.int64]


class Candidates(NamedTuple):
    """The successors of a layer, as many as `n[0]`, and the states met.

    *Shapes*: `scores` and `codes` (N,), parent * moves + move; `met` (a power of two,) hashes of states, each where it
    belongs unless another one has taken its place; `keys` (C, V) random numbers, whose exclusive or is the hash.
    """

    n: NDArray[np.int64]
    scores: NDArray[np.int64]
    codes: NDArray[np.int32]
    met: NDArray[np.uint64]
    keys: NDArray[np.uint64]


class PatternState(NamedTuple):
    """What is known of a state that is expanded, and of a successor.

    *Shapes*: P patterns. `places` (P,) of the state's distances, their `squares` (P,), and the sum of these, `score`
    (1,). `changed` (C, 2) variables and their new values; `shifts` (P,) of the places, 0 for those not `listed` (P,).
    """

    places: NDArray[np.int64]
    squares: NDArray[np.int64]
    score: NDArray[np.int64]
    changed: NDArray[np.int64]
    shifts: NDArray[np.int64]
    listed: NDArray[np.int64]


def pattern_state_for(n_patterns: int, n_variables: int) -> PatternState:
    """Return room for the expansion of a state."""
    places, squares, shifts, listed = np.zeros((4, n_patterns), np.int64)
    return PatternState(places, squares, np.zeros(1, np.int64), np.zeros((n_variables, 2), np.int64), shifts, listed)


@kernel
def sweep(distances, high, low, begin, end, distance, is_backward):
    """Find states of a pattern at *distance* + 1, in the rows from *begin* to *end*; return how many.

    *Shapes*: `distances` (H, L), a row for what the first members hold, a column for what the others do; `high` (H, M)
    and `low` (L, M) add up to the number of the state after a move, or before it where the sweep goes backward; they
    are negative where there is none.
    """
    n, n_columns, n_moves = 0, distances.shape[1], high.shape[1]
    flat = distances.reshape(-1)
    own = distance if is_backward else FAR
    for row in range(begin, end):
        for column in range(n_columns):
            if distances[row, column] != own:
                continue
            for move in range(n_moves):
                if high[row, move] < 0 or low[column, move] < 0:
                    continue
                other = high[row, move] + low[column, move]
                if is_backward:
                    if flat[other] == FAR:
                        flat[other] = distance + 1
                        n += 1
                elif flat[other] == distance:
                    distances[row, column] = distance + 1
                    n += 1
                    break
    return n


@inlined
def _begin(databases, candidates, state, work):
    """Put the places, squares and score of a state into *work*; return its hash."""
    key = np.uint64(0)
    work.places[:] = databases.first
    for c in range(len(state)):
        key ^= candidates.keys[c, state[c]]
        for i in range(databases.start[c], databases.start[c + 1]):
            work.places[databases.patterns[i]] += databases.strides[i] * state[c]
    work.score[0] = 0
    for p in range(len(databases.first)):
        distance = np.int64(databases.distances[work.places[p]])
        work.squares[p] = distance * distance
        work.score[0] += work.squares[p]
    return key


@inlined
def _score(databases, state, work, n_changed):
    """Return the score of a state after the changes in *work*, -1 where the goal cannot be reached from it."""
    n, score = 0, work.score[0]
    for k in range(n_changed):
        c = work.changed[k, 0]
        change = work.changed[k, 1] - state[c]
        for i in range(databases.start[c], databases.start[c + 1]):
            p = databases.patterns[i]
            if work.shifts[p] == 0:
                work.listed[n] = p
                n += 1
                work.shifts[p] = _NONE
            work.shifts[p] += databases.strides[i] * change
    for k in range(n):
        p = work.listed[k]
        distance = np.int64(databases.distances[work.places[p] + work.shifts[p] - _NONE])
        work.shifts[p] = 0
        if distance == FAR:
            score = -1
        elif score >= 0:
            score += distance * distance - work.squares[p]
    return score


@kernel
def expand(transitions, touched, databases, candidates, work, layer, begin, end):
    """List the successors of the states from *begin* to *end* of a layer (N, C) that were not met and are no dead ends.

    Their score is the sum of the squares of their distances to the goal. Returns whether the last one fulfils it.
    """
    n_moves, mask = transitions.shape[0], np.uint64(len(candidates.met) - 1)
    n = candidates.n[0]
    for parent in range(begin, end):
        state = layer[parent]
        own = _begin(databases, candidates, state, work)
        for move in range(n_moves):
            key, n_changed = own, 0
            for k in range(touched.start[move], touched.start[move + 1]):
                c = touched.variables[k]
                value = transitions[move, c, state[c]]
                if value < 0:
                    n_changed = 0
                    break
                if value != state[c]:
                    key ^= candidates.keys[c, state[c]] ^ candidates.keys[c, value]
                    work.changed[n_changed, 0], work.changed[n_changed, 1] = c, value
                    n_changed += 1
            if not n_changed or candidates.met[key & mask] == key:
                continue
            candidates.met[key & mask] = key
            score = _score(databases, state, work, n_changed)
            if score < 0:
                continue
            candidates.scores[n], candidates.codes[n] = score, parent * n_moves + move
            n += 1
            candidates.n[0] = n
            if score == 0:
                return True
    return False
