"""The causal graph of a circuit: which fluents decide what a fluent is next, whatever is moved.

The projection of a game onto fluents that depend on one another alone is exact: what they are next follows from them
and the move.
Source: Knoblock, "Automatically Generating Abstractions for Planning", 1994; Helmert, "The Fast Downward Planning
System", 2006.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.compiled import CompiledGame
from gdl.compiler.kernels.scalar import has_loops
from gdl.compiler.tables import Tables
from players.search.planning.circuits import GateInputs, clock_of

FluentSet: TypeAlias = int
"""Fluents as the bits of a number."""
Bits: TypeAlias = NDArray[np.bool_]

MAX_GATES: Final = 30_000
MAX_FLUENTS: Final = 2_000
"""In larger circuits the dependencies take too long to follow."""
MAX_CLOSURE: Final = 200
"""Closed sets of more fluents have too many values, as a rule."""


class CausalGraph:
    """What depends on what in a compiled game of one role.

    Attributes:
        gates: the gates by their rows.
        clock: the fluents that run by themselves, or never change.
    """

    def __init__(self, game: CompiledGame) -> None:
        self._tables = game.rules.single
        self.gates = GateInputs(self._tables)
        self.clock = set_of(clock_of(game))
        self._next = dict(zip((self._tables.copy_row - 1).tolist(), self._tables.copy_value.tolist(), strict=True))
        self._closures: dict[FluentSet, FluentSet | None] = {}

    @staticmethod
    def can_follow(tables: Tables) -> bool:
        """Return whether the circuit of *tables* is so simple that it can be followed."""
        is_small = len(tables.gate_row) <= MAX_GATES and tables.n_fluents <= MAX_FLUENTS
        return is_small and not has_loops(tables)

    @cached_property
    def _supports(self) -> list[FluentSet]:
        """The fluents that decide each row."""
        tables = self._tables
        found = [0] * tables.n_rows
        for fluent in range(tables.n_fluents):
            found[1 + fluent] = 1 << fluent
        rows, inputs, starts = tables.gate_row.tolist(), tables.gate_input.tolist(), tables.gate_start.tolist()
        for gate, row in enumerate(rows):  # a gate comes after those that it reads
            support = 0
            for i in range(starts[gate], starts[gate + 1]):
                support |= found[inputs[i]]
            found[row] = support
        return found

    def support(self, literal: int) -> FluentSet:
        """Return the fluents that decide *literal*, whatever is moved."""
        return self._supports[literal >> 1]

    def closure(self, fluents: FluentSet) -> FluentSet | None:
        """Return *fluents* and all that decide what they will be, None where those are too many."""
        if fluents not in self._closures:
            self._closures[fluents] = self._closure(fluents)
        return self._closures[fluents]

    def _closure(self, fluents: FluentSet) -> FluentSet | None:
        done, todo = 0, fluents
        while todo:
            lowest = todo & -todo
            done |= lowest
            if done.bit_count() > MAX_CLOSURE:
                return None
            fluent = lowest.bit_length() - 1
            todo |= self.support(self._next[fluent]) if fluent in self._next else 0
            todo &= ~done
        return done

    def holds(self, literal: int, states: Bits) -> Bits:
        """Return in which of *states* (N, fluents) a literal holds that no move decides."""
        values: dict[int, Bits] = {0: np.ones(len(states), np.bool_)}
        for row in self._cone(literal >> 1):
            if 0 < row <= self._tables.n_fluents:
                values[row] = states[:, row - 1]
            elif row not in values:
                inputs = self.gates.inputs(2 * row) or []
                values[row] = np.ones(len(states), np.bool_)
                for each in inputs:
                    values[row] = values[row] & (values[each >> 1] ^ bool(each & 1))
        return values[literal >> 1] ^ bool(literal & 1)

    def _cone(self, row: int) -> list[int]:
        """Return the rows that decide a row, each after those that decide it."""
        found: dict[int, None] = {}
        todo = [(row, False)]
        while todo:
            each, is_ready = todo.pop()
            if each in found:
                continue
            if is_ready:
                found[each] = None
                continue
            todo.append((each, True))
            todo += [(literal >> 1, False) for literal in self.gates.inputs(2 * each) or ()]
        return list(found)


def set_of(flags: Bits) -> FluentSet:
    """Return the fluents whose flag is set."""
    return sum(1 << fluent for fluent in np.flatnonzero(flags).tolist())


def fluents_of(fluents: FluentSet) -> list[int]:
    """Return the numbers of *fluents*, ascending."""
    return [fluent for fluent in range(fluents.bit_length()) if fluents >> fluent & 1]
