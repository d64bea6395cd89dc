"""A step of many copies of a game: each moves, by the arrays of its circuit, in lanes of those that stand at one phase.

What a copy is between steps is a row of words; lanes are filled from them and written back. Chance moves follow until
a player has a choice, and ended plays begin anew where that is wanted.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels.choice import literal
from gdl.compiler.kernels.jit import inlined, kernel, subroutine
from gdl.compiler.kernels.lanes import N_LANES, _advance, _evaluate
from gdl.compiler.kernels.words import (
    ONE,
    ZERO,
    U,
    W,
    and_,
    any_bit,
    at,
    broadcast,
    load,
    lowest_bit,
    n_bits,
    or_,
    put,
    put_float,
    put_word,
    store,
    word_at,
)
from gdl.compiler.tables import Tables
from players.environments.kernels.cells import byte_at, copy_words, put_byte, transpose

DONE: Final = 0
SEVERAL_MOVE: Final = 1
"""Two players have a choice in one state: the game is none of turns."""
ENDLESS: Final = 2
"""Chance moves go on for ever."""

STEP: Final = 0
RESET: Final = 1
SETTLE: Final = 2

_MAX_CHANCE_STEPS: Final = 10_000


class Rulebook(NamedTuple):
    """What numbers mean. *Shapes*: P phases, R players, G groups of actions, A actions of a group at most.

    `column_start` (P * C + 1,) limits the literals of which one makes an action of the C columns legal, `mover_start`
    (P * (R + 1) + 1,) those that make a player, or chance, have a choice. `action_row` (R, A) and `chance_row` are rows
    of moves, `waiting_row` (P, R) that of the waiting move, 0 where it need not be set; `waiting_column` (G,) is its
    number among the actions, or -1. `group_word` (G + 2,) limits the words of each group, chance being the last.
    `known_start` (P + 1,) limits the fluents that a phase says: twice the row, and one where it is false.
    `goal_start` (R + 1,) limits `goal_column` and `goal`.
    `percept_start` (R + 1,) limits the percepts of each player, and `memory_word` is where they begin in its memory.
    """

    column_start: NDArray[np.int32]
    column_literal: NDArray[np.int32]
    mover_start: NDArray[np.int32]
    mover_literal: NDArray[np.int32]
    action_row: NDArray[np.int32]
    chance_row: NDArray[np.int32]
    waiting_row: NDArray[np.int32]
    waiting_column: NDArray[np.int32]
    group_word: NDArray[np.int32]
    group_size: NDArray[np.int32]
    known_start: NDArray[np.int32]
    known: NDArray[np.int32]
    goal_start: NDArray[np.int32]
    goal_column: NDArray[np.int32]
    goal: NDArray[np.int32]
    percept_start: NDArray[np.int32]
    percept: NDArray[np.int32]
    only_mover: NDArray[np.int32]
    n_phases: int
    n_players: int
    n_groups: int
    n_columns: int
    memory_word: int
    n_goals: int
    is_flat: int
    has_chance: int
    auto_resets: int
    seed: int


class Copies(NamedTuple):
    """The copies, one row each. *Shapes*: N copies, S and L words of states and legal actions, M words of memory.

    `memory` (N * R, 2 * M) is what a player did and perceived since its last move, and in the whole play.
    """

    states: NDArray[np.uint64]
    legal: NDArray[np.uint64]
    phase: NDArray[np.int32]
    mover: NDArray[np.int32]
    is_chance: NDArray[np.int32]
    is_over: NDArray[np.bool_]
    ended: NDArray[np.bool_]
    rewards: NDArray[np.float32]
    goals: NDArray[np.int32]
    memory: NDArray[np.uint64]


class Initial(NamedTuple):
    """The copy that all begin as: rows of one, as in Copies."""

    states: NDArray[np.uint64]
    legal: NDArray[np.uint64]
    phase: NDArray[np.int32]
    mover: NDArray[np.int32]
    is_chance: NDArray[np.int32]


class StepRoom(NamedTuple):
    """Room of one thread.

    *Shapes*: `values` (rows, W), `columns` (columns, W), `extra` (., W), `next` (fluents + 1, W); numbers of copies:
    `numbers` (512,) those in the lanes, `active`, `order` and `again` (copies of the thread,); `moved` rows of moves
    made; `starts` (2 * phases + 1,); `square` (8, W) bits to be transposed.
    """

    values: NDArray[np.uint64]
    columns: NDArray[np.uint64]
    extra: NDArray[np.uint64]
    next: NDArray[np.uint64]
    numbers: NDArray[np.int32]
    active: NDArray[np.int32]
    order: NDArray[np.int32]
    again: NDArray[np.int32]
    moved: NDArray[np.int32]
    starts: NDArray[np.int32]
    square: NDArray[np.uint64]


class TableAddresses(NamedTuple):
    """The fields of Tables, arrays by address."""

    n_rows: int
    n_fluents: int
    n_inputs: int
    segments: int
    parts: int
    run_start: int
    runs: int
    gate_start: int
    gate_middle: int
    gate_row: int
    gate_input: int
    loop_row: int
    loop_value: int
    copy_start: int
    copy_row: int
    copy_value: int
    role_start: int
    choice_legal: int
    choice_row: int
    block_start: int
    block_legal: int
    block_row: int
    terminal: int
    goal_value: int
    sees_value: int


_N_TABLES: Final = len(TableAddresses._fields)
_N_SIZES: Final = 4
STATE_WORDS, LEGAL_WORDS, MEMORY_WORDS, N_ACTIONS = (U(_N_TABLES + i) for i in range(_N_SIZES))
"""Fields of a plan: words of a state, of legal actions and of a player's memory, and A."""
(
    COLUMN_START, COLUMN_LITERAL, MOVER_START, MOVER_LITERAL, ACTION_ROW, CHANCE_ROW, WAITING_ROW, WAITING_COLUMN,
    GROUP_WORD, GROUP_SIZE, KNOWN_START, KNOWN, GOAL_START, GOAL_COLUMN, GOAL, PERCEPT_START, PERCEPT, ONLY_MOVER,
    N_PHASES, N_PLAYERS, N_GROUPS, N_COLUMNS, MEMORY_WORD, N_GOALS, IS_FLAT, HAS_CHANCE, AUTO_RESETS, SEED,
    STATES, LEGAL, PHASE, MOVER, IS_CHANCE, IS_OVER, ENDED, REWARDS, GOALS, MEMORY,
    FIRST_STATE, FIRST_LEGAL, FIRST_PHASE, FIRST_MOVER, FIRST_IS_CHANCE,
    VALUES, COLUMNS, EXTRA, NEXT, NUMBERS, ACTIVE, ORDER, AGAIN, MOVED, STARTS, SQUARE,
) = (U(_N_TABLES + _N_SIZES + i) for i in range(54))  # fmt: skip
"""Fields of a plan: those of Rulebook, Copies, Initial and StepRoom, arrays by address."""


def plan_of(tables: Tables, book: Rulebook, copies: Copies, initial: Initial, room: StepRoom) -> NDArray[np.uint64]:
    """Return all that a kernel reads and writes, as numbers and addresses; it is good while the arguments live."""
    sizes = (copies.states.shape[1], copies.legal.shape[1], copies.memory.shape[1], book.action_row.shape[1])
    fields: list[Any] = [*tables, *sizes, *book, *copies, *initial, *room]
    numbers = [field.ctypes.data if isinstance(field, np.ndarray) else field for field in fields]
    return np.array(numbers, np.uint64)


@inlined
def _tables(p):
    """Return the tables of a plan as the engine's kernels read them."""
    return TableAddresses(
        word_at(p, U(0)), word_at(p, U(1)), word_at(p, U(2)), word_at(p, U(3)), word_at(p, U(4)),
        word_at(p, U(5)), word_at(p, U(6)), word_at(p, U(7)), word_at(p, U(8)), word_at(p, U(9)),
        word_at(p, U(10)), word_at(p, U(11)), word_at(p, U(12)), word_at(p, U(13)), word_at(p, U(14)),
        word_at(p, U(15)), word_at(p, U(16)), word_at(p, U(17)), word_at(p, U(18)), word_at(p, U(19)),
        word_at(p, U(20)), word_at(p, U(21)), word_at(p, U(22)), word_at(p, U(23)), word_at(p, U(24)),
    )  # fmt: skip


@subroutine
def _run(p, phase, part):
    _evaluate(word_at(p, VALUES), _tables(p), phase, part)


@subroutine
def _go_on(p, phase):
    _advance(word_at(p, VALUES), _tables(p), phase, word_at(p, NEXT))


@inlined
def _size(p, field):
    """Return a number of a plan, signed as numbers of loops are."""
    return np.int64(word_at(p, field))


@inlined
def _is_in(p, rows, row, lane):
    """Return whether a lane's bit is set in a row."""
    return (word_at(word_at(p, rows), U(W * row + (lane >> 6))) >> U(lane & 63)) & ONE != ZERO


@inlined
def _scrambled(x):
    """Return a number whose bits all depend on all bits of *x*.

    Source: Steele, Lea and Flood 2014, SplitMix.
    """
    x ^= x >> U(30)
    x *= U(0xBF58476D1CE4E5B9)
    x ^= x >> U(27)
    x *= U(0x94D049BB133111EB)
    return x ^ (x >> U(31))


@inlined
def key_of(seed, count, purpose):
    """Return what the random bits of a call depend on beside the copy."""
    return _scrambled(_scrambled(U(seed) + U(purpose) * U(0xD1342543DE82EF95)) + U(count) * U(0x9E3779B97F4A7C15))


@inlined
def bits_of(key, copy):
    """Return 64 random bits that depend on nothing but the arguments."""
    return _scrambled(key + U(copy) * U(0x9E3779B97F4A7C15))


@inlined
def _halved(x, left, shift, width):
    """Go on with the half of a word of twice *width* bits in which the bit is that is sought, without a jump."""
    low = n_bits(x & ((ONE << U(width)) - ONE))
    is_high = np.int64(left >= low)
    return x >> U(width * is_high), left - low * is_high, shift + width * is_high


@inlined
def _place_of(x, left):
    """Return the number of the bit that is set in a word after *left* others."""
    x, left, shift = _halved(x, left, 0, 32)
    x, left, shift = _halved(x, left, shift, 16)
    x, left, shift = _halved(x, left, shift, 8)
    x, left, shift = _halved(x, left, shift, 4)
    x, left, shift = _halved(x, left, shift, 2)
    x, left, shift = _halved(x, left, shift, 1)
    return shift


@inlined
def picked(words, first, last, bits):
    """Return the number of a bit that is set in words first..last, each equally likely; -1 where none is."""
    n = np.int64(0)
    for w in range(first, last):
        n += n_bits(word_at(words, U(w)))
    left, found = np.int64(((bits >> U(32)) * U(n)) >> U(32)), np.int64(-1)
    for w in range(first, last):
        x = word_at(words, U(w))
        here = n_bits(x)
        if left < here:
            found = 64 * (w - first) + _place_of(x, left)
            break
        left -= here
    return found


@subroutine
def _load(p, n):
    """Fill the lanes with the states of the copies in `numbers`."""
    a, states, values, numbers = word_at(p, SQUARE), word_at(p, STATES), word_at(p, VALUES), word_at(p, NUMBERS)
    n_words, n_fluents = _size(p, STATE_WORDS), _size(p, ONE)
    for k in range((n + 63) >> 6):
        here = min(64, n - 64 * k)
        for s in range(n_words):
            for i in range(here):
                put_word(a, U(i), word_at(states, U(at(numbers, U(64 * k + i)) * n_words + s)))
            for i in range(here, 64):
                put_word(a, U(i), ZERO)
            transpose(a)
            for j in range(min(64, n_fluents - 64 * s)):
                put_word(values, U(W * (1 + 64 * s + j) + k), word_at(a, U(j)))


@subroutine
def _scatter(p, rows, n, out, width, offset, n_lanes, scale, shift, keep):
    """Write *n* rows of lanes to words of rows `numbers * scale + shift`, from word *offset* on, of *width* each."""
    a, numbers = word_at(p, SQUARE), word_at(p, NUMBERS)
    for k in range((n_lanes + 63) >> 6):
        for s in range((n + 63) >> 6):
            here = min(64, n - 64 * s)
            for j in range(here):
                put_word(a, U(j), word_at(rows, U(W * (64 * s + j) + k)))
            for j in range(here, 64):
                put_word(a, U(j), ZERO)
            transpose(a)
            for i in range(min(64, n_lanes - 64 * k)):
                place = U((at(numbers, U(64 * k + i)) * scale + shift) * width + offset + s)
                put_word(out, place, (word_at(out, place) & keep) | word_at(a, U(i)))


@inlined
def _any_of(val, literals, begin, end):
    x = broadcast(ZERO)
    for i in range(begin, end):
        x = or_(x, literal(val, at(literals, U(i))))
    return x


@inlined
def _set(p, row, lane, n_moved):
    values = word_at(p, VALUES)
    place = U(W * row + (lane >> 6))
    put_word(values, place, word_at(values, place) | (ONE << U(lane & 63)))
    put(word_at(p, MOVED), U(n_moved), row)
    return n_moved + 1


@subroutine
def _make_moves(p, phase, n, actions, count, by_chance):
    """Set the rows of the moves that the lanes make; return how many rows that are, each listed in `moved`."""
    n_moved, n_players, n_groups = 0, _size(p, N_PLAYERS), _size(p, N_GROUPS)
    is_flat, has_chance, has_memory = word_at(p, IS_FLAT) != ZERO, word_at(p, HAS_CHANCE), word_at(p, MEMORY_WORD)
    n_actions, legal_words = _size(p, N_ACTIONS), _size(p, LEGAL_WORDS)
    for r in range(n_players):
        waiting, group = at(word_at(p, WAITING_ROW), U(phase * n_players + r)), 0 if is_flat else r
        for lane in range(n):
            copy = at(word_at(p, NUMBERS), U(lane))
            if not by_chance and (not is_flat or at(word_at(p, MOVER), U(copy)) == r):
                action = at(actions, U(copy * n_groups + group))
                if has_memory != ZERO and action != at(word_at(p, WAITING_COLUMN), U(group)):
                    _remember(p, copy * n_players + r, action)
                n_moved = _set(p, at(word_at(p, ACTION_ROW), U(r * n_actions + action)), lane, n_moved)
            elif waiting:
                n_moved = _set(p, waiting, lane, n_moved)
    if has_chance != ZERO:
        word, key = at(word_at(p, GROUP_WORD), U(n_groups)), key_of(word_at(p, SEED), count, ZERO)
        n_words = at(word_at(p, GROUP_WORD), U(n_groups + 1)) - word
        for lane in range(n):
            copy = at(word_at(p, NUMBERS), U(lane))
            bits = bits_of(key, copy)
            legal = word_at(p, LEGAL) + U(8 * (copy * legal_words + word))
            row = at(word_at(p, CHANCE_ROW), U(max(0, picked(legal, 0, n_words, bits))))
            n_moved = _set(p, row, lane, n_moved)
    return n_moved


@inlined
def _remember(p, player, action):
    """Note that a player has moved: what it knew since its last move becomes the past."""
    memory, width = word_at(p, MEMORY), _size(p, MEMORY_WORDS)
    first = player * width
    for w in range(width >> 1):
        put_word(memory, U(first + w), ZERO)
    bit = ONE << U(action & 63)
    put_word(memory, U(first + (action >> 6)), bit)
    ever = U(first + (width >> 1) + (action >> 6))
    put_word(memory, ever, word_at(memory, ever) | bit)


@subroutine
def _perceive(p, n):
    """Add to the memories what the players perceive of the moves made."""
    _run(p, 0, 3)
    values, extra = word_at(p, VALUES), word_at(p, EXTRA)
    n_players, width, first = _size(p, N_PLAYERS), _size(p, MEMORY_WORDS), _size(p, MEMORY_WORD)
    for r in range(n_players):
        begin, end = at(word_at(p, PERCEPT_START), U(r)), at(word_at(p, PERCEPT_START), U(r + 1))
        for i in range(begin, end):
            store(extra, U(i - begin), literal(values, at(word_at(p, PERCEPT), U(i))))
        for half in range(2):
            offset = first + half * (width >> 1)
            _scatter(p, extra, end - begin, word_at(p, MEMORY), width, offset, n, n_players, r, ~ZERO)


@inlined
def _find_movers(p, phase):
    """Write which lanes have any player with a choice, several, and each player or chance: rows 1, 2, 3..."""
    values, extra, n_players = word_at(p, VALUES), word_at(p, EXTRA), _size(p, N_PLAYERS)
    starts, literals = word_at(p, MOVER_START), word_at(p, MOVER_LITERAL)
    movers, several = broadcast(ZERO), broadcast(ZERO)
    for r in range(n_players + _size(p, HAS_CHANCE)):
        i = U(phase * (n_players + 1) + r)
        x = _any_of(values, literals, at(starts, i), at(starts, i + ONE))
        store(extra, U(3 + r), x)
        if r < n_players:
            several = or_(several, and_(movers, x))
            movers = or_(movers, x)
    store(extra, U(1), movers)
    store(extra, U(2), several)


@subroutine
def _write_back(p, phase, n):
    """Write the states and the legal actions of the lanes to their copies."""
    values, extra, columns = word_at(p, VALUES), word_at(p, EXTRA), word_at(p, COLUMNS)
    starts, literals, n_columns = word_at(p, COLUMN_START), word_at(p, COLUMN_LITERAL), _size(p, N_COLUMNS)
    for c in range(n_columns):
        i = U(phase * n_columns + c)
        store(columns, U(c), _any_of(values, literals, at(starts, i), at(starts, i + ONE)))
    waiting = at(word_at(p, WAITING_COLUMN), ZERO)
    if word_at(p, IS_FLAT) != ZERO and waiting >= 0:
        for k in range(W):
            put_word(columns, U(W * waiting + k), ~word_at(extra, U(W + k)))
    legal, width, one, none = word_at(p, LEGAL), _size(p, LEGAL_WORDS), np.int64(1), np.int64(0)
    for g in range(_size(p, N_GROUPS) + _size(p, HAS_CHANCE)):
        size, word = at(word_at(p, GROUP_SIZE), U(g)), at(word_at(p, GROUP_WORD), U(g))
        _scatter(p, columns, size, legal, width, word, n, one, none, ZERO)
        columns += U(8 * W) * U(size)
    states, width, n_fluents = word_at(p, STATES), _size(p, STATE_WORDS), _size(p, ONE)
    _scatter(p, values + U(8 * W), n_fluents, states, width, none, n, one, none, ZERO)


@inlined
def _tell_phase(p, phase):
    """Have the fluents that a phase says say it: its tables do not."""
    values = word_at(p, VALUES)
    for i in range(at(word_at(p, KNOWN_START), U(phase)), at(word_at(p, KNOWN_START), U(phase + 1))):
        fluent = U(at(word_at(p, KNOWN), U(i)))
        store(values, fluent >> ONE, broadcast((fluent & ONE) - ONE))


@subroutine
def _settle(p, phase, n):
    """Find what the states in the lanes allow, and write them back; returns DONE or SEVERAL_MOVE."""
    n_players, extra, numbers = _size(p, N_PLAYERS), word_at(p, EXTRA), word_at(p, NUMBERS)
    _run(p, phase, 0)
    _find_movers(p, phase)
    _tell_phase(p, phase)
    ends = literal(word_at(p, VALUES), at(_tables(p).terminal, U(phase)))
    store(extra, ZERO, ends)
    _write_back(p, phase, n)
    mover = max(0, at(word_at(p, ONLY_MOVER), U(phase)))
    for lane in range(n):
        copy = U(at(numbers, U(lane)))
        put(word_at(p, PHASE), copy, phase)
        put(word_at(p, MOVER), copy, mover)
    if at(word_at(p, ONLY_MOVER), U(phase)) < 0:
        for r in range(1, n_players):
            for lane in range(n):
                if _is_in(p, EXTRA, 3 + r, lane):
                    put(word_at(p, MOVER), U(at(numbers, U(lane))), r)
    has_ends = any_bit(ends)
    if has_ends:
        _score(p, phase, n)
    if word_at(p, HAS_CHANCE) != ZERO:
        for lane in range(n):
            waits = _is_in(p, EXTRA, 3 + n_players, lane) and not _is_in(p, EXTRA, 1, lane)
            is_chance = waits and not _is_in(p, EXTRA, 0, lane)
            put(word_at(p, IS_CHANCE), U(at(numbers, U(lane))), np.int64(is_chance))
    if word_at(p, IS_FLAT) != ZERO and any_bit(load(extra, U(2))):
        for lane in range(n):
            if _is_in(p, EXTRA, 2, lane) and not _is_in(p, EXTRA, 0, lane):
                return SEVERAL_MOVE
    return DONE


@subroutine
def _score(p, phase, n):
    """Write goals and rewards of the lanes whose play has ended, which row 0 of `extra` has."""
    _run(p, phase, 2)
    values, extra, numbers, goals = word_at(p, VALUES), word_at(p, EXTRA), word_at(p, NUMBERS), word_at(p, GOALS)
    t, n_players = _tables(p), _size(p, N_PLAYERS)
    row = 4 + n_players
    for k in range((n + 63) >> 6):
        ended = word_at(extra, U(k))
        if n - 64 * k < 64:
            ended &= (ONE << U(n - 64 * k)) - ONE
        put_word(extra, U(k), ended)
        while ended != ZERO:
            copy = at(numbers, U(64 * k + lowest_bit(ended)))
            ended &= ended - ONE
            put_byte(word_at(p, IS_OVER), U(copy), ONE)
            put_byte(word_at(p, ENDED), U(copy), ONE)
            for r in range(n_players):
                put(goals, U(copy * n_players + r), -1)
                put_float(word_at(p, REWARDS), U(copy * n_players + r), np.float32(-1))
    for r in range(n_players):
        for g in range(at(word_at(p, GOAL_START), U(r)), at(word_at(p, GOAL_START), U(r + 1))):
            i = U(phase * _size(p, N_GOALS) + at(word_at(p, GOAL_COLUMN), U(g)))
            store(extra, U(row), and_(literal(values, at(t.goal_value, i)), load(extra, ZERO)))
            goal = at(word_at(p, GOAL), U(g))
            for k in range((n + 63) >> 6):
                x = word_at(extra, U(W * row + k))
                while x != ZERO:
                    place = U(at(numbers, U(64 * k + lowest_bit(x))) * n_players + r)
                    x &= x - ONE
                    is_only = at(goals, place) == -1 and goal >= 0
                    put(goals, place, goal if is_only else -2)
                    put_float(word_at(p, REWARDS), place, np.float32((goal - 50) / 50 if is_only else -1))


@subroutine
def _renew(p, copy):
    """Have a copy begin anew."""
    n_states, n_legal, n_players = _size(p, STATE_WORDS), _size(p, LEGAL_WORDS), _size(p, N_PLAYERS)
    copy_words(word_at(p, STATES), copy * n_states, word_at(p, FIRST_STATE), 0, n_states)
    copy_words(word_at(p, LEGAL), copy * n_legal, word_at(p, FIRST_LEGAL), 0, n_legal)
    put(word_at(p, PHASE), U(copy), at(word_at(p, FIRST_PHASE), ZERO))
    put(word_at(p, MOVER), U(copy), at(word_at(p, FIRST_MOVER), ZERO))
    put(word_at(p, IS_CHANCE), U(copy), at(word_at(p, FIRST_IS_CHANCE), ZERO))
    put_byte(word_at(p, IS_OVER), U(copy), ZERO)
    n_memory = n_players * _size(p, MEMORY_WORDS)
    for w in range(n_memory):
        put_word(word_at(p, MEMORY), U(copy * n_memory + w), ZERO)


@subroutine
def _block(p, phase, n, actions, count, task, by_chance):
    """Take the lanes, all at a phase, a step further, or only look at what they allow; returns as `_settle`."""
    n_phases = _size(p, N_PHASES)
    _load(p, n)
    if task == SETTLE:
        return _settle(p, phase, n)
    _run(p, phase, 0)
    n_moved = _make_moves(p, phase, n, actions, count, by_chance)
    _run(p, phase, 1)
    if word_at(p, MEMORY_WORD) != ZERO:
        _perceive(p, n)
    _go_on(p, phase)
    for i in range(n_moved):
        store(word_at(p, VALUES), U(at(word_at(p, MOVED), U(i))), broadcast(ZERO))
    return _settle(p, phase + 1 if phase + 1 < n_phases else 0, n)


@subroutine
def _sort(p, n):
    """Order the active copies by their phase; `starts` then limits those of each phase."""
    n_phases, starts, active, order = _size(p, N_PHASES), word_at(p, STARTS), word_at(p, ACTIVE), word_at(p, ORDER)
    for i in range(2 * n_phases + 1):
        put(starts, U(i), 0)
    for i in range(n):
        after = U(at(word_at(p, PHASE), U(at(active, U(i)))) + 1)
        put(starts, after, at(starts, after) + 1)
    for phase in range(n_phases):
        put(starts, U(phase + 1), at(starts, U(phase + 1)) + at(starts, U(phase)))
        put(starts, U(n_phases + 1 + phase), at(starts, U(phase)))
    for i in range(n):
        copy = at(active, U(i))
        place = U(n_phases + 1 + at(word_at(p, PHASE), U(copy)))
        put(order, U(at(starts, place)), copy)
        put(starts, place, at(starts, place) + 1)


@subroutine
def _finish(p, n, n_again):
    """Begin ended plays anew, or rest; list the copies whose next move is chance's. Returns how many are listed."""
    n_legal, resets = _size(p, LEGAL_WORDS), word_at(p, AUTO_RESETS) != ZERO
    for lane in range(n):
        copy = at(word_at(p, NUMBERS), U(lane))
        if byte_at(word_at(p, IS_OVER), U(copy)) != ZERO:
            if resets:
                _renew(p, copy)
            else:
                for w in range(n_legal):
                    put_word(word_at(p, LEGAL), U(copy * n_legal + w), ZERO)
        if at(word_at(p, IS_CHANCE), U(copy)) != 0:
            put(word_at(p, AGAIN), U(n_again), copy)
            n_again += 1
    return n_again


@subroutine
def _begin(p, which, begin, end, task):
    """List the copies that are to go on; return how many."""
    n = 0
    for copy in range(begin, end):
        if task == STEP:
            is_active: bool = byte_at(word_at(p, IS_OVER), U(copy)) == ZERO
        else:
            is_active = byte_at(which, U(copy)) != ZERO
            if task == RESET and is_active:
                _renew(p, copy)
                is_active = at(word_at(p, IS_CHANCE), U(copy)) != 0
        if is_active:
            put(word_at(p, ACTIVE), U(n), copy)
            n += 1
    return n


@kernel
def advance(p, actions, which, begin, end, count, task):
    """Take copies begin..end a step further by *actions* (N, G), or have those of *which* (N,) begin anew.

    All arrays are given by their addresses, *p* being a plan; *count* is another one in each call. Returns DONE,
    SEVERAL_MOVE or ENDLESS.
    """
    n_active = _begin(p, which, begin, end, task)
    by_chance = task == RESET
    for each in range(_MAX_CHANCE_STEPS):
        if n_active == 0:
            return DONE
        _sort(p, n_active)
        n_again = 0
        for phase in range(_size(p, N_PHASES)):
            stop = at(word_at(p, STARTS), U(phase + 1))
            for first in range(at(word_at(p, STARTS), U(phase)), stop, N_LANES):
                n = min(N_LANES, stop - first)
                for i in range(n):
                    put(word_at(p, NUMBERS), U(i), at(word_at(p, ORDER), U(first + i)))
                status = _block(p, phase, n, actions, count * _MAX_CHANCE_STEPS + each, task, by_chance)
                if status != DONE:
                    return status
                if task != SETTLE:
                    n_again = _finish(p, n, n_again)
        for i in range(n_again):
            put(word_at(p, ACTIVE), U(i), at(word_at(p, AGAIN), U(i)))
        n_active, by_chance = n_again, True
    return ENDLESS
