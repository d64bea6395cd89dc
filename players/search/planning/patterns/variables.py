"""Finite-domain variables of a game of one role: small sets of fluents whose projection is exact, and their values.

A state is then a vector of small integers, and what follows a move is looked up in tables, variable by variable,
without the circuit. The values are those that the variable alone can take from a given state on.
Source: Bäckström and Nebel, "Complexity Results for SAS+ Planning", 1995.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.compiled import CompiledGame
from players.search.planning.circuits import conditions_of
from players.search.planning.patterns.causality import Bits, CausalGraph, FluentSet, fluents_of

MAX_VARIABLES: Final = 500
MAX_VALUES: Final = 1_000
MAX_FOLLOWING: Final = 100_000
"""How many values times moves a variable may have."""
MAX_MOVES: Final = 2_000
MAX_ENTRIES: Final = 4_000_000
"""The largest table of transitions."""
_N_LANES_A_STEP: Final = 4_096
"""About how many states are evaluated in a step."""
_FALSE: Final = 1
"""The literal of the tables that never holds."""


@dataclass(frozen=True, slots=True)
class Variables:
    """The variables that decide the goal and the legal moves; in the state that they were found from all are 0.

    *Shapes*: M moves, C variables, V values of the largest variable. `moves` (M,) are the numbers of the moves that
    change something, each effect once; `transitions` (M, C, V) the values after them, -1 where the move is illegal or
    there is no such value; `n_values` (C,); `goal` (C, V) which values fulfil the goal; `is_goal` (C,) which variables
    the goal names.
    """

    moves: NDArray[np.int64]
    transitions: NDArray[np.int16]
    n_values: NDArray[np.int64]
    goal: Bits
    is_goal: Bits


def find_variables(game: CompiledGame, packed: bytes) -> Generator[None, None, Variables | None]:
    """Find the variables of *game* from a packed state on, step by step; None where it has none that are small.

    Conditions of the goal that hang together with too many fluents are left out, but fluents must not be among them.
    """
    if not CausalGraph.can_follow(game.rules.single) or len(game.moves) > MAX_MOVES:
        return None
    graph = CausalGraph(game)
    legal = _legal_conditions(game, graph)
    goal = _goal_conditions(game, graph)
    if legal is None or not goal:
        return None
    found = _variables(legal, goal)
    if len(found) > MAX_VARIABLES:
        return None
    root = np.unpackbits(np.frombuffer(packed, np.uint8), count=len(game.fluents)).astype(np.bool_)
    for variable in found:
        variable.add(root[variable.fluents])
    for group in _disjoint(found):  # those with the most fluents first, which are the likeliest to be too large
        while any(variable.has_new for variable in group):
            yield
            _expand(game, graph, root, group)
            if not all(variable.is_small(len(game.moves)) for variable in group):
                return None
    return _joined(graph, root, found)


@dataclass(frozen=True, slots=True)
class _Condition:
    """A literal and a closed set of fluents that decides it; for a move to be legal, or else of the goal."""

    literal: int
    closure: FluentSet
    move: int = -1


def _legal_conditions(game: CompiledGame, graph: CausalGraph) -> list[_Condition] | None:
    """Return what must hold for each move but for the clock; None where a closed set of that is too large."""
    found = []
    for move, literal in enumerate(game.rules.single.choice_legal.tolist()):
        for each in graph.gates.conjuncts(literal):
            fluents = graph.support(each) & ~graph.clock
            closure = graph.closure(fluents)
            if closure is None:
                return None
            if fluents or each == _FALSE:
                found.append(_Condition(each, closure, move))
    return found


def _goal_conditions(game: CompiledGame, graph: CausalGraph) -> list[_Condition]:
    """Return what must hold for the best goal, in the way to it with the most conditions; nothing where none is fit."""
    for way in sorted(conditions_of(game), key=len, reverse=True):
        found = []
        for literal in way:
            fluents = graph.support(literal)
            closure = None if fluents & graph.clock else graph.closure(fluents)
            if closure:
                found.append(_Condition(literal, closure))
            elif fluents & ~graph.clock and graph.gates.inputs(literal & ~1) is None:
                break  # a fluent whose variable would be too large
        else:
            if found:
                return found
    return []


class _Variable:
    """A variable in the making: the values found so far, and those after each move.

    Attributes:
        fluents: the numbers of its fluents.
        legal, goal: the conditions that it decides.
        values: its values, as their fluents.
    """

    def __init__(self, fluents: list[int]) -> None:
        self.fluents = fluents
        self.legal: list[_Condition] = []
        self.goal: list[_Condition] = []
        self.values: list[Bits] = []
        self._number_of: dict[bytes, int] = {}
        self._after: list[NDArray[np.int16]] = []
        self._n_done = 0

    @property
    def has_new(self) -> bool:
        """Whether it has values whose moves were not made."""
        return self._n_done < len(self.values)

    def is_small(self, n_moves: int) -> bool:
        """Return whether it has so few values that it is of use."""
        return len(self.values) <= min(MAX_VALUES, MAX_FOLLOWING // n_moves)

    def new(self, n: int) -> list[Bits]:
        """Return up to *n* values whose moves were not made."""
        return self.values[self._n_done : self._n_done + n]

    def add(self, value: Bits) -> int:
        """Return the number of a value."""
        key = value.tobytes()
        if key not in self._number_of:
            self._number_of[key] = len(self.values)
            self.values.append(value)
        return self._number_of[key]

    def take(self, legal: Bits, following: Bits) -> None:
        """Note what follows the next new values. *Shapes*: N values, *legal* (N, M), *following* (N, M, fluents)."""
        own = np.arange(self._n_done, self._n_done + len(legal))[:, None]
        after = np.where(legal, own, -1).astype(np.int16)
        has_changed = (following != np.array(self.new(len(legal)))[:, None]).any(axis=2)
        for i, move in np.argwhere(legal & has_changed).tolist():
            after[i, move] = self.add(following[i, move])
        self._after.append(after)
        self._n_done += len(legal)

    def transitions(self) -> NDArray[np.int16]:
        """Return the number of the value after each move, (M, V)."""
        return np.concatenate(self._after).T


def _variables(legal: Sequence[_Condition], goal: Sequence[_Condition]) -> list[_Variable]:
    """Return a variable for each closed set that is no part of another one, with the conditions that it decides."""
    closures = {condition.closure for condition in (*legal, *goal) if condition.closure}
    with_fluent: dict[int, list[tuple[FluentSet, _Variable]]] = {}

    def holder(closure: FluentSet) -> _Variable | None:
        known = with_fluent.get((closure & -closure).bit_length() - 1, [])
        return next((variable for fluents, variable in known if not closure & ~fluents), None)

    found = []
    for closure in sorted(closures, key=lambda closure: (-closure.bit_count(), closure)):
        if holder(closure) is None:
            found.append(_Variable(fluents_of(closure)))
            for fluent in found[-1].fluents:
                with_fluent.setdefault(fluent, []).append((closure, found[-1]))
    for condition in (*legal, *goal):
        variable = holder(condition.closure) or found[0]  # what never holds is decided by any
        (variable.goal if condition.move < 0 else variable.legal).append(condition)
    return found


def _disjoint(variables: Sequence[_Variable]) -> list[list[_Variable]]:
    """Return groups of variables that have no fluent in common."""
    groups: list[tuple[set[int], list[_Variable]]] = []
    for variable in variables:
        for used, group in groups:
            if used.isdisjoint(variable.fluents):
                used.update(variable.fluents)
                group.append(variable)
                break
        else:
            groups.append((set(variable.fluents), [variable]))
    return [group for _, group in groups]


def _expand(game: CompiledGame, graph: CausalGraph, root: Bits, group: Sequence[_Variable]) -> None:
    """Make all moves in some new values of the variables of a group, side by side in the same states."""
    n_moves = len(game.moves)
    new = [variable.new(max(1, _N_LANES_A_STEP // n_moves)) for variable in group]
    states = np.repeat(root[None], max(map(len, new)), axis=0)
    if not len(states):
        return
    for variable, values in zip(group, new, strict=True):
        for i, value in enumerate(values):
            states[i, variable.fluents] = value
    packed = np.repeat(np.packbits(states, axis=1), n_moves, axis=0)
    after = game.batch.next(packed, np.tile(np.arange(n_moves), len(states))[:, None])
    following = np.unpackbits(after, axis=1, count=len(root)).astype(np.bool_).reshape(len(states), n_moves, -1)
    for variable, values in zip(group, new, strict=True):
        if values:
            n = len(values)
            legal = np.ones((n, n_moves), np.bool_)
            for condition in variable.legal:
                legal[:, condition.move] &= graph.holds(condition.literal, states[:n])
            variable.take(legal, following[:n, :, variable.fluents])


def _joined(graph: CausalGraph, root: Bits, variables: Sequence[_Variable]) -> Variables | None:
    """Return the tables of *variables*, None where they are too large."""
    n_values = np.array([len(variable.values) for variable in variables], np.int64)
    tables = [variable.transitions() for variable in variables]
    n_moves, width = len(tables[0]), int(n_values.max())
    if n_moves * len(variables) * width > MAX_ENTRIES:
        return None
    transitions = np.full((n_moves, len(variables), width), -1, np.int16)
    goal = np.zeros((len(variables), width), np.bool_)
    for c, variable in enumerate(variables):
        transitions[:, c, : n_values[c]] = tables[c]
        states = np.repeat(root[None], n_values[c], axis=0)
        states[:, variable.fluents] = variable.values
        goal[c, : n_values[c]] = True
        for condition in variable.goal:
            goal[c, : n_values[c]] &= graph.holds(condition.literal, states)
    moves = np.array(list(_useful(transitions)), np.int64)
    is_goal = np.array([bool(variable.goal) for variable in variables])
    return Variables(moves, transitions[moves], n_values, goal, is_goal) if len(moves) else None


def _useful(transitions: NDArray[np.int16]) -> Iterator[int]:
    """Yield the moves that may be legal and change something, the first of those that do the same."""
    own = np.arange(transitions.shape[2])
    met: set[bytes] = set()
    for move, table in enumerate(transitions):
        is_ever_legal = (table >= 0).any(axis=1).all()
        key = table.tobytes()
        if is_ever_legal and ((table >= 0) & (table != own)).any() and key not in met:
            met.add(key)
            yield move
