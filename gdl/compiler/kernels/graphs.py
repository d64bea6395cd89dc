"""Graphs of states: what a search has met and looks for, and what states in the lanes are by that measure.

A graph has one closed table, in which a state is met once, however it is reached, and several queues, which take turns;
each orders the states that are still open by a key of its own. Only games in which a single role moves can be searched
like that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels.choice import bit
from gdl.compiler.kernels.evaluation import advance, evaluate
from gdl.compiler.kernels.jit import subroutine
from gdl.compiler.kernels.lanes import N_LANES, Spare
from gdl.compiler.kernels.packing import n_words
from gdl.compiler.kernels.words import ONE, ONES, ZERO, U, W, addresses, lowest_bit, rows
from gdl.compiler.tables import Tables

N_QUEUES: Final = 6
(BREADTH, GREEDY, NOVELTY, GOAL_NOW, DEPTH, DIVES) = range(N_QUEUES)
"""The queues: by depth, by conditions of the goal that do not hold, by new fluents first, by the goal as it stands now,
deepest first, and by dives: from some depth on ever deeper, at each depth first those with the fewest siblings that are
no ends (Warnsdorff's rule, a step later), until a depth has none."""
N_KEYS: Final = 1 << 15
MAX_DISTANCE: Final = 511
"""More conditions that do not hold count as so many."""

OPEN: Final = 0
CLOSED: Final = 1
TERMINAL: Final = 2
"""The status of a node."""

N_COUNTERS: Final = 10
(N_NODES, N_ENTRIES, N_EXPANDED, BEST_GOAL, BEST_NODE, TURN, DIVE, DEEPEST, DRAWN, SERVED) = range(N_COUNTERS)


class Graph(NamedTuple):
    """What a search has met, and what it looks for.

    *Shapes*: N nodes, K words a state (fluent i is bit i mod 64 of word i div 64). `words` (N, K); `parent`, `move` and
    `depth` (N,); `status` (N,); `slots` (S,) node + 1, a power of two; `entries` (E, 2) node and next entry + 1 of a
    stack; `heads` (queues, keys) the first entry + 1 of each stack; `lowest` (queues,) below which no stack has
    entries; `seen` (distances, K) fluents met at each distance; `mask` (K,) what tells states apart; `turns` the
    queues in their order; `wanted` literals of the conditions of the goal, of which those from `wanted_start[i]` to
    `wanted_start[i + 1]` must hold together; `goals` (G,) the value of each goal literal; `counters` (N_COUNTERS,).
    """

    words: NDArray[np.uint64]
    parent: NDArray[np.int32]
    move: NDArray[np.int32]
    depth: NDArray[np.int32]
    status: NDArray[np.uint8]
    slots: NDArray[np.int32]
    entries: NDArray[np.int32]
    heads: NDArray[np.int32]
    lowest: NDArray[np.int32]
    seen: NDArray[np.uint64]
    mask: NDArray[np.uint64]
    turns: NDArray[np.int32]
    wanted: NDArray[np.int32]
    wanted_start: NDArray[np.int32]
    goals: NDArray[np.int64]
    counters: NDArray[np.int64]


class GraphRoom(NamedTuple):
    """Rows and lists that an expansion works in.

    *Shapes*: `values` (rows, W), `new` (fluents + 1, W), `order` (512,) of the states in the lanes, `states` (512, K),
    `nodes` (512,), `parents` and `n_siblings` (batch,), `pairs` (batch * moves, 2) lanes and moves.
    """

    values: NDArray[np.uint64]
    new: NDArray[np.uint64]
    order: NDArray[np.int32]
    states: NDArray[np.uint64]
    nodes: NDArray[np.int64]
    n_siblings: NDArray[np.int64]
    parents: NDArray[np.int64]
    pairs: NDArray[np.int32]


BATCH: Final = 64
"""Nodes expanded at once: their successors fill the lanes."""
_MAX_PAIRS: Final = 1_000_000


def bytes_a_node(n_words: int, n_queues: int) -> int:
    """Return how much memory a node of a graph takes, whose states have *n_words* words."""
    return 8 * n_words + 13 + 16 + 9 * n_queues


def graph_for(
    n_nodes: int, mask: NDArray[np.uint64], turns: Sequence[int], wanted: Sequence[Sequence[int]], goals: Sequence[int]
) -> Graph:
    """Return an empty graph with room for *n_nodes*; the other arguments are as the attributes of a graph."""
    counters = np.zeros(N_COUNTERS, np.int64)
    counters[BEST_GOAL] = -1
    return Graph(
        words=np.empty((n_nodes, len(mask)), np.uint64),
        parent=np.empty(n_nodes, np.int32),
        move=np.empty(n_nodes, np.int32),
        depth=np.empty(n_nodes, np.int32),
        status=np.empty(n_nodes, np.uint8),
        slots=np.zeros(1 << (2 * n_nodes - 1).bit_length(), np.int32),
        entries=np.empty((len(turns) * n_nodes * 9 // 8, 2), np.int32),
        heads=np.zeros((N_QUEUES, N_KEYS), np.int32),
        lowest=np.zeros(N_QUEUES, np.int32),
        seen=np.zeros((MAX_DISTANCE + 1, len(mask)), np.uint64),
        mask=mask,
        turns=np.array(turns, np.int32),
        wanted=np.array([literal for way in wanted for literal in way], np.int32),
        wanted_start=np.cumsum([0, *map(len, wanted)]).astype(np.int32),
        goals=np.array(goals, np.int64),
        counters=counters,
    )


def room_for(tables: Tables) -> GraphRoom:
    """Return room for expansions."""
    n_moves = len(tables.choice_legal)
    batch = max(1, min(BATCH, _MAX_PAIRS // max(1, n_moves)))
    values = rows(tables.n_rows)
    values[0] = ONES
    return GraphRoom(
        values=values,
        new=np.empty((tables.n_fluents + 1, W), np.uint64),
        order=np.arange(N_LANES, dtype=np.int32),
        states=np.empty((N_LANES, n_words(tables.n_fluents)), np.uint64),
        nodes=np.empty(N_LANES, np.int64),
        parents=np.empty(batch, np.int64),
        n_siblings=np.zeros(batch, np.int64),
        pairs=np.empty((batch * n_moves, 2), np.int32),
    )


@subroutine
def run(values, t, part):
    """Evaluate the gates of a part of the tables."""
    evaluate(values, addresses(t), 0, part)


@subroutine
def follow(values, t, new):
    """Have the fluents of the next states take the place of those of the states before."""
    advance(values, addresses(t), 0, addresses(Spare(new)).rows)


@subroutine
def find(graph, states, lane):
    """Return twice the node of a state, plus one where it is new; -1 where there is no room for a new one."""
    mask, n_words = graph.mask, states.shape[1]
    x = U(0x9E3779B97F4A7C15)
    for b in range(n_words):
        x = (x ^ (states[lane, b] & mask[b])) * U(0xFF51AFD7ED558CCD)
        x ^= x >> U(32)
    size = len(graph.slots)
    slot = np.int64(x & U(size - 1))
    while graph.slots[slot]:
        node = graph.slots[slot] - 1
        is_same = True
        for b in range(n_words):
            if (graph.words[node, b] ^ states[lane, b]) & mask[b]:
                is_same = False
                break
        if is_same:
            return np.int64(2 * node)
        slot = (slot + 1) & (size - 1)
    node = graph.counters[N_NODES]
    if node == len(graph.words):
        return np.int64(-1)
    graph.slots[slot] = node + 1
    graph.counters[N_NODES] = node + 1
    graph.depth[node] = -1
    return np.int64(2 * node + 1)


@subroutine
def list_pairs(t, values, pairs, n):
    """List the legal moves of the first *n* lanes; return how many."""
    n_pairs = 0
    for move in range(len(t.choice_legal)):
        literal = t.choice_legal[move]
        for w in range((n + 63) // 64):
            x = values[literal >> 1, w]
            if literal & 1:
                x = ~x
            if n - 64 * w < 64:
                x &= (ONE << U(n - 64 * w)) - ONE
            while x != ZERO:
                pairs[n_pairs, 0] = 64 * w + lowest_bit(x)
                pairs[n_pairs, 1] = move
                n_pairs += 1
                x &= x - ONE
    return n_pairs


@subroutine
def distance_in(graph, values, lane):
    """Return how many conditions of the goal do not hold, in the way to it that has the fewest."""
    best = np.int64(MAX_DISTANCE)
    for way in range(len(graph.wanted_start) - 1):
        n = np.int64(0)
        for i in range(graph.wanted_start[way], graph.wanted_start[way + 1]):
            n += 1 - np.int64(bit(values, graph.wanted[i], lane))
        best = min(best, n)
    return best


@subroutine
def goal_in(t, graph, values, lane):
    """Return the goal, -1 where there is not exactly one."""
    goal, n = np.int64(-1), 0
    for i in range(len(graph.goals)):
        if bit(values, t.goal_value[0, i], lane):
            goal = graph.goals[i]
            n += 1
    return goal if n == 1 else np.int64(-1)
