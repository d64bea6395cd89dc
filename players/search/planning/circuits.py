"""What planners read of the circuit of a game of one role: the conditions of its best goal, and what runs by itself."""

from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.compiled import CompiledGame
from gdl.compiler.kernels import expansion, packing
from gdl.compiler.tables import Tables

Moves: TypeAlias = tuple[int, ...]
"""A plan as the numbers of its moves."""
Words: TypeAlias = NDArray[np.uint64]

_N_GAMES: Final = 2
_MAX_WAYS: Final = 32
_MAX_CONDITIONS: Final = 2_000


def best_goal_of(game: CompiledGame) -> int:
    """Return the highest goal that the rules of a game of one role know; 100 where they know none."""
    return max((goal for goal in game.rules.goals[0] if goal is not None), default=100)


def words_of(game: CompiledGame, packed: bytes) -> Words:
    """Return a packed state as the words of a graph, (K,)."""
    return packing.words_of(packed, len(game.fluents))


def has_clock(game: CompiledGame) -> bool:
    """Return whether some fluents run by themselves, whatever is moved."""
    own = clock_of(game)
    copied = np.zeros(len(own), np.bool_)
    copied[game.rules.single.copy_row - 1] = True
    return bool((own & copied).any())


@lru_cache(maxsize=_N_GAMES)
def clock_of(game: CompiledGame) -> NDArray[np.bool_]:
    """Return which fluents follow from themselves alone, step by step; those that never change are among them."""
    tables = game.rules.single
    is_moved = np.zeros(tables.n_rows, np.uint8)
    is_moved[1 + tables.n_fluents : tables.n_inputs] = 1
    is_moved[tables.loop_row] = 1
    while expansion.spread(tables, is_moved):
        pass
    found: NDArray[np.bool_] = is_moved[1 : 1 + tables.n_fluents] == 0
    return found


@lru_cache(maxsize=_N_GAMES)
def conditions_of(game: CompiledGame) -> tuple[tuple[int, ...], ...]:
    """Return the ways to the best goal, each of literals that must hold together."""
    best = best_goal_of(game)
    gates = GateInputs(game.rules.single)
    values = game.rules.single.goal_value[0].tolist()
    literals = [value for value, goal in zip(values, game.rules.goals[0], strict=True) if goal == best]
    return tuple(gates.conjuncts(way) for literal in literals for way in gates.disjuncts(literal)) or ((),)


class GateInputs:
    """The gates of tables by the rows that they give a value."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._gate_of = dict(zip(tables.gate_row.tolist(), range(len(tables.gate_row)), strict=True))

    def inputs(self, literal: int) -> list[int] | None:
        """Return the literals that must all hold for a gate's output, None where *literal* is no gate's."""
        gate = self._gate_of.get(literal >> 1)
        if gate is None:
            return None
        start, middle, end = (
            self._tables.gate_start[gate],
            self._tables.gate_middle[gate],
            self._tables.gate_start[gate + 1],
        )
        return [2 * int(row) for row in self._tables.gate_input[start:middle]] + [
            2 * int(row) + 1 for row in self._tables.gate_input[middle:end]
        ]

    def disjuncts(self, literal: int) -> list[int]:
        """Return literals of which one must hold for *literal*."""
        inputs = self.inputs(literal)
        if not literal & 1 or inputs is None or len(inputs) > _MAX_WAYS:
            return [literal]
        return [way for each in inputs for way in self.disjuncts(each ^ 1)][:_MAX_WAYS]

    def conjuncts(self, literal: int) -> tuple[int, ...]:
        """Return literals that must all hold for *literal*."""
        found: dict[int, None] = {}
        todo = [literal]
        while todo and len(found) < _MAX_CONDITIONS:
            each = todo.pop()
            inputs = None if each & 1 else self.inputs(each)
            if inputs is None:
                found[each] = None
            else:
                todo += inputs
        return tuple(found)
