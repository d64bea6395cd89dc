"""The queues of a graph search: states are put into them by their keys, and taken out in turn."""

from __future__ import annotations

from typing import Final

from gdl.compiler.kernels.choice import bit
from gdl.compiler.kernels.graphs import (
    BATCH,
    BEST_GOAL,
    BEST_NODE,
    BREADTH,
    CLOSED,
    DEEPEST,
    DEPTH,
    DIVE,
    DIVES,
    DRAWN,
    GOAL_NOW,
    GREEDY,
    MAX_DISTANCE,
    N_ENTRIES,
    N_KEYS,
    NOVELTY,
    OPEN,
    SERVED,
    TERMINAL,
    TURN,
    distance_in,
    goal_in,
)
from gdl.compiler.kernels.jit import subroutine
from gdl.compiler.kernels.words import ZERO

_MAX_SIBLINGS: Final = 64
"""More siblings count as so many."""
DIVE_WIDTH: Final = 12
"""Nodes expanded at once in a dive: few, so that the best siblings lead it; several of them make one turn."""


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
def note(t, graph, values, lane, node, n_siblings):
    """Put a node into the queues, or note what its end is worth."""
    goal = goal_in(t, graph, values, lane)
    if bit(values, t.terminal[0], lane):
        graph.status[node] = TERMINAL
        if goal > graph.counters[BEST_GOAL]:
            graph.counters[BEST_GOAL], graph.counters[BEST_NODE] = goal, node
        return
    graph.status[node] = OPEN
    distance = distance_in(graph, values, lane)
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
        if graph.status[node] == OPEN:
            graph.status[node] = CLOSED
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
def next_parents(graph, parents):
    """Take the nodes that are expanded next out of the queue whose turn it is; return how many, 0 if none is open."""
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
