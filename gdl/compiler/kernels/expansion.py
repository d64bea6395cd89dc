"""The kernel of graph search: states are expanded 512 at a time, and their successors put into the queues of the graph.

Other kernels look at the moves of a single state, and at what a state depends on.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from gdl.compiler.kernels.choice import bit
from gdl.compiler.kernels.graphs import (
    BEST_GOAL,
    N_EXPANDED,
    N_QUEUES,
    TERMINAL,
    Graph,
    GraphRoom,
    find,
    follow,
    goal_in,
    graph_for,
    list_pairs,
    room_for,
    run,
)
from gdl.compiler.kernels.jit import kernel, subroutine
from gdl.compiler.kernels.lanes import N_LANES
from gdl.compiler.kernels.packing import load_lanes, n_words, save_lanes
from gdl.compiler.kernels.queues import next_parents, note
from gdl.compiler.kernels.words import ONE, ONES, ZERO, U, W
from gdl.compiler.tables import Tables

RUNNING: Final = 0
FOUND: Final = 1
EXHAUSTED: Final = 2
FULL: Final = 3


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
def _make_moves(t, room, first, n):
    """Make the moves of *n* pairs in `room.states`, one lane each; the states after them are not evaluated."""
    values, n_fluents = room.values, t.n_fluents
    load_lanes(room.states, room.order[:n], values, 1, n_fluents)
    for lane in range(n):
        values[1 + n_fluents + room.pairs[first + lane, 1], lane >> 6] |= ONE << U(lane & 63)
    run(values, t, 0)
    run(values, t, 1)
    follow(values, t, room.new)
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
        found = find(graph, room.states, lane)
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
            if found >= 0 and graph.status[node] != TERMINAL:
                room.n_siblings[room.pairs[first + lane, 0]] += 1
            node = -1
        room.nodes[lane] = node
    if n_new:
        run(values, t, 0)
        run(values, t, 2)
        for lane in range(n):
            if room.nodes[lane] >= 0 and not bit(values, t.terminal[0], lane):
                room.n_siblings[room.pairs[first + lane, 0]] += 1
        for lane in range(n):
            if room.nodes[lane] >= 0:
                note(t, graph, values, lane, room.nodes[lane], room.n_siblings[room.pairs[first + lane, 0]])
    return has_room


@kernel
def expand(t, graph, room, n_rounds, target, is_timeless):
    """Expand a batch of nodes *n_rounds* times; return RUNNING, or FOUND where a goal of at least *target* is reached.

    EXHAUSTED says that every state was expanded, FULL that no more nodes fit.
    """
    n_words = graph.words.shape[1]
    for _ in range(n_rounds):
        n = next_parents(graph, room.parents)
        if not n:
            return EXHAUSTED
        graph.counters[N_EXPANDED] += n
        for lane in range(n):
            for b in range(n_words):
                room.states[lane, b] = graph.words[room.parents[lane], b]
        load_lanes(room.states, room.order[:n], room.values, 1, t.n_fluents)
        run(room.values, t, 0)
        n_pairs = list_pairs(t, room.values, room.pairs, n)
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
    found = find(graph, room.states, 0)
    graph.depth[found >> 1] = 0
    load_lanes(room.states, room.order[:1], room.values, 1, t.n_fluents)
    run(room.values, t, 0)
    run(room.values, t, 2)
    note(t, graph, room.values, 0, found >> 1, 1)


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
    run(values, t, 0)
    n_pairs = list_pairs(t, values, room.pairs, 1)
    for first in range(0, n_pairs, N_LANES):
        n = min(N_LANES, n_pairs - first)
        for lane in range(n):
            for b in range(n_words):
                room.states[lane, b] = state[b]
        _make_moves(t, room, first, n)
        run(values, t, 0)
        run(values, t, 2)
        for lane in range(n):
            for b in range(n_words):
                children[first + lane, b] = room.states[lane, b]
            for i in range(len(wanted)):
                holds[first + lane, i] = bit(values, wanted[i], lane)
            is_end = bit(values, t.terminal[0], lane)
            ends[first + lane] = goal_in(t, graph, values, lane) if is_end else np.int64(-2)
    return n_pairs


@kernel
def holds_in(t, room, state, literal):
    """Return whether a literal of the goal holds in *state*."""
    room.states[0] = state
    load_lanes(room.states, room.order[:1], room.values, 1, t.n_fluents)
    run(room.values, t, 0)
    run(room.values, t, 2)
    return bit(room.values, literal, 0)
