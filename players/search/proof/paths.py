"""Ways down through the states of a proof-number search, several at once, which share a table.

A node of which it is not known has two numbers: about how many states have to be looked at to prove it, and to disprove
it. What is proven has 0 and INFINITE, what is disproven INFINITE and 0. The table has the numbers of each state, and
how many paths lead through it: another path prefers what none is at work on.
Source of the latter: Kaneko, "Parallel depth first proof number search", 2010, virtual proof numbers.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels.jit import inlined, subroutine
from gdl.compiler.kernels.lanes import N_LANES
from gdl.compiler.kernels.packing import copy_words
from gdl.compiler.kernels.words import ONE, ZERO, U, at, put, put_word, word_at
from players.search.expansion.room import MAX_PARTS
from players.search.expansion.table import NO_PLACE, entry_of, fetch, find, keep, key_of
from players.search.proof.numbers import INFINITE

MAX_NUMBER: Final = INFINITE - 1
MAX_DEPTH: Final = 500
MAX_CHILDREN: Final = 100_000
"""Of all nodes on all paths together, each path having an equal part."""

FIRST: Final = 0
N: Final = 1
IS_OR: Final = 2
PROOF_LIMIT: Final = 3
DISPROOF_LIMIT: Final = 4
BEST: Final = 5
WORK: Final = 6
_N_FIELDS: Final = 7
_SHIFT: Final = 24
_LOW: Final = U(INFINITE)
_EFFORT_SHIFT: Final = U(48)
_EFFORT_BITS: Final = U(0xFF << 48)
_MOST_EFFORT: Final = U(60)
_BUSY_SHIFT: Final = U(56)
_WORTH_BITS: Final = U(0xFFFF << 48)
"""The bits of an entry that say how much it is worth: how many paths lead through it, then the work that it took."""


class Paths(NamedTuple):
    """The nodes on all paths, and their children, which kernels read and write by addresses, *p*.

    *Shapes*: P = 8 paths, D levels, C children of all, S words a state. Of each path `depth` (P,), where it stands, and
    its part of `node` (P * D, fields), `key` (P * D,), `words` (P * D, S), and of `child_key` (C,), `child_number` (C,
    2) proof and disproof number, `child_move` (C,), `child_words` (C, S).
    """

    depth: NDArray[np.int32]
    node: NDArray[np.uint64]
    key: NDArray[np.uint64]
    words: NDArray[np.uint64]
    child_key: NDArray[np.uint64]
    child_number: NDArray[np.int32]
    child_move: NDArray[np.int32]
    child_words: NDArray[np.uint64]
    n_state: int


class NodeSum(NamedTuple):
    """What the children of a node come to.

    That are its numbers, the child to go on with, the number of the second best one, how many children are open, and
    the number of the child to go on with, as paths see it.
    """

    proof: int
    disproof: int
    chosen: int
    second: int
    n_open: int
    least: int


def paths_for(n_state: int) -> Paths:
    """Return room for paths through states of *n_state* words; the system gives it memory as they grow."""
    n_levels, n_children = MAX_PARTS * MAX_DEPTH, MAX_CHILDREN
    return Paths(
        depth=np.zeros(MAX_PARTS, np.int32),
        node=np.zeros((n_levels, _N_FIELDS), np.uint64),
        key=np.zeros(n_levels, np.uint64),
        words=np.zeros((n_levels, n_state), np.uint64),
        child_key=np.zeros(n_children, np.uint64),
        child_number=np.zeros((n_children, 2), np.int32),
        child_move=np.zeros(n_children, np.int32),
        child_words=np.zeros((n_children, n_state), np.uint64),
        n_state=n_state,
    )


@inlined
def node_at(p, level, field):
    """Return a field of a node."""
    return np.int64(word_at(p.node, U(level * _N_FIELDS + field)))


@inlined
def put_node(p, level, field, value):
    """Set a field of a node."""
    put_word(p.node, U(level * _N_FIELDS + field), U(value))


@inlined
def _n_paths_of(entry):
    """Return how many paths lead through the state of an entry."""
    return np.int64(entry >> _BUSY_SHIFT)


@inlined
def remember(b, key, proof, disproof, work, n_paths):
    """Keep the numbers of *key* in the table, in the place of what is worth least; *n_paths* more lead through it."""
    entry, effort = entry_of(b, key), ZERO
    n_busy = max(_n_paths_of(entry) + n_paths, 0)
    while U(work) >> effort != ZERO and effort < _MOST_EFFORT:
        effort += ONE
    effort = max(effort, (entry & _EFFORT_BITS) >> _EFFORT_SHIFT) if n_paths > 0 else effort
    entry = U(n_busy) << _BUSY_SHIFT | effort << _EFFORT_SHIFT | U(disproof) << U(_SHIFT) | U(proof)
    keep(b, key, entry, _WORTH_BITS)


@subroutine
def leave(b, key):
    """Let one path less lead through *key*; its numbers stay."""
    place = find(b, key)
    if place != NO_PLACE:
        entry = word_at(b.rows, U(place))
        if entry >> _BUSY_SHIFT != ZERO:
            put_word(b.rows, U(place), entry - (ONE << _BUSY_SHIFT))


@subroutine
def leave_all(p, b, n_parts):
    """Let the table forget that paths lead through its states."""
    for path in range(n_parts):
        first = path * MAX_DEPTH + 1
        for level in range(first, first + at(p.depth, U(path))):
            leave(b, word_at(p.key, U(level)))
        put(p.depth, U(path), 0)


@inlined
def fill(r, p, b, path, n_paths, role, salt):
    """Give the node where a path stands the children that the room has; return whether there is room for them."""
    n, n_children, n_state = at(r.n, U(path)), MAX_CHILDREN // n_paths, np.int64(p.n_state)
    depth, first_lane = at(p.depth, U(path)), path * (N_LANES // n_paths)
    level, first = path * MAX_DEPTH + depth, path * n_children
    if depth > 0:
        first = node_at(p, level - 1, FIRST) + node_at(p, level - 1, N)
    is_fit = first + n <= (path + 1) * n_children
    if is_fit:
        put_node(p, level, FIRST, first)
        put_node(p, level, N, n)
        put_node(p, level, WORK, 1)
        put_node(p, level, IS_OR, np.int64(at(r.decider, U(path)) == role))
        for i in range(n):
            child, item = first + i, first_lane + i
            key = key_of(r.words, item * n_state, n_state, salt)
            fetch(b, key)
            put_word(p.child_key, U(child), key)
            put(p.child_move, U(child), at(r.moves, U(item)))
            copy_words(p.child_words, child * n_state, r.words, item * n_state, n_state)
            put(p.child_number, U(2 * child), at(r.numbers, U(2 * item)))
            put(p.child_number, U(2 * child + 1), at(r.numbers, U(2 * item + 1)))
    return is_fit


@inlined
def sum_up(p, b, level):
    """Return what the children of the node at a level come to; those that the table knows better, anew."""
    first, own = node_at(p, level, FIRST), 0 if node_at(p, level, IS_OR) else 1
    other = 1 - own
    least, second, best, chosen, theirs_of_chosen = INFINITE + 1, INFINITE, INFINITE, -1, INFINITE + 1
    greatest, n_open = 0, 0
    for child in range(first, first + node_at(p, level, N)):
        n_busy, pair = 0, 2 * child
        if at(p.child_number, U(pair)) > 0 and at(p.child_number, U(pair + 1)) > 0:
            entry = entry_of(b, word_at(p.child_key, U(child)))
            if entry != ZERO:
                put(p.child_number, U(pair), np.int64(entry & _LOW))
                put(p.child_number, U(pair + 1), np.int64((entry >> U(_SHIFT)) & _LOW))
                n_busy = _n_paths_of(entry)
        mine, theirs = at(p.child_number, U(pair + own)), at(p.child_number, U(pair + other))
        best = min(best, mine)
        is_shared = n_busy > 0 and 0 < mine < INFINITE
        seen = min(mine + n_busy * (1 + (mine >> 3)), MAX_NUMBER) if is_shared else mine
        if seen < least or (seen == least and theirs < theirs_of_chosen):
            second = min(second, least)
            least, chosen, theirs_of_chosen = seen, child, theirs
        elif seen < second:
            second = seen
        if theirs > 0:
            greatest = max(greatest, theirs)
            n_open += 1
    ours, others = min(best, MAX_NUMBER), min(greatest + n_open - 1, MAX_NUMBER)
    if best == 0:
        ours, others = 0, INFINITE
    elif n_open == 0:
        ours, others = INFINITE, 0
    return NodeSum(others if own else ours, ours if own else others, chosen, second, n_open, least)
