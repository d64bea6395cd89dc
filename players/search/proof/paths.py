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
from gdl.compiler.kernels.words import ONE, ZERO, U
from players.search.proof.expansion import INFINITE
from players.search.proof.successors import MAX_PARTS
from players.search.proof.table import NO_PLACE, find, keep, key_of, row_of

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
    """The nodes on all paths, and their children. *Shapes*: P = 8 paths, D levels, C children of all, S words a state.

    Of each path `depth` (P,), where it stands, and its part of `node` (P * D, fields), `key` (P * D,), `words` (P * D,
    S), and of `child_key` (C,), `child_number` (C, 2) proof and disproof number, `child_move` (C,), `child_words` (C,
    S). `found` (6,) is what `sum_up` finds.
    """

    depth: NDArray[np.int64]
    node: NDArray[np.int64]
    key: NDArray[np.uint64]
    words: NDArray[np.uint64]
    child_key: NDArray[np.uint64]
    child_number: NDArray[np.int64]
    child_move: NDArray[np.int32]
    child_words: NDArray[np.uint64]
    found: NDArray[np.int64]


PROOF: Final = 0
DISPROOF: Final = 1
CHOSEN: Final = 2
SECOND: Final = 3
N_OPEN: Final = 4
LEAST: Final = 5
"""What `found` has of a node: its numbers, the child to go on with, the number of the second best one, how many
children are open, and the number of the child to go on with, as paths see it.
"""


def paths_for(state_words: int) -> Paths:
    """Return room for paths through states of *state_words* words; the system gives it memory as they grow."""
    n_levels, n_children = MAX_PARTS * MAX_DEPTH, MAX_CHILDREN
    return Paths(
        depth=np.zeros(MAX_PARTS, np.int64),
        node=np.zeros((n_levels, _N_FIELDS), np.int64),
        key=np.zeros(n_levels, np.uint64),
        words=np.zeros((n_levels, state_words), np.uint64),
        child_key=np.zeros(n_children, np.uint64),
        child_number=np.zeros((n_children, 2), np.int64),
        child_move=np.zeros(n_children, np.int32),
        child_words=np.zeros((n_children, state_words), np.uint64),
        found=np.zeros(6, np.int64),
    )


@inlined
def _entry_of(table, key):
    """Return the entry of a key, zero where there is none."""
    row = row_of(table, key)
    column = find(table, row, key)
    return table[row, column] if column != NO_PLACE else ZERO


@inlined
def remember(table, key, proof, disproof, work, n_paths):
    """Keep the numbers of *key* in the table, in the place of what is worth least; *n_paths* more lead through it."""
    entry, effort = _entry_of(table, key), ZERO
    n_busy = max(np.int64(entry >> _BUSY_SHIFT) + n_paths, 0)
    while U(work) >> effort != ZERO and effort < _MOST_EFFORT:
        effort += ONE
    effort = max(effort, (entry & _EFFORT_BITS) >> _EFFORT_SHIFT) if n_paths > 0 else effort
    entry = U(n_busy) << _BUSY_SHIFT | effort << _EFFORT_SHIFT | U(disproof) << U(_SHIFT) | U(proof)
    keep(table, row_of(table, key), key, entry, _WORTH_BITS)


@subroutine
def leave(table, key):
    """Let one path less lead through *key*; its numbers stay."""
    row = row_of(table, key)
    column = find(table, row, key)
    if column != NO_PLACE and table[row, column] >> _BUSY_SHIFT != ZERO:
        table[row, column] -= ONE << _BUSY_SHIFT


@subroutine
def leave_all(paths, table, n_parts):
    """Let the table forget that paths lead through its states."""
    for path in range(n_parts):
        for level in range(path * MAX_DEPTH + 1, path * MAX_DEPTH + paths.depth[path] + 1):
            leave(table, paths.key[level])
        paths.depth[path] = 0


@inlined
def fill(room, paths, path, n_paths, role, salt):
    """Give the node where a path stands the children that *room* has; return whether there is room for them."""
    n, node, n_children = room.n[path], paths.node, MAX_CHILDREN // n_paths
    level, first_lane = path * MAX_DEPTH + paths.depth[path], path * (N_LANES // n_paths)
    first = path * n_children if paths.depth[path] == 0 else node[level - 1, FIRST] + node[level - 1, N]
    is_fit = first + n <= (path + 1) * n_children
    if is_fit:
        node[level, FIRST], node[level, N], node[level, WORK] = first, n, 1
        node[level, IS_OR] = room.decider[path] == role
        for i in range(n):
            child, found = first + i, first_lane + i
            paths.child_move[child] = room.moves[found]
            for s in range(paths.child_words.shape[1]):
                paths.child_words[child, s] = room.words[found, s]
            paths.child_key[child] = key_of(room.words, found, salt)
            paths.child_number[child, 0] = room.numbers[found, 0]
            paths.child_number[child, 1] = room.numbers[found, 1]
    return is_fit


@inlined
def sum_up(paths, table, level):
    """Write into `found` what the children of the node at a level come to; those that the table knows better, anew."""
    first, found, number = paths.node[level, FIRST], paths.found, paths.child_number
    own = 0 if paths.node[level, IS_OR] else 1
    other = 1 - own
    least, second, best, chosen, theirs_of_chosen = INFINITE + 1, INFINITE, INFINITE, -1, INFINITE + 1
    greatest, n_open = 0, 0
    for child in range(first, first + paths.node[level, N]):
        n_busy = np.int64(0)
        if number[child, 0] > 0 and number[child, 1] > 0:
            entry = _entry_of(table, paths.child_key[child])
            if entry != ZERO:
                number[child, 0] = np.int64(entry & _LOW)
                number[child, 1] = np.int64((entry >> U(_SHIFT)) & _LOW)
                n_busy = np.int64(entry >> _BUSY_SHIFT)
        mine, theirs = number[child, own], number[child, other]
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
    if best == 0:
        found[own], found[other] = 0, INFINITE
    elif n_open == 0:
        found[own], found[other] = INFINITE, 0
    else:
        found[own] = min(best, MAX_NUMBER)
        found[other] = min(greatest + n_open - 1, MAX_NUMBER)
    found[CHOSEN], found[SECOND], found[N_OPEN], found[LEAST] = chosen, second, n_open, least
