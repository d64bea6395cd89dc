"""Search trees in flat arrays: walks down to leaves, new nodes with what a network says of them, values backed up.

A walk is a lane. In self-play each lane has a tree of its own, in a match all lanes share one; what keeps lanes of one
tree apart is a loss that each counts on its way down until its leaf has a value. Values are those of all players, from
-1 to 1, and a player whose turn it is takes what is best for itself, whatever the others do. A node whose value is
known for sure, by an end below it, is solved, and not walked through.

*Source*: Silver et al., A general reinforcement learning algorithm that masters chess, shogi, and Go through self-play
(Science 2018), for the rule of walks; Danihelka et al., Policy improvement by planning with Gumbel (ICLR 2022), for the
first move of walks in self-play and the targets; Winands et al., Monte-Carlo tree search solver (CG 2008).
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels.jit import kernel, subroutine

AT_END: Final = 0
AT_LEAF: Final = 1
"""Where a walk ended: at a solved node, or at an edge without a node below it."""

MAX_DEPTH: Final = 256
EXPLORATION: Final = 1.75
"""How much the chances of the network count against values; in a scale from -1 to 1."""
REDUCTION: Final = 0.2
"""How much less a move is believed to be worth than its node before it is walked."""
_SURE: Final = 0.999
_VISITS_BESIDE: Final = 50.0
_SCALE: Final = 0.15
"""How values count against logits: by (50 + visits) * scale, values from 0 to 1."""


class Trees(NamedTuple):
    """Trees, whose nodes and edges are numbered over all of them. *Shapes*: K nodes, E edges, R players.

    Of nodes: the state as the engine has it (`states` (K, S), `legal` (K, L), `phase`, `mover`), `is_solved`, `values`
    (K, R) of the network or of what is solved, `sums` (K, R) of all walks from a root, `first` and `width` of its
    edges, and its `visits`. Of edges: `action`, `prior`, `noise` of a root's, `n` walks, their `total` for the mover,
    and the `child`, -1 where there is none. `used` (2,): nodes and edges in use. What one player wins the other loses
    where the game `is_opposed`.
    """

    states: NDArray[np.uint64]
    legal: NDArray[np.uint64]
    phase: NDArray[np.int32]
    mover: NDArray[np.int32]
    is_solved: NDArray[np.bool_]
    values: NDArray[np.float32]
    sums: NDArray[np.float32]
    first: NDArray[np.int32]
    width: NDArray[np.int32]
    visits: NDArray[np.int32]
    action: NDArray[np.int32]
    prior: NDArray[np.float32]
    noise: NDArray[np.float32]
    n: NDArray[np.int32]
    total: NDArray[np.float32]
    child: NDArray[np.int32]
    used: NDArray[np.int64]
    is_opposed: int


class LaneWalks(NamedTuple):
    """The walks of a batch, one in each lane. *Shapes*: B lanes, D steps.

    `root` (B,), the path `node` and `edge` (B, D), `depth`, where it ended (`kind`, `leaf`), and what the engine needs
    for a step from there: `states`, `legal`, `phase`, `mover`, `is_over` and `actions`.
    """

    root: NDArray[np.int32]
    node: NDArray[np.int32]
    edge: NDArray[np.int32]
    depth: NDArray[np.int32]
    kind: NDArray[np.int32]
    leaf: NDArray[np.int32]
    states: NDArray[np.uint64]
    legal: NDArray[np.uint64]
    phase: NDArray[np.int32]
    mover: NDArray[np.int32]
    is_over: NDArray[np.bool_]
    actions: NDArray[np.int32]


class Leaves(NamedTuple):
    """What engine and network say of the states that walks have led to. *Shapes*: B lanes, R players, A actions."""

    states: NDArray[np.uint64]
    legal: NDArray[np.uint64]
    phase: NDArray[np.int32]
    mover: NDArray[np.int32]
    is_over: NDArray[np.bool_]
    goals: NDArray[np.int32]
    values: NDArray[np.float32]
    logits: NDArray[np.float32]


@subroutine
def _worth(trees, edge, mover, otherwise):
    """Return what an edge is worth to the mover; *otherwise* where no walk has gone there."""
    child = trees.child[edge]
    if child >= 0 and trees.is_solved[child]:
        return trees.values[child, mover]
    if trees.n[edge] == 0:
        return otherwise
    return trees.total[edge] / np.float32(trees.n[edge])


@subroutine
def _best_edge(trees, node):
    """Return the edge that a walk takes from a node (PUCT)."""
    first, mover = trees.first[node], trees.mover[node]
    otherwise = trees.values[node, mover] - np.float32(REDUCTION)
    root_of_visits = np.float32(EXPLORATION * np.sqrt(trees.visits[node] + 1.0))
    best, best_score = first, np.float32(-1e30)
    for edge in range(first, first + trees.width[node]):
        child = trees.child[edge]
        worth = _worth(trees, edge, mover, otherwise)
        if child >= 0 and trees.is_solved[child] and worth < -_SURE:
            continue
        score = worth + root_of_visits * trees.prior[edge] / np.float32(1 + trees.n[edge])
        if score > best_score:
            best, best_score = edge, score
    return best


@subroutine
def _rank(trees, edge, worth, most):
    """Return how a root's edge compares with others: its logit with noise, and what it is worth, from -1 to 1."""
    scale = np.float32((_VISITS_BESIDE + most) * _SCALE * 0.5)
    return np.log(trees.prior[edge] + np.float32(1e-9)) + trees.noise[edge] + scale * (worth + np.float32(1))


@subroutine
def _most_visits(trees, node):
    most = 0
    for edge in range(trees.first[node], trees.first[node] + trees.width[node]):
        most = max(most, trees.n[edge])
    return most


@subroutine
def _considered_edge(trees, node, target):
    """Return the best of a root's edges that have been walked *target* times (sequential halving)."""
    first, mover, most = trees.first[node], trees.mover[node], _most_visits(trees, node)
    best, best_score = -1, np.float32(-1e30)
    for edge in range(first, first + trees.width[node]):
        if trees.n[edge] != target:
            continue
        score = _rank(trees, edge, _worth(trees, edge, mover, trees.values[node, mover]), most)
        if best < 0 or score > best_score:
            best, best_score = edge, score
    return best if best >= 0 else _best_edge(trees, node)


@kernel
def walk(trees, walks, targets):
    """Walk once in each lane; *targets* (B,) is how often a first move has been walked, -1 where PUCT chooses it."""
    for lane in range(len(walks.root)):
        node, depth = walks.root[lane], 0
        walks.kind[lane], walks.is_over[lane] = AT_END, True
        while not trees.is_solved[node] and depth < MAX_DEPTH:
            target = targets[lane] if depth == 0 else -1
            edge = _considered_edge(trees, node, target) if target >= 0 else _best_edge(trees, node)
            trees.n[edge] += 1
            trees.total[edge] -= np.float32(1)
            trees.visits[node] += 1
            walks.node[lane, depth], walks.edge[lane, depth] = node, edge
            depth += 1
            if trees.child[edge] < 0:
                walks.kind[lane], walks.is_over[lane] = AT_LEAF, False
                walks.states[lane] = trees.states[node]
                walks.legal[lane] = trees.legal[node]
                walks.phase[lane], walks.mover[lane] = trees.phase[node], trees.mover[node]
                walks.actions[lane] = trees.action[edge]
                break
            node = trees.child[edge]
        walks.depth[lane], walks.leaf[lane] = depth, node


@subroutine
def _add(trees, leaves, lane):
    """Make a node of the state in a lane; return its number, -1 where there is no room."""
    n_actions = leaves.logits.shape[1]
    node, first = trees.used[0], trees.used[1]
    if node == len(trees.phase) or first + n_actions > len(trees.action):
        return -1
    width, highest = 0, np.float32(-1e30)
    if not leaves.is_over[lane]:
        for action in range(n_actions):
            if leaves.legal[lane, action >> 6] >> np.uint64(action & 63) & np.uint64(1):
                trees.action[first + width] = action
                highest = max(highest, leaves.logits[lane, action])
                width += 1
    total = np.float32(0)
    for edge in range(first, first + width):
        trees.prior[edge] = np.exp(leaves.logits[lane, trees.action[edge]] - highest)
        total += trees.prior[edge]
        trees.n[edge], trees.total[edge], trees.child[edge], trees.noise[edge] = 0, 0, -1, 0
    for edge in range(first, first + width):
        trees.prior[edge] /= total
    trees.states[node], trees.legal[node] = leaves.states[lane], leaves.legal[lane]
    trees.phase[node], trees.mover[node] = leaves.phase[lane], leaves.mover[lane]
    trees.is_solved[node] = width == 0
    for player in range(trees.values.shape[1]):
        value, goal = leaves.values[lane, player], leaves.goals[lane, player]
        if width == 0:
            value = np.float32(goal / 50 - 1) if goal >= 0 else np.float32(0)
        trees.values[node, player], trees.sums[node, player] = value, 0
    trees.first[node], trees.width[node], trees.visits[node] = first, width, 0
    trees.used[0], trees.used[1] = node + 1, first + width
    return node


@kernel
def plant(trees, leaves, roots):
    """Begin anew with a tree for each of *roots*, of the states in as many lanes."""
    trees.used[:] = 0
    for lane in range(len(roots)):
        roots[lane] = _add(trees, leaves, lane)


@subroutine
def _are_ties_alike(trees, node, best):
    """Return whether all edges that are as good for the mover as the one to *best* lead to the same values."""
    mover = trees.mover[node]
    for edge in range(trees.first[node], trees.first[node] + trees.width[node]):
        child = trees.child[edge]
        if trees.values[child, mover] == trees.values[best, mover]:
            for player in range(trees.values.shape[1]):
                if trees.values[child, player] != trees.values[best, player]:
                    return False
    return True


@subroutine
def _solve(trees, node):
    """Solve a node where an edge leads to the best goal, or all are solved; return whether it is solved."""
    mover, best = trees.mover[node], -1
    are_all = True
    for edge in range(trees.first[node], trees.first[node] + trees.width[node]):
        child = trees.child[edge]
        if child < 0 or not trees.is_solved[child]:
            are_all = False
        elif best < 0 or trees.values[child, mover] > trees.values[best, mover]:
            best = child
    is_won = trees.is_opposed != 0 and best >= 0 and trees.values[best, mover] > _SURE
    if best < 0 or not (are_all or is_won) or (trees.is_opposed == 0 and not _are_ties_alike(trees, node, best)):
        return False
    trees.values[node] = trees.values[best]
    trees.is_solved[node] = True
    return True


@kernel
def grow(trees, walks, leaves):
    """Make nodes of the leaves of walks, and add their values up to the roots."""
    n_players = trees.values.shape[1]
    for lane in range(len(walks.root)):
        depth, node = walks.depth[lane], walks.leaf[lane]
        if walks.kind[lane] == AT_LEAF:
            edge = walks.edge[lane, depth - 1]
            if trees.child[edge] < 0:
                trees.child[edge] = _add(trees, leaves, lane)
            node = trees.child[edge]
        values = trees.values[node] if node >= 0 else leaves.values[lane]
        for step in range(depth):
            above = walks.node[lane, step]
            trees.total[walks.edge[lane, step]] += np.float32(1) + values[trees.mover[above]]
        for player in range(n_players):
            trees.sums[walks.root[lane], player] += values[player]
        step = depth - 1
        while node >= 0 and trees.is_solved[node] and step >= 0:
            node = walks.node[lane, step]
            if not trees.is_solved[node] and not _solve(trees, node):
                break
            step -= 1


@subroutine
def _mixed_value(trees, root):
    """Return what moves that were not walked count with: the mean of the network's value and those of the walks."""
    mover = trees.mover[root]
    visits, weight, mean = 0, np.float32(0), np.float32(0)
    for edge in range(trees.first[root], trees.first[root] + trees.width[root]):
        if trees.n[edge] > 0:
            visits += trees.n[edge]
            weight += trees.prior[edge]
            mean += trees.prior[edge] * _worth(trees, edge, mover, 0)
    value = trees.values[root, mover]
    return (value + visits * mean / weight) / np.float32(1 + visits) if visits > 0 else value


@subroutine
def _chosen_edge(trees, root, mixed):
    """Return the best of a root's edges that were walked most often, or of a solved root's that keep its value."""
    first, mover, most = trees.first[root], trees.mover[root], _most_visits(trees, root)
    best, best_score = first, np.float32(-1e30)
    for edge in range(first, first + trees.width[root]):
        worth = _worth(trees, edge, mover, mixed)
        keeps = worth >= trees.values[root, mover] - 1e-3 if trees.is_solved[root] else trees.n[edge] == most
        score = _rank(trees, edge, worth, most)
        if keeps and score > best_score:
            best, best_score = edge, score
    return best


@subroutine
def _write_targets(trees, root, mixed, targets):
    """Write the policy of a root, the network's improved by what moves turned out to be worth; -1 where illegal."""
    first, end = trees.first[root], trees.first[root] + trees.width[root]
    mover, most = trees.mover[root], _most_visits(trees, root)
    targets[:] = -1
    highest, total = np.float32(-1e30), np.float32(0)
    for edge in range(first, end):
        highest = max(highest, _rank(trees, edge, _worth(trees, edge, mover, mixed), most) - trees.noise[edge])
    for edge in range(first, end):
        score = _rank(trees, edge, _worth(trees, edge, mover, mixed), most) - trees.noise[edge]
        targets[trees.action[edge]] = np.exp(score - highest)
        total += targets[trees.action[edge]]
    for edge in range(first, end):
        targets[trees.action[edge]] /= total


@kernel
def decide(trees, roots, chosen, targets, values):
    """Write what the searches came to: the moves (T,), their targets (T, A), -1 where illegal, and values (T, R)."""
    for tree in range(len(roots)):
        root = roots[tree]
        mixed = _mixed_value(trees, root)
        chosen[tree] = trees.action[_chosen_edge(trees, root, mixed)]
        _write_targets(trees, root, mixed, targets[tree])
        visits = 0
        for edge in range(trees.first[root], trees.first[root] + trees.width[root]):
            visits += trees.n[edge]
        for player in range(values.shape[1]):
            walked = trees.sums[root, player] / max(1, visits)
            is_known = trees.is_solved[root] or visits == 0
            values[tree, player] = trees.values[root, player] if is_known else walked
