"""The kernel of depth-first proof-number search: it decides whether a role can be sure of a goal.

*Source*: Nagai, "Df-pn algorithm for searching AND/OR trees and its applications", 2002; the sums are those of weak
proof-number search (Ueda et al., 2008), which count what several ways lead to once, and thresholds grow by a quarter
(Pawlewicz and Lew, "Improving depth-first PN-search: 1 + epsilon trick", 2006).

A node of which it is not known has two numbers: about how many states have to be looked at to prove it, and to disprove
it. What is proven has 0 and INFINITE, what is disproven INFINITE and 0.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels.jit import kernel, subroutine
from gdl.compiler.kernels.words import U
from players.search.proof.expansion import INFINITE, expand
from players.search.proof.table import NO_PLACE, find, keep, key_of, row_of

_MAX_NUMBER: Final = INFINITE - 1
MAX_DEPTH: Final = 500
MAX_CHILDREN: Final = 100_000
"""Of all nodes on a way together."""

DECIDED: Final = 1
UNDECIDED: Final = 0
TOO_DEEP: Final = -4
"""What `descend` returns besides the refusals of `expand`: there is an answer, the budget ended, or no end is near."""

FIRST: Final = 0
N: Final = 1
_IS_OR: Final = 2
_PROOF_LIMIT: Final = 3
_DISPROOF_LIMIT: Final = 4
_BEST: Final = 5
_WORK: Final = 6
_N_FIELDS: Final = 7

_SHIFT: Final = 24
_LOW: Final = U(INFINITE)
_WORK_BITS: Final = U(0xFFFF << 2 * _SHIFT)


class Path(NamedTuple):
    """The nodes on the way down, and their children. *Shapes*: D levels, C children, S words a state.

    `node` (D, fields), `key` (D,), `words` (D, S); `child_key` (C,), `child_number` (C, 2) proof and disproof number,
    `child_move` (C,), `child_words` (C, S).
    """

    node: NDArray[np.int64]
    key: NDArray[np.uint64]
    words: NDArray[np.uint64]
    child_key: NDArray[np.uint64]
    child_number: NDArray[np.int64]
    child_move: NDArray[np.int32]
    child_words: NDArray[np.uint64]


def path_for(n_words: int) -> Path:
    """Return room for a way down through states of *n_words*."""
    return Path(
        node=np.zeros((MAX_DEPTH, _N_FIELDS), np.int64),
        key=np.zeros(MAX_DEPTH, np.uint64),
        words=np.zeros((MAX_DEPTH, n_words), np.uint64),
        child_key=np.zeros(MAX_CHILDREN, np.uint64),
        child_number=np.zeros((MAX_CHILDREN, 2), np.int64),
        child_move=np.zeros(MAX_CHILDREN, np.int32),
        child_words=np.zeros((MAX_CHILDREN, n_words), np.uint64),
    )


@subroutine
def _look_up(table, key, numbers):
    """Write the numbers that the table has for *key*, if there are any."""
    row = row_of(table, key)
    column = find(table, row, key)
    if column != NO_PLACE:
        entry = table[row, column]
        numbers[0] = np.int64(entry & _LOW)
        numbers[1] = np.int64((entry >> U(_SHIFT)) & _LOW)


@subroutine
def _remember(table, key, proof, disproof, work):
    """Keep the numbers of *key* in the table, in the place of what took least work."""
    effort = 0
    while work > 0 and effort < 60:
        work >>= 1
        effort += 1
    entry = U(effort) << U(2 * _SHIFT) | U(disproof) << U(_SHIFT) | U(proof)
    keep(table, row_of(table, key), key, entry, _WORK_BITS)


@subroutine
def _open(tables, goal_wins, goal_first, room, table, path, depth, role, salt):
    """Fill in the node at *depth*, whose words are there; return how many children it has, or a refusal."""
    n = expand(tables, goal_wins, goal_first, role, room, path.words[depth])
    if n <= 0:
        return n
    node = path.node[depth]
    first = 0 if depth == 0 else path.node[depth - 1, FIRST] + path.node[depth - 1, N]
    if first + n > MAX_CHILDREN:
        return TOO_DEEP
    is_or = room.decider[0] == role
    node[FIRST], node[N], node[_IS_OR], node[_WORK] = first, n, is_or, 1
    for i in range(n):
        child, numbers = first + i, path.child_number[first + i]
        path.child_move[child] = room.moves[i]
        for s in range(path.child_words.shape[1]):
            path.child_words[child, s] = room.words[i, s]
        path.child_key[child] = key_of(room.words[i], salt)
        numbers[0], numbers[1] = room.numbers[i, 0], room.numbers[i, 1]
        if numbers[0] > 0 and numbers[1] > 0:
            _look_up(table, path.child_key[child], numbers)
    return n


@subroutine
def _summed(path, depth, found):
    """Write into *found* the numbers of the node at *depth*, its best child, and the number of the second best."""
    node = path.node[depth]
    own, other = (0, 1) if node[_IS_OR] else (1, 0)
    least, second, best = INFINITE + 1, INFINITE, -1
    greatest, n_open = 0, 0
    for child in range(node[FIRST], node[FIRST] + node[N]):
        mine, theirs = path.child_number[child, own], path.child_number[child, other]
        if mine < least or (mine == least and theirs < path.child_number[best, other]):
            second = min(second, least)
            least, best = mine, child
        elif mine < second:
            second = mine
        if theirs > 0:
            greatest = max(greatest, theirs)
            n_open += 1
    if least == 0:
        found[own], found[other] = 0, INFINITE
    elif n_open == 0:
        found[own], found[other] = INFINITE, 0
    else:
        found[own] = min(least, _MAX_NUMBER)
        found[other] = min(greatest + n_open - 1, _MAX_NUMBER)
    found[2], found[3], found[4] = best, second, n_open


@kernel
def descend(tables, goal_wins, goal_first, room, table, path, role, salt, max_nodes, result):
    """Search from the state at the root of *path* until it is decided or *max_nodes* states were expanded.

    `result` gets the proof and disproof numbers of the root, its best move, and how many states were expanded.
    """
    found = np.zeros(5, np.int64)
    root = path.node[0]
    path.key[0] = key_of(path.words[0], salt)
    state = _open(tables, goal_wins, goal_first, room, table, path, 0, role, salt)
    root[_PROOF_LIMIT] = root[_DISPROOF_LIMIT] = INFINITE
    depth, n_nodes = 0, 1
    while state > 0:
        node = path.node[depth]
        _summed(path, depth, found)
        is_done = found[0] >= node[_PROOF_LIMIT] or found[1] >= node[_DISPROOF_LIMIT]
        if is_done or n_nodes >= max_nodes:
            _remember(table, path.key[depth], found[0], found[1], node[_WORK])
            if depth == 0:
                break
            depth -= 1
            child = path.node[depth, _BEST]
            path.child_number[child, 0], path.child_number[child, 1] = found[0], found[1]
            path.node[depth, _WORK] += node[_WORK]
            continue
        child = found[2]
        node[_BEST] = child
        if depth + 1 >= MAX_DEPTH:
            state = TOO_DEEP
            break
        below = path.node[depth + 1]
        own, other = (0, 1) if node[_IS_OR] else (1, 0)
        limits = (node[_PROOF_LIMIT], node[_DISPROOF_LIMIT])
        below[_PROOF_LIMIT + own] = min(limits[own], found[3] + 1 + found[3] // 4)
        below[_PROOF_LIMIT + other] = limits[other] - (found[4] - 1)
        depth += 1
        path.key[depth] = path.child_key[child]
        for s in range(path.words.shape[1]):
            path.words[depth, s] = path.child_words[child, s]
        state = _open(tables, goal_wins, goal_first, room, table, path, depth, role, salt)
        n_nodes += 1
    result[0], result[1], result[2], result[3] = found[0], found[1], -1, n_nodes
    if state <= 0:
        return state
    if found[2] >= 0:
        result[2] = path.child_move[found[2]]
    return DECIDED if found[0] == 0 or found[1] == 0 else UNDECIDED
