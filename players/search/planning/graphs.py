"""Graph search for one role: which states it has met, which plan leads to the best of their ends.

States differ by what moves can change, or, in a second search, by all: a counter of steps that runs by itself
would otherwise make every state new. The orders of expansion are those of satisficing planners, which take turns:
breadth first, goal counting, novelty (Lipovetzky and Geffner, "Best-First Width Search", 2017), and depth first.
"""

from typing import Final

import numpy as np

from gdl.compiler.compiled import CompiledGame
from gdl.compiler.kernels import expansion, graphs, packing
from gdl.compiler.kernels.graphs import Graph
from gdl.compiler.kernels.words import ONES
from gdl.compiler.tables import Tables
from players.search.planning.circuits import Moves, best_goal_of, clock_of, conditions_of, words_of

MAX_GRAPH_MB: Final = 400
MAX_NODES: Final = 4_000_000
_MIN_NODES: Final = 1_000
_TURNS: Final = (graphs.BREADTH, graphs.GREEDY, graphs.NOVELTY, graphs.DEPTH, graphs.DIVES)


class GraphSearch:
    """A search from one state of a compiled game of one role.

    Attributes:
        goal, plan: the best end met so far and the moves to it, -1 and none before any is met.
        is_done: whether there is nothing left to do: the best possible goal is reached, all is expanded, or no more
            nodes fit.
        has_seen_all, is_refuted: whether no plan can be better, and whether no plan reaches the best goal.
        n_iterations: how many nodes were expanded.
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
    def n_iterations(self) -> int:
        """How many nodes were expanded."""
        return int(self._graph.counters[graphs.N_EXPANDED])

    @property
    def n_nodes(self) -> int:
        """How many states were met."""
        return int(self._graph.counters[graphs.N_NODES])

    def advance(self, n_units: int) -> bool:
        """Expand *n_units* batches of nodes; return whether a better end was found."""
        if self.is_done:
            return False
        found = expansion.expand(self._tables, self._graph, self._room, n_units, self._target, self.is_timeless)
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
