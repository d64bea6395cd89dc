"""Graph search for one role: which states it has met, which plan leads to the best of their ends.

States differ by what moves can change, or, in a second search, by all: a counter of steps that runs by itself
would otherwise make every state new. The orders of expansion are those of satisficing planners, which take turns:
breadth first, goal counting, novelty (Lipovetzky and Geffner, "Best-First Width Search", 2017), and depth first.

The search over the conditions of the goal takes at every state only the moves that fulfil the most constrained one.
That is how puzzles of constraints are solved, such as sudoku: a condition that no move can fulfil any more is a dead
end, and among the others the one with the fewest moves comes first. It is incomplete: conditions that take several
moves look like dead ends.
Source: Haralick and Elliott, "Increasing Tree Search Efficiency for Constraint Satisfaction Problems", 1980.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.compiled import CompiledGame
from gdl.compiler.kernels import expansion, graphs, packing
from gdl.compiler.kernels.graphs import Graph
from gdl.compiler.kernels.words import ONES
from gdl.compiler.tables import Tables

Moves: TypeAlias = tuple[int, ...]
"""A plan as the numbers of its moves."""
Words: TypeAlias = NDArray[np.uint64]

MAX_GRAPH_MB: Final = 400
MAX_NODES: Final = 4_000_000
_N_GAMES: Final = 2
_MIN_NODES: Final = 1_000
_MAX_WAYS: Final = 32
_MAX_CONDITIONS: Final = 2_000
_TURNS: Final = (graphs.BREADTH, graphs.GREEDY, graphs.NOVELTY, graphs.DEPTH, graphs.DIVES)


class GraphSearch:
    """A search from one state of a compiled game of one role.

    Attributes:
        goal, plan: the best end met so far and the moves to it, -1 and none before any is met.
        is_done: whether there is nothing left to do: the best possible goal is reached, all is expanded, or no more
            nodes fit.
        has_seen_all, is_refuted: whether no plan can be better, and whether no plan reaches the best goal.
        n_rounds: how many nodes were expanded.
    """

    def __init__(self, game: CompiledGame, packed: bytes, *, is_timeless: bool, max_mb: int = MAX_GRAPH_MB) -> None:
        self.game, self.packed, self.is_timeless = game, packed, is_timeless
        self.goal, self.plan = -1, Moves()
        self.is_done = self.has_seen_all = self.is_refuted = False
        self._tables: Tables = game.rules.single
        self._target = best_goal_of(game)
        self._graph = graph_for(game, is_timeless=is_timeless, max_mb=max_mb)
        self._room = graphs.room_for(self._tables)
        self._room.states[0] = words_of(game, packed)
        expansion.begin(self._tables, self._graph, self._room)
        self._note()

    @property
    def n_rounds(self) -> int:
        """How many nodes were expanded."""
        return int(self._graph.counters[graphs.N_EXPANDED])

    @property
    def n_nodes(self) -> int:
        """How many states were met."""
        return int(self._graph.counters[graphs.N_NODES])

    def advance(self, n_rounds: int) -> bool:
        """Expand *n_rounds* batches of nodes; return whether a better end was found."""
        if self.is_done:
            return False
        found = expansion.expand(self._tables, self._graph, self._room, n_rounds, self._target, self.is_timeless)
        self.is_done = found != expansion.RUNNING
        self.has_seen_all = found == expansion.EXHAUSTED and not self.is_timeless and self._has_room()
        return self._note()

    def pause(self) -> None:
        """Do nothing: it works when it is called only."""

    def close(self) -> None:
        """Do no more."""
        self.is_done = True

    def _has_room(self) -> bool:
        return int(self._graph.counters[graphs.N_ENTRIES]) < len(self._graph.entries)

    def _note(self) -> bool:
        goal, node = map(int, self._graph.counters[[graphs.BEST_GOAL, graphs.BEST_NODE]])
        if goal <= self.goal:
            return False
        self.goal, self.plan = goal, self._path(node)
        self.is_done |= goal >= self._target
        return True

    def _path(self, node: int) -> Moves:
        found = []
        while node > 0:
            found.append(int(self._graph.move[node]))
            node = int(self._graph.parent[node])
        return tuple(reversed(found))


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


def graph_for(game: CompiledGame, *, is_timeless: bool, max_mb: int) -> Graph:
    """Return an empty graph for states of *game* that takes *max_mb* at most, told apart by what moves can change."""
    tables = game.rules.single
    n_words = packing.n_words(tables.n_fluents)
    mask = np.full(n_words, ONES)
    if is_timeless:
        mask &= ~packing.words_of(np.packbits(clock_of(game)).tobytes(), tables.n_fluents)
    goals = [-1 if goal is None else goal for goal in game.rules.goals[0]]
    n_bytes = graphs.bytes_a_node(n_words, len(_TURNS))
    n_nodes = max(_MIN_NODES, min(MAX_NODES, max_mb * 1_000_000 // n_bytes))
    return graphs.graph_for(n_nodes, mask, _TURNS, conditions_of(game), goals)


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


MAX_MET: Final = 1_000_000
_MIN_CONDITIONS: Final = 2
_MIN_GRAPH_MB: Final = 1


@dataclass(slots=True)
class _Branch:
    """A state under way: the moves that are still to be tried in it, the last first, with the states after them."""

    moves: list[int]
    children: list[Words]
    holds: list[NDArray[np.uint8]]


class ConditionSearch:
    """A depth-first search from one state of a compiled game of one role; attributes as of `GraphSearch`."""

    def __init__(self, game: CompiledGame, packed: bytes) -> None:
        self.goal, self.plan = -1, Moves()
        self.n_rounds = 0
        self.has_seen_all = self.is_refuted = False
        self._tables = game.rules.single
        self._target = best_goal_of(game)
        ways = conditions_of(game)
        self._wanted = np.array(max(ways, key=len), np.int32)
        self.is_done = len(self._wanted) < _MIN_CONDITIONS
        self._graph = graph_for(game, is_timeless=False, max_mb=_MIN_GRAPH_MB)
        n_words = self._graph.words.shape[1]
        self._room = graphs.room_for(self._tables)
        n_moves = len(self._tables.choice_legal)
        self._children = np.empty((n_moves, n_words), np.uint64)
        self._holds = np.empty((n_moves, len(self._wanted)), np.uint8)
        self._ends = np.empty(n_moves, np.int64)
        self._made: list[int] = []
        self._met: set[bytes] = set()
        root = words_of(game, packed)
        held = np.array(
            [expansion.holds_in(self._tables, self._room, root, int(literal)) for literal in self._wanted], np.uint8
        )
        self._path = [_Branch([-1], [root], [held])]

    def advance(self, n_rounds: int) -> bool:
        """Expand *n_rounds* states; return whether a plan was found."""
        for _ in range(n_rounds):
            while self._path and not self._path[-1].moves:
                self._path.pop()
                self._made = self._made[: max(0, len(self._path) - 1)]
            if self.is_done or not self._path or len(self._met) >= MAX_MET:
                self.is_done = True
                return False
            self._step()
            if self.goal >= 0:
                return True
        return False

    def pause(self) -> None:
        """Do nothing: it works when it is called only."""

    def close(self) -> None:
        """Do no more."""
        self.is_done = True

    def _step(self) -> None:
        """Make the next move of the last branch, and find the moves after it."""
        branch = self._path[-1]
        move, state, held = branch.moves.pop(), branch.children.pop(), branch.holds.pop()
        made = [*self._made[: len(self._path) - 1], move]
        key = state.tobytes()
        if key in self._met:
            return
        self._met.add(key)
        self.n_rounds += 1
        n = expansion.look_ahead(
            self._tables, self._graph, self._room, state, self._wanted, self._children, self._holds, self._ends
        )
        self._made = made
        if n and self._ends[:n].max() >= self._target:
            last = int(self._room.pairs[int(self._ends[:n].argmax()), 1])
            self.goal, self.plan, self.is_done = self._target, (*made[1:], last), True
            return
        self._path.append(self._branch(n, held))

    def _branch(self, n: int, held: NDArray[np.uint8]) -> _Branch:
        """Return the moves of the first *n* that fulfil the most constrained condition of those that do not hold."""
        keeps = (self._holds[:n] >= held).all(axis=1) & (self._ends[:n] == -2)
        fulfils = self._holds[:n].astype(np.bool_) & keeps[:, None]
        counts = np.where(held, n + 1, fulfils.sum(axis=0))
        if not len(counts) or counts.min() in {0, n + 1}:
            return _Branch([], [], [])
        chosen = np.flatnonzero(fulfils[:, counts.argmin()])[::-1]
        return _Branch(
            self._room.pairs[chosen, 1].tolist(),
            [self._children[i].copy() for i in chosen],
            [self._holds[i].copy() for i in chosen],
        )
