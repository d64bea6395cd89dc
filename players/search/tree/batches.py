"""Batches of a compiled search: walk, make leaves, play, add up; all in one kernel that holds no lock."""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels.jit import inlined, kernel, subroutine
from gdl.compiler.kernels.words import ONES, ZERO, U, addresses, at, rows
from gdl.compiler.tables import CompiledRules, Tables
from players.search.tree import nodes
from players.search.tree.amaf import learn
from players.search.tree.averages import MoveSums, add_moves, no_sums
from players.search.tree.backup import back_up_all
from players.search.tree.bounds import n_walks_along
from players.search.tree.deviation import find_deviation, note_goals
from players.search.tree.groups import select_leaves
from players.search.tree.implicit import judge_leaves
from players.search.tree.leaves import NO_ROOM, OK, STUCK, make_leaves
from players.search.tree.lookahead import Successors, look_ahead, successors_for, take_minimax
from players.search.tree.nodes import node_at
from players.search.tree.plays import PlayRoom, play_out, play_room
from players.search.tree.walks import Walks, count_early, counts_early, step_of, unmark, walks_for

N_WALKS: Final = 0
N_PLAYS: Final = 1
N_BATCHES: Final = 2
DEPTHS: Final = 3
"""What `counts` (4,) adds up: walks, plays, batches, and the depths of all walks."""


class SearchRoom(NamedTuple):
    """What one thread of a search works with: walks, plays, what moves came to, and rows for the making of leaves.

    Plays are by the tables `played`.
    """

    played: Tables
    walks: Walks
    plays: PlayRoom
    sums: MoveSums
    values: NDArray[np.uint64]
    legal: NDArray[np.uint64]
    lane_bits: NDArray[np.uint64]
    successors: Successors
    counts: NDArray[np.int64]


def room_for(
    rules: CompiledRules, played: Tables, *, n_words: int, seed: int, number: int, keeps_moves: bool
) -> SearchRoom:
    """Return room for the thread of a *number*, which makes plays by the tables *played* and draws from *seed*.

    With *keeps_moves* it learns what plays say of moves.
    """
    n_moves = len(rules.moves)
    values = rows(rules.single.n_rows)
    values[0] = ONES
    walks = walks_for(len(rules.goals), n_moves, n_words, seed, number)
    legal = rows(max(n_moves, 1))
    plays = play_room(rules, played, seed, keeps_moves)
    ahead, counts = successors_for(n_moves), np.zeros(4, np.int64)
    return SearchRoom(played, walks, plays, no_sums(), values, legal, rows(2), ahead, counts)


def with_work(room: SearchRoom, **changes: Any) -> SearchRoom:
    """Return *room* with some fields of the work of its plays changed."""
    return room._replace(plays=room.plays._replace(work=room.plays.work._replace(**changes)))


@inlined
def _n_walks_through(t, f, node):
    """Return how many walks went on from a node; none where it has no edges."""
    n, first, r = np.int64(0), node_at(t, node, nodes.FIRST), np.int64(0)
    if first >= 0:
        while r + 1 < np.int64(f.n_roles) and node_at(t, node, nodes.BOUNDS + np.int64(f.n_roles) + r) == 0:
            r += 1
        n = n_walks_along(t, first, node_at(t, node, nodes.BOUNDS + np.int64(f.n_roles) + r))
    return n


@subroutine
def _abandon(t, f, w, n_walks, n_leaves):
    """Take back the walks of a batch that cannot be finished."""
    for j in range(n_leaves):
        unmark(t, w, j)
    for i in range(n_walks):
        for depth in range(at(w.depth, U(i)) if at(w.leaf, U(i)) != nodes.ENDED else 0):
            step = step_of(i, depth)
            node, slot = at(w.node, step), at(w.edge, step)
            if slot == nodes.NONE:
                continue
            count_early(t, slot, -1)
            if counts_early(t, node):
                for r in range(f.n_roles):
                    if at(w.role_edge, step * f.n_roles + r) >= 0:
                        count_early(t, at(w.role_edge, step * f.n_roles + r), -1)


@subroutine
def _make_leaves(single, tree, t, f, w, room, n_walks, n_leaves):
    """Make the leaves of a batch, or take its walks back; return OK, NO_ROOM or STUCK."""
    ends_stuck = room.plays.work.ends_stuck
    ending = make_leaves(
        single, tree, t, f, room.walks, w, n_leaves, room.values, room.legal, room.lane_bits, ends_stuck
    )
    if ending != OK:
        _abandon(t, f, w, n_walks, n_leaves)
    return ending


@subroutine
def _judge_walks(single, rules, tree, t, f, w, room, n_walks, n_leaves, knobs):
    """Find what the walks of a batch come to, by a look ahead or by plays.

    Returns how many plays that were, or -1 where a role had no legal move.
    """
    if knobs.looks_ahead:
        look_ahead(single, t, f, w, room, n_leaves)
        take_minimax(t, f, w, n_walks)
        return np.int64(0)
    if tree.uses_minimax:
        judge_leaves(t, f, w, n_leaves, room.values, room.lane_bits, room.plays)
    return np.int64(play_out(room.played, tree, t, rules, f, w, n_walks, room.plays, knobs.max_steps))


@subroutine
def _open_root(single, tree, t, f, w, room, root, knobs):
    """Give the root its edges, but no plays: those from one leaf take as long as those from many.

    Returns OK, NO_ROOM or STUCK.
    """
    if node_at(t, root, nodes.FIRST) >= 0:
        return OK
    n_walks = np.int64(1)
    _, n_leaves = select_leaves(t, f, w, root, n_walks, knobs)
    return _make_leaves(single, tree, t, f, w, room, n_walks, n_leaves)


@kernel
def search(single, rules, tree, knobs, room, root, n_batches, n_walks_left):
    """Make batches until there were *n_batches*, or *n_walks_left* walks, or the root is solved.

    Returns OK, NO_ROOM where the tree is full (it is as before the batch), or STUCK where a role has no legal move.
    """
    t, f, w, counts = addresses(tree), addresses(rules), addresses(room.walks), room.counts
    for _ in range(n_batches):
        if node_at(t, root, nodes.SOLVED) != 0 or n_walks_left <= 0:
            break
        ending = _open_root(single, tree, t, f, w, room, root, knobs)
        if ending != OK:
            return ending
        n_walks = min(knobs.most_walks, max(knobs.least_walks, _n_walks_through(t, f, root) // knobs.nodes_per_walk))
        n_walks = min(n_walks, n_walks_left)
        n_walks_left -= n_walks
        find_deviation(f, w)
        n, n_leaves = select_leaves(t, f, w, root, n_walks, knobs)
        counts[N_WALKS] += n_walks - n
        if n_leaves < 0:
            _abandon(t, f, w, n_walks, -1 - n_leaves)
            return NO_ROOM
        if n == 0:
            continue
        ending = _make_leaves(single, tree, t, f, w, room, n_walks, n_leaves)
        if ending != OK:
            return ending
        n_plays = _judge_walks(single, rules, tree, t, f, w, room, n_walks, n_leaves, knobs)
        if n_plays < 0:
            _abandon(t, f, w, n_walks, n_leaves)
            room.plays.work.made[:] = ZERO
            return STUCK
        if len(room.plays.weights) == 0:
            note_goals(f, w, n_walks)
        back_up_all(t, f, w, n_walks)
        if room.plays.work.keeps_made and n_plays > 0:
            add_moves(single.n_fluents, room.plays, room.sums)
            if tree.uses_amaf:
                learn(single, t, f, w, room.plays)
            room.plays.work.made[:] = ZERO
        counts[N_WALKS] += n
        counts[N_PLAYS] += n_plays
        counts[N_BATCHES] += 1
        for i in range(n_walks):
            counts[DEPTHS] += at(w.depth, U(i))
    return OK
