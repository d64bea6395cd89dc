"""The tree of a compiled search in flat arrays, and what of the rules its kernels need.

A node is a state, one for equal states; an edge is a move of a role at a node. A node gets its edges at the second
visit: most never have a second. What a walk touches lies together, in half a cache line a node and a quarter an edge.
Walks are counted at edges alone, so that those of several threads hardly ever write to what others read of a node.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels.jit import inlined
from gdl.compiler.kernels.packing import n_words
from gdl.compiler.kernels.words import ONES, ZERO, U, W, at, float_at, prefetch, put, put_float, rows
from gdl.compiler.tables import CompiledRules
from gdl.game import RANDOM, Role
from players.search.tree.sharing import add_to

FIRST: Final = 0
DECIDER: Final = 1
SOLVED: Final = 2
BOUNDS: Final = 3
"""Columns of a node; after BOUNDS, one for each role, the number of edges of each role, none where it has one move."""
TOTAL: Final = 0
VISITS: Final = 1
CHILD: Final = 2
LIMITS: Final = 3
"""Columns of an edge: the sum of goals, the walks along it, the child, and the bounds of the goal of its role."""
EDGES_A_LINE: Final = 4
"""The edges of a node begin in a cache line of their own: threads that write there would else wait for each other."""
AMAF_TOTAL: Final = 0
AMAF_PLAYS: Final = 1
PENDING: Final = 2
"""Columns of what plays say of an edge: the sum of goals and the number of plays, and walks that are on their way."""
UNOPENED: Final = -1
"""The first edge of a node that has none yet; below that, the leaf of a batch that gives it edges."""
NONE: Final = -1
"""No child yet; below that, the leaf of a batch that is going to be the child."""
SIMULTANEOUS: Final = -1
"""The decider of a node where several roles choose."""
ENDED: Final = -1
"""The leaf of a walk that needs none: it ended at a node whose worth is known, and was added up at once."""
_MOST_EDGES: Final = 2**31 - 8
"""Edges are numbered by int32; the last ones are read in fours, too."""
MAX_DEPTH: Final = 250
"""A walk that is longer gives up, and counts as even."""
EVEN: Final = 50
MAX_GOAL: Final = 100
"""The largest goal that bounds tell; larger ones count as that."""
LOW: Final = 255
"""The bits of a goal that is a lower bound; the eight bits above are the upper bound."""
CLOSED: Final = 1 << 16
"""The bit in the bounds of an edge that says that its child is solved."""


class Tree(NamedTuple):
    """Nodes and edges. *Shapes*: N nodes, E edges, S words a state, R roles.

    `size` (3,): nodes, edges and joint moves in use. `words` (N, S); `node` (N, width): the first edge, the role that
    chooses, whether it is solved, and each role's bounds and number of edges. `edge` (E, 4): the sum of the goals of
    the walks along it, their number, the child, and the bounds of its role's goal; `move` (E,). `table` has the nodes
    (plus one) by the hash of their state. Where several roles choose, an edge leads on for each joint move, with the
    joint move's hash in place of bounds and a move, and the previous such edge of the node in place of a sum; the first
    edge of the node names the last of them in place of a child. `joint_key` and `joint_edge` list them by hash. Where
    `uses_amaf`, `amaf` (E, 3) has for each edge the sum of the goals of those plays below its node in which its role
    has made its move, how many these are, and how many walks along the edge are not added up yet. Where `uses_minimax`,
    `node_minimax` (N,) and `edge_minimax` (E,) are what weights and minimax say of nodes, for the first of two roles,
    and of edges, for the role that chooses, in percent. By the *rule* of regret matching, edges of roles that choose at
    once have a regret, in float32, in place of bounds. A thread that changes more than numbers of walks, and their
    sums, has the `lock` (8,), which is not zero then.
    """

    size: NDArray[np.int64]
    width: int
    n_words: int
    table_mask: int
    joint_mask: int
    max_nodes: int
    max_edges: int
    rule: int
    uses_amaf: int
    uses_minimax: int
    words: NDArray[np.uint64]
    node: NDArray[np.int32]
    edge: NDArray[np.int32]
    move: NDArray[np.int32]
    table: NDArray[np.int32]
    joint_key: NDArray[np.uint64]
    joint_edge: NDArray[np.int32]
    amaf: NDArray[np.float32]
    node_minimax: NDArray[np.float32]
    edge_minimax: NDArray[np.float32]
    lock: NDArray[np.int64]


class RuleFacts(NamedTuple):
    """What kernels need of the rules beside their tables. *Shapes*: R roles, G goals, F fluents that tell the phase.

    `goal_value` (G,) in percent, those of role r from goal_start[r] on; `low` and `high` (R,) its limits. At
    each of the `n_phases` phases the fluents `known` have values of their own, `known_value` (phases * F,). What one
    role wins the other loses where the game `is_opposed`.
    """

    goal_value: NDArray[np.int32]
    goal_start: NDArray[np.int32]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    known: NDArray[np.int32]
    known_value: NDArray[np.uint64]
    n_phases: int
    n_roles: int
    chance: int
    is_opposed: int


@dataclass(frozen=True, slots=True)
class TreeSize:
    """How much room a tree has, and what it keeps of edges beside their walks."""

    n_nodes: int
    n_edges: int
    n_joint: int
    uses_amaf: bool
    uses_minimax: bool


@inlined
def next_block(n_edges):
    """Return the first edge of a node that gets its edges where there are so many in all."""
    return (n_edges + EDGES_A_LINE - 1) // EDGES_A_LINE * EDGES_A_LINE


@inlined
def node_at(t, node, column):
    """Return a column of a node of the tree at the addresses *t*."""
    return at(t.node, U(node) * t.width + U(column))


@inlined
def fetch_node(t, node):
    """Have the processor fetch what of a node a walk looks at."""
    prefetch(t.node, U(node) * t.width // U(2 * W))


@inlined
def put_node(t, node, column, value):
    """Set a column of a node."""
    put(t.node, U(node) * t.width + U(column), value)


@inlined
def edge_at(t, edge, column):
    """Return a column of an edge."""
    return at(t.edge, U(4) * U(edge) + U(column))


@inlined
def put_edge(t, edge, column, value):
    """Set a column of an edge."""
    put(t.edge, U(4) * U(edge) + U(column), value)


@inlined
def add_edge(t, edge, column, value):
    """Add to a column of an edge, which other threads may do as well."""
    add_to(t.edge, U(4) * U(edge) + U(column), np.int64(value))


@inlined
def move_at(t, edge):
    """Return the number of the move of an edge."""
    return at(t.move, U(edge))


@inlined
def amaf_at(t, edge, column):
    """Return a column of what plays say of an edge."""
    return float_at(t.amaf, U(3) * U(edge) + U(column))


@inlined
def put_amaf(t, edge, column, value):
    """Set a column of what plays say of an edge."""
    put_float(t.amaf, U(3) * U(edge) + U(column), value)


@inlined
def add_amaf(t, edge, column, value):
    """Add to a column of what plays say of an edge."""
    put_amaf(t, edge, column, amaf_at(t, edge, column) + np.float32(value))


@inlined
def pending(t, edge):
    """Return how many walks are on their way along an edge."""
    return at(t.amaf, U(3) * U(edge) + U(PENDING))


@inlined
def add_pending(t, edge, n_walks):
    """Count walks that are on their way along an edge, which other threads may do as well, as whole numbers."""
    add_to(t.amaf, U(3) * U(edge) + U(PENDING), np.int64(n_walks))


@inlined
def node_minimax(t, node):
    """Return what minimax says of a node, for the first role."""
    return float_at(t.node_minimax, U(node))


@inlined
def put_node_minimax(t, node, value):
    """Set what minimax says of a node."""
    put_float(t.node_minimax, U(node), value)


@inlined
def edge_minimax(t, edge):
    """Return what minimax says of an edge, for the role that chooses."""
    return float_at(t.edge_minimax, U(edge))


@inlined
def put_edge_minimax(t, edge, value):
    """Set what minimax says of an edge."""
    put_float(t.edge_minimax, U(edge), value)


@inlined
def high_of(limits):
    """Return the upper bound."""
    return (limits >> 8) & LOW


@inlined
def any_goal(f, r):
    """Return the bounds within which every goal of a role is."""
    return at(f.low, U(r)) | at(f.high, U(r)) << 8


def tree_size(
    rules: CompiledRules,
    memory_mb: float,
    n_moves: float,
    *,
    uses_amaf: bool,
    uses_minimax: bool,
    looks_ahead: bool = False,
) -> TreeSize:
    """Return the room for a tree of a game in which roles have *n_moves* moves in the mean.

    All nodes have edges where the search *looks_ahead*, else less than half of them.
    """
    n_roles = len(rules.goals)
    node_bytes = 8 * n_words(len(rules.fluents)) + 4 * _width(n_roles) + 4 * (4 if uses_minimax else 3)
    edges = 2 + (1.0 if looks_ahead else 0.4) * (n_moves + EDGES_A_LINE / 2)
    joint_bytes = 24 if n_roles > 1 else 0
    edge_bytes = 20 + 12 * uses_amaf + 4 * uses_minimax
    n_nodes = int(memory_mb * 2**20 / (node_bytes + edges * edge_bytes + joint_bytes))
    n_nodes = max(1_024, min(n_nodes, 2**30))
    n_edges = min(max(int(n_nodes * edges), 64 * len(rules.moves)), _MOST_EDGES)
    return TreeSize(n_nodes, n_edges, _power_of_two(n_nodes), uses_amaf, uses_minimax)


def empty_tree(rules: CompiledRules, size: TreeSize, rule: int) -> Tree:
    """Return a tree without nodes where roles choose at once by a *rule*; the system gives it memory as it grows."""
    words, width = n_words(len(rules.fluents)), _width(len(rules.goals))
    n_places = 2 * _power_of_two(size.n_nodes)
    return Tree(
        size=np.array([0, 1, 0]),
        width=width,
        n_words=words,
        table_mask=n_places - 1,
        joint_mask=2 * size.n_joint - 1,
        max_nodes=size.n_nodes,
        max_edges=size.n_edges,
        rule=rule,
        uses_amaf=int(size.uses_amaf),
        uses_minimax=int(size.uses_minimax),
        words=np.zeros((size.n_nodes, words), np.uint64),
        node=_lines(size.n_nodes, width),
        edge=_lines(size.n_edges + EDGES_A_LINE, 4),  # the last ones are read in fours, too
        move=np.zeros(size.n_edges, np.int32),
        table=np.zeros(n_places, np.int32),
        joint_key=np.zeros(2 * size.n_joint, np.uint64),
        joint_edge=np.zeros(2 * size.n_joint, np.int32),
        amaf=np.zeros((size.n_edges if size.uses_amaf else 0, 3), np.float32),
        node_minimax=np.zeros(size.n_nodes if size.uses_minimax else 0, np.float32),
        edge_minimax=np.zeros(size.n_edges + EDGES_A_LINE if size.uses_minimax else 0, np.float32),
        lock=np.zeros(8, np.int64),
    )


def bounded(goal: int) -> int:
    """Return *goal* as bounds tell it."""
    return min(max(goal, 0), MAX_GOAL)


def rule_facts(rules: CompiledRules, roles: Sequence[Role], *, is_opposed: bool) -> RuleFacts:
    """Return what kernels need of the *rules* of a game with these *roles* beside their tables."""
    values = [[EVEN if goal is None else bounded(goal) for goal in goals] for goals in rules.goals]
    # An end without exactly one goal counts as even; there is none where the goals of all ends have one sum.
    limits = values if is_opposed else [[*goals, EVEN] for goals in values]
    known = list(rules.phases[0].known)
    values_known = [phase.known[fluent] for phase in rules.phases for fluent in known]
    return RuleFacts(
        np.array([value for goals in values for value in goals], np.int32),
        np.cumsum([0, *map(len, values)]).astype(np.int32),
        np.array([min(goals, default=EVEN) for goals in limits], np.int32),
        np.array([max(goals, default=EVEN) for goals in limits], np.int32),
        np.array(known, np.int32),
        np.array([ONES if value else ZERO for value in values_known], np.uint64),
        len(rules.phases),
        len(roles),
        roles.index(RANDOM) if RANDOM in roles else NONE,
        int(is_opposed),
    )


def _lines(n: int, width: int) -> NDArray[np.int32]:
    """Return *n* rows of zeros, of which the first one begins a cache line."""
    n_words = n * width // 2
    return rows(-(-n_words // W)).reshape(-1)[:n_words].view(np.int32).reshape(n, width)


def _width(n_roles: int) -> int:
    """Return the columns of a node: whole cache lines, or parts of them that nodes do not cross."""
    needed = BOUNDS + 2 * n_roles
    return 8 if needed <= 8 else -(-needed // 16) * 16


def _power_of_two(n: int) -> int:
    return 1 << max(n - 1, 1).bit_length()
