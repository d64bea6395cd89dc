"""Pattern databases: how many moves at least the goal is away, as far as some variables show.

A pattern is a few variables; the distances of all their values are found by a breadth-first search backward from the
goal. Many small patterns, drawn at random, guide a search better than few large ones.
Source: Culberson and Schaeffer, "Pattern Databases", 1998; Holte and others, "Maximizing over Multiple Pattern
Databases Speeds up Heuristic Search", 2006.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from random import Random
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from players.search.planning.patterns.kernels import FAR, Databases, sweep
from players.search.planning.patterns.variables import Variables

Pattern: TypeAlias = tuple[int, ...]
"""The numbers of variables."""
Distances: TypeAlias = NDArray[np.uint8]

N_COVERS: Final = 3
"""In how many patterns a variable of the goal is, at least."""
MAX_STATES: Final = 1 << 23
"""The largest pattern, a byte a state."""
MAX_BYTES: Final = 1 << 27
"""What all patterns take together."""
FORWARD_COST: Final = 32
"""How many times as long the distances of a pattern take where moves cannot be undone."""
_MAX_COLUMNS: Final = 4_096
_SUMS_A_STEP: Final = 1_000_000
"""About how many states are looked up in a step."""


def draw_patterns(variables: Variables, random: Random, max_sums: int) -> list[Pattern]:
    """Draw patterns as large as *max_sums* allow, the number of states times moves of all together.

    A variable alone is allowed in any case.
    """
    cost = len(variables.moves) * (1 if is_reversible(variables) else FORWARD_COST)
    largest = min(MAX_STATES, max_sums // cost)
    while True:
        found = _draw(variables, random, largest)
        n_states = sum(_size(variables, pattern) for pattern in found)
        if largest <= 1 or (n_states <= MAX_BYTES and n_states * cost <= max_sums):
            return found
        largest //= 2


def is_reversible(variables: Variables) -> bool:
    """Return whether each move has no two values of a variable lead to the same one."""
    return all(_inverse(table) is not None for table in np.moveaxis(variables.transitions, 1, 0))


def _size(variables: Variables, pattern: Sequence[int]) -> int:
    return int(np.prod(variables.n_values[list(pattern)]))


def _draw(variables: Variables, random: Random, largest: int) -> list[Pattern]:
    """Draw patterns of *largest* states at most that have each variable of the goal several times.

    The variables of the goal are dealt out; where they end, the last pattern is filled up by any variables.
    """
    wanted = np.flatnonzero(variables.is_goal).tolist()
    found: dict[Pattern, None] = {}
    for _ in range(N_COVERS):
        todo = random.sample(wanted, len(wanted))
        while todo:
            n = max(1, _n_fitting(variables, todo, largest))
            pattern, todo = todo[:n], todo[n:]
            if not todo:
                others = [c for c in range(len(variables.n_values)) if c not in pattern]
                others = random.sample(others, len(others))
                pattern += others[: _n_fitting(variables, others, largest // _size(variables, pattern))]
            found[tuple(sorted(pattern))] = None
    return list(found)


def _n_fitting(variables: Variables, order: Sequence[int], largest: int) -> int:
    """Return how many variables from the first on make up a pattern of *largest* states at most."""
    n, size = 0, 1
    while n < len(order) and size * variables.n_values[order[n]] <= largest:
        size *= int(variables.n_values[order[n]])
        n += 1
    return n


def make_databases(variables: Variables, patterns: Sequence[Pattern]) -> Generator[None, None, Databases]:
    """Find the distances of *patterns* step by step."""
    ends = np.cumsum([_size(variables, pattern) for pattern in patterns])
    first = np.append(0, ends[:-1])
    distances = np.empty(ends[-1], np.uint8)
    for pattern, begin, end in zip(patterns, first, ends, strict=True):
        yield from _measure(variables, pattern, distances[begin:end])
    members = np.concatenate(patterns)
    by_variable = np.argsort(members, kind="stable")
    numbers = np.repeat(np.arange(len(patterns)), [len(pattern) for pattern in patterns])
    strides = np.concatenate([_strides(variables, pattern) for pattern in patterns])
    return Databases(
        start=np.searchsorted(members[by_variable], np.arange(len(variables.n_values) + 1)),
        patterns=numbers[by_variable],
        strides=strides[by_variable],
        first=first,
        distances=distances,
    )


def _strides(variables: Variables, pattern: Pattern) -> NDArray[np.int64]:
    """Return how far apart states are whose values of one member differ by one; the last member's are neighbours."""
    sizes = variables.n_values[list(pattern)]
    return np.append(np.cumprod(sizes[:0:-1])[::-1], 1).astype(np.int64)


def _measure(variables: Variables, pattern: Pattern, distances: Distances) -> Iterator[None]:
    """Find the *distances* of all states of a pattern, level by level.

    Where no two values lead to the same one, each level is reached backward from the one before; else all that is left
    is asked whether a move leads there.
    """
    n_moves, n_low, strides = len(variables.moves), _n_low(variables, pattern), _strides(variables, pattern)
    tables = [variables.transitions[:, c, : variables.n_values[c]] for c in pattern]
    inverse = [table for table in map(_inverse, tables) if table is not None]
    is_backward = len(inverse) == len(tables)
    tables = inverse if is_backward else tables
    high = _sums(tables[:-n_low], strides[:-n_low], n_moves)
    low = _sums(tables[-n_low:], strides[-n_low:], n_moves)
    rows = distances.reshape(len(high), len(low))
    rows[:] = np.where(_goal_states(variables, pattern), 0, FAR).reshape(rows.shape)
    n_rows = max(1, _SUMS_A_STEP // low.size)
    for distance in range(FAR - 1):
        n = 0
        for begin in range(0, len(high), n_rows):
            yield
            n += sweep(rows, high, low, begin, min(begin + n_rows, len(high)), distance, is_backward)
        if not n:
            return


def _n_low(variables: Variables, pattern: Pattern) -> int:
    """Return how many of the last members make up the columns."""
    n, size = 1, int(variables.n_values[pattern[-1]])
    while n < len(pattern) and size * variables.n_values[pattern[-n - 1]] <= _MAX_COLUMNS:
        n += 1
        size *= int(variables.n_values[pattern[-n]])
    return n


def _inverse(table: NDArray[np.int16]) -> NDArray[np.int16] | None:
    """Return the value before each move, (M, V), -1 where there is none; None where there is more than one."""
    found = np.full_like(table, -1)
    moves, values = np.nonzero(table >= 0)
    found[moves, table[moves, values]] = values
    return found if np.count_nonzero(found >= 0) == len(moves) else None


def _sums(tables: Sequence[NDArray[np.int16]], strides: NDArray[np.int64], n_moves: int) -> NDArray[np.int32]:
    """Return what members of a pattern add to the number of the state after each move, (states, M)."""
    found = np.zeros((1, n_moves), np.int64)
    for table, stride in zip(tables, strides, strict=True):
        own = np.where(table >= 0, table * stride, -1).T
        is_legal = (found[:, None] >= 0) & (own >= 0)
        found = np.where(is_legal, found[:, None] + own, -1).reshape(-1, n_moves)
    return np.ascontiguousarray(found, np.int32)


def _goal_states(variables: Variables, pattern: Pattern) -> NDArray[np.bool_]:
    """Return which states of a pattern fulfil the goal, as far as it names their variables."""
    found = np.ones(1, np.bool_)
    for variable in pattern:
        found = (found[:, None] & variables.goal[variable, : variables.n_values[variable]]).reshape(-1)
    return found
