"""The kernel of graph search: states are expanded 512 at a time, and met once, however they are reached.

A graph has one closed table and several queues, which take turns; each orders the states that are still open by a key
of its own. Only games in which a single role moves can be searched like that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels.choice import bit
from gdl.compiler.kernels.jit import kernel, subroutine
from gdl.compiler.kernels.lanes import N_LANES, Spare, _advance, _evaluate
from gdl.compiler.kernels.packing import load_lanes, n_words, save_lanes
from gdl.compiler.kernels.words import ONE, ONES, ZERO, U, W, addresses, lowest_bit, rows
from gdl.compiler.tables import Tables

RUNNING: Final = 0
FOUND: Final = 1
EXHAUSTED: Final = 2
FULL: Final = 3

N_QUEUES: Final = 6
(BREADTH, GREEDY, NOVELTY, GOAL_NOW, DEPTH, DIVES) = range(N_QUEUES)
"""The queues: by depth, by conditions of the goal that do not hold, by new fluents first, by the goal as it stands now,
deepest first, and by dives: from some depth on ever deeper, at each depth first those with the fewest siblings that are
no ends (Warnsdorff's rule, a step later), until a depth has none."""
N_KEYS: Final = 1 << 15
MAX_DISTANCE: Final = 511
"""More conditions that do not hold count as so many."""
_MAX_SIBLINGS: Final = 64
"""More siblings count as so many."""

_OPEN: Final = 0
_CLOSED: Final = 1
_TERMINAL: Final = 2

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


DIVE_WIDTH: Final = 12
"""Nodes expanded at once in a dive: few, so that the best siblings lead it; its turn has several rounds."""
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


def run_each(tables: Tables) -> tuple[Graph, GraphRoom]:
    """Run every kernel of this module once: numba loads it from its cache on disk, or compiles it.

    Returns what it was run with.
    """
    n_goals = tables.goal_value.shape[1]
    state = np.zeros(n_words(tables.n_fluents), np.uint64)
    graph, room = graph_for(64, np.full(len(state), ONES), range(N_QUEUES), [[0]], [100] * n_goals), room_for(tables)
    begin(tables, graph, room)
    expand(tables, graph, room, 1, 100, False)
    holds = np.empty((len(tables.choice_legal), 1), np.uint8)
    children, ends = np.empty((len(holds), len(state)), np.uint64), np.empty(len(holds), np.int64)
    look_ahead(tables, graph, room, state, np.zeros(1, np.int32), children, holds, ends)
    holds_in(tables, room, state, 0)
    spread(tables, np.zeros(tables.n_rows, np.uint8))
    return graph, room


@subroutine
def _run(values, t, part):
    _evaluate(values, addresses(t), 0, part)


@subroutine
def _follow(values, t, new):
    _advance(values, addresses(t), 0, addresses(Spare(new)).rows)


@subroutine
def _find(graph, states, lane):
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
def _push(graph, queue, key, node):
    entry = graph.counters[N_ENTRIES]
    if entry == len(graph.entries):
        return
    graph.counters[N_ENTRIES] = entry + 1
    graph.entries[entry, 0] = node
    graph.entries[entry, 1] = graph.heads[queue, key]
    graph.heads[queue, key] = entry + 1
    graph.lowest[queue] = min(graph.lowest[queue], key)


@subroutine
def _pop(graph, queue, first, last, parents):
    """Take the first open nodes of keys from *first* to *last* out of a queue, as many as *parents* has room for."""
    n, key = 0, first
    while key <= last and n < len(parents):
        entry = graph.heads[queue, key]
        if not entry:
            key += 1
            continue
        node = graph.entries[entry - 1, 0]
        graph.heads[queue, key] = graph.entries[entry - 1, 1]
        if graph.status[node] == _OPEN:
            graph.status[node] = _CLOSED
            parents[n] = node
            n += 1
    if queue != DIVES:
        graph.lowest[queue] = min(key, N_KEYS - 1)
    return n


@subroutine
def _dive(graph, parents):
    """Take nodes of the next depth of a dive; where it has none, begin another dive at a depth drawn at random."""
    counters = graph.counters
    n_depths = counters[DEEPEST] + 1
    depth = counters[DIVE]
    for tried in range(n_depths + 1):
        if tried or depth >= n_depths:
            if tried < 2:
                counters[DRAWN] = (counters[DRAWN] * 1103515245 + 12345) & 0x7FFFFFFF
                depth = (counters[DRAWN] >> 8) % n_depths
            else:
                depth = depth + 1 if depth + 1 < n_depths else 0
        n = _pop(graph, DIVES, depth * _MAX_SIBLINGS, depth * _MAX_SIBLINGS + _MAX_SIBLINGS - 1, parents[:DIVE_WIDTH])
        if n:
            counters[DIVE] = depth + 1
            return n
    return 0


@subroutine
def _next_parents(graph, parents):
    for _ in range(len(graph.turns) * BATCH // DIVE_WIDTH):
        queue = graph.turns[graph.counters[TURN]]
        graph.counters[SERVED] += 1
        if queue != DIVES or graph.counters[SERVED] >= BATCH // DIVE_WIDTH:
            graph.counters[TURN] = (graph.counters[TURN] + 1) % len(graph.turns)
            graph.counters[SERVED] = 0
        n = _dive(graph, parents) if queue == DIVES else _pop(graph, queue, graph.lowest[queue], N_KEYS - 1, parents)
        if n:
            return n
    return 0


@subroutine
def _pairs(t, values, pairs, n):
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
def _distance(graph, values, lane):
    """Return how many conditions of the goal do not hold, in the way to it that has the fewest."""
    best = np.int64(MAX_DISTANCE)
    for way in range(len(graph.wanted_start) - 1):
        n = np.int64(0)
        for i in range(graph.wanted_start[way], graph.wanted_start[way + 1]):
            n += 1 - np.int64(bit(values, graph.wanted[i], lane))
        best = min(best, n)
    return best


@subroutine
def _goal(t, graph, values, lane):
    """Return the goal, -1 where there is not exactly one."""
    goal, n = np.int64(-1), 0
    for i in range(len(graph.goals)):
        if bit(values, t.goal_value[0, i], lane):
            goal = graph.goals[i]
            n += 1
    return goal if n == 1 else np.int64(-1)


@subroutine
def _note(t, graph, values, lane, node, n_siblings):
    """Put a node into the queues, or note what its end is worth."""
    goal = _goal(t, graph, values, lane)
    if bit(values, t.terminal[0], lane):
        graph.status[node] = _TERMINAL
        if goal > graph.counters[BEST_GOAL]:
            graph.counters[BEST_GOAL], graph.counters[BEST_NODE] = goal, node
        return
    graph.status[node] = _OPEN
    distance = _distance(graph, values, lane)
    is_new = False
    for b in range(graph.words.shape[1]):
        is_new |= graph.words[node, b] & ~graph.seen[distance, b] != ZERO
        graph.seen[distance, b] |= graph.words[node, b]
    depth = min(graph.depth[node], N_KEYS - 1)
    for queue in graph.turns:
        if queue == BREADTH:
            key = depth
        elif queue == GREEDY:
            key = distance
        elif queue == NOVELTY:
            key = distance if is_new else distance + MAX_DISTANCE + 1
        elif queue == GOAL_NOW:
            key = min(max(100 - goal, 0), 101)
        elif queue == DEPTH:
            key = N_KEYS - 1 - depth
        else:
            depth = min(depth, N_KEYS // _MAX_SIBLINGS - 1)
            graph.counters[DEEPEST] = max(graph.counters[DEEPEST], depth)
            key = _MAX_SIBLINGS * depth + min(n_siblings, _MAX_SIBLINGS - 1)
        _push(graph, queue, key, node)


@subroutine
def _make_moves(t, room, first, n):
    """Make the moves of *n* pairs in `room.states`, one lane each; the states after them are not evaluated."""
    values, n_fluents = room.values, t.n_fluents
    load_lanes(room.states, room.order[:n], values, 1, n_fluents)
    for lane in range(n):
        values[1 + n_fluents + room.pairs[first + lane, 1], lane >> 6] |= ONE << U(lane & 63)
    _run(values, t, 0)
    _run(values, t, 1)
    _follow(values, t, room.new)
    for lane in range(n):
        for w in range(W):
            values[1 + n_fluents + room.pairs[first + lane, 1], w] = ZERO
    save_lanes(values, 1, n_fluents, room.states[:n])


@subroutine
def _expand_pairs(t, graph, room, first, n, is_timeless):
    """Make the moves of *n* pairs, and keep the states that they lead to; return whether there was room for them."""
    values, n_words = room.values, graph.words.shape[1]
    for lane in range(n):
        parent = room.parents[room.pairs[first + lane, 0]]
        for b in range(n_words):
            room.states[lane, b] = graph.words[parent, b]
    _make_moves(t, room, first, n)
    room.n_siblings[:] = 0
    n_new, has_room = 0, True
    for lane in range(n):
        found = _find(graph, room.states, lane)
        has_room &= found >= 0
        node = found >> 1
        parent = room.parents[room.pairs[first + lane, 0]]
        depth = graph.depth[parent] + 1
        if found >= 0 and (found & 1 or (is_timeless and depth < graph.depth[node])):
            graph.parent[node], graph.move[node], graph.depth[node] = parent, room.pairs[first + lane, 1], depth
            for b in range(n_words):
                graph.words[node, b] = room.states[lane, b]
            n_new += 1
        else:
            if found >= 0 and graph.status[node] != _TERMINAL:
                room.n_siblings[room.pairs[first + lane, 0]] += 1
            node = -1
        room.nodes[lane] = node
    if n_new:
        _run(values, t, 0)
        _run(values, t, 2)
        for lane in range(n):
            if room.nodes[lane] >= 0 and not bit(values, t.terminal[0], lane):
                room.n_siblings[room.pairs[first + lane, 0]] += 1
        for lane in range(n):
            if room.nodes[lane] >= 0:
                _note(t, graph, values, lane, room.nodes[lane], room.n_siblings[room.pairs[first + lane, 0]])
    return has_room


@kernel
def expand(t, graph, room, n_rounds, target, is_timeless):
    """Expand a batch of nodes *n_rounds* times; return RUNNING, or FOUND where a goal of at least *target* is reached.

    EXHAUSTED says that every state was expanded, FULL that no more nodes fit.
    """
    n_words = graph.words.shape[1]
    for _ in range(n_rounds):
        n = _next_parents(graph, room.parents)
        if not n:
            return EXHAUSTED
        graph.counters[N_EXPANDED] += n
        for lane in range(n):
            for b in range(n_words):
                room.states[lane, b] = graph.words[room.parents[lane], b]
        load_lanes(room.states, room.order[:n], room.values, 1, t.n_fluents)
        _run(room.values, t, 0)
        n_pairs = _pairs(t, room.values, room.pairs, n)
        for first in range(0, n_pairs, N_LANES):
            has_room = _expand_pairs(t, graph, room, first, min(N_LANES, n_pairs - first), is_timeless)
            if graph.counters[BEST_GOAL] >= target:
                return FOUND
            if not has_room:
                return FULL
    return RUNNING


@kernel
def begin(t, graph, room):
    """Make the state in the first row of `room.states` the only node of an empty graph."""
    for b in range(graph.words.shape[1]):
        graph.words[0, b] = room.states[0, b]
    room.values[0, :] = ONES
    graph.parent[0] = graph.move[0] = -1
    found = _find(graph, room.states, 0)
    graph.depth[found >> 1] = 0
    load_lanes(room.states, room.order[:1], room.values, 1, t.n_fluents)
    _run(room.values, t, 0)
    _run(room.values, t, 2)
    _note(t, graph, room.values, 0, found >> 1, 1)


@kernel
def spread(t, is_moved):
    """Set the rows of fluents and gates that depend on rows that are set; return whether a fluent's changed."""
    for s in range(t.parts[0, 0], t.parts[0, 2]):
        for g in range(t.segments[s, 0], t.segments[s, 1]):
            for j in range(t.gate_start[g], t.gate_start[g + 1]):
                is_moved[t.gate_row[g]] |= is_moved[t.gate_input[j]]
    has_changed = False
    for i in range(len(t.copy_row)):
        if is_moved[t.copy_value[i] >> 1] and not is_moved[t.copy_row[i]]:
            is_moved[t.copy_row[i]] = 1
            has_changed = True
    return has_changed


@kernel
def look_ahead(t, graph, room, state, wanted, children, holds, ends):
    """Make every legal move in *state*; return how many there are.

    *Shapes*: M moves, C literals *wanted*. The numbers of the moves are then in `room.pairs`, the states after them in
    *children* (M, K), which literals hold there in *holds* (M, C), and in *ends* (M,) the goal of terminal states, -2
    for others.
    """
    values, n_words = room.values, len(state)
    room.states[0] = state
    load_lanes(room.states, room.order[:1], values, 1, t.n_fluents)
    _run(values, t, 0)
    n_pairs = _pairs(t, values, room.pairs, 1)
    for first in range(0, n_pairs, N_LANES):
        n = min(N_LANES, n_pairs - first)
        for lane in range(n):
            for b in range(n_words):
                room.states[lane, b] = state[b]
        _make_moves(t, room, first, n)
        _run(values, t, 0)
        _run(values, t, 2)
        for lane in range(n):
            for b in range(n_words):
                children[first + lane, b] = room.states[lane, b]
            for i in range(len(wanted)):
                holds[first + lane, i] = bit(values, wanted[i], lane)
            is_end = bit(values, t.terminal[0], lane)
            ends[first + lane] = _goal(t, graph, values, lane) if is_end else np.int64(-2)
    return n_pairs


@kernel
def holds_in(t, room, state, literal):
    """Return whether a literal of the goal holds in *state*."""
    room.states[0] = state
    load_lanes(room.states, room.order[:1], room.values, 1, t.n_fluents)
    _run(room.values, t, 0)
    _run(room.values, t, 2)
    return bit(room.values, literal, 0)
