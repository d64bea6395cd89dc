"""Search over the conditions of the goal, which takes at every state only moves that fulfil the most constrained one.

That is how puzzles of constraints are solved, such as sudoku: a condition that no move can fulfil any more is a dead
end, and among the others the one with the fewest moves comes first. It is incomplete: conditions that take several
moves look like dead ends.
Source: Haralick and Elliott, "Increasing Tree Search Efficiency for Constraint Satisfaction Problems", 1980.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.compiled import CompiledGame
from gdl.compiler.kernels import expansion, graphs
from players.search.planning.circuits import Moves, Words, best_goal_of, conditions_of, words_of
from players.search.planning.graphs import graph_for

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
        self.n_iterations = 0
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

    def advance(self, n_units: int) -> bool:
        """Expand *n_units* states; return whether a plan was found."""
        for _ in range(n_units):
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
        self.n_iterations += 1
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
