"""Plans: what kernels of environments read, write and return; numbers and addresses of arrays, in one array.

The rules of a game as numbers, the copies that play it, the copy that all begin as, and the room of a thread.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels.jit import inlined
from gdl.compiler.kernels.words import U, word_at
from gdl.compiler.tables import Tables

DONE: Final = 0
SEVERAL_MOVE: Final = 1
"""Two players have a choice in one state: the game is none of turns."""
ENDLESS: Final = 2
"""Chance moves go on for ever."""


class Rulebook(NamedTuple):
    """What numbers mean. *Shapes*: P phases, R players, G groups of actions, A actions of a group at most.

    `column_start` (P * C + 1,) limits the literals of which one makes an action of the C columns legal, `mover_start`
    (P * (R + 1) + 1,) those that make a player, or chance, have a choice. `action_row` (R, A) and `chance_row` are rows
    of moves, `waiting_row` (P, R) that of the waiting move, 0 where it need not be set. In the flat form `wait_start`
    (P * R + 1,) limits the moves of each player that only wait: `wait_column` is that of the move, and `wait_literal`
    makes it legal. `group_word` (G + 2,) limits the words of each group, chance being the last.
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
    wait_start: NDArray[np.int32]
    wait_column: NDArray[np.int32]
    wait_literal: NDArray[np.int32]
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
    COLUMN_START, COLUMN_LITERAL, MOVER_START, MOVER_LITERAL, ACTION_ROW, CHANCE_ROW, WAITING_ROW, WAIT_START,
    WAIT_COLUMN, WAIT_LITERAL, GROUP_WORD, GROUP_SIZE, KNOWN_START, KNOWN, GOAL_START, GOAL_COLUMN, GOAL,
    PERCEPT_START, PERCEPT, ONLY_MOVER,
    N_PHASES, N_PLAYERS, N_GROUPS, N_COLUMNS, MEMORY_WORD, N_GOALS, IS_FLAT, HAS_CHANCE, AUTO_RESETS, SEED,
    STATES, LEGAL, PHASE, MOVER, IS_CHANCE, IS_OVER, ENDED, REWARDS, GOALS, MEMORY,
    FIRST_STATE, FIRST_LEGAL, FIRST_PHASE, FIRST_MOVER, FIRST_IS_CHANCE,
    VALUES, COLUMNS, EXTRA, NEXT, NUMBERS, ACTIVE, ORDER, AGAIN, MOVED, STARTS, SQUARE,
) = (U(_N_TABLES + _N_SIZES + i) for i in range(56))  # fmt: skip
"""Fields of a plan: those of Rulebook, Copies, Initial and StepRoom, arrays by address."""


def plan_of(tables: Tables, book: Rulebook, copies: Copies, initial: Initial, room: StepRoom) -> NDArray[np.uint64]:
    """Return all that a kernel reads and writes, as numbers and addresses; it is good while the arguments live."""
    sizes = (copies.states.shape[1], copies.legal.shape[1], copies.memory.shape[1], book.action_row.shape[1])
    fields: list[Any] = [*tables, *sizes, *book, *copies, *initial, *room]
    numbers = [field.ctypes.data if isinstance(field, np.ndarray) else field for field in fields]
    return np.array(numbers, np.uint64)


@inlined
def tables_of(p):
    """Return the tables of a plan as the engine's kernels read them."""
    return TableAddresses(
        word_at(p, U(0)), word_at(p, U(1)), word_at(p, U(2)), word_at(p, U(3)), word_at(p, U(4)),
        word_at(p, U(5)), word_at(p, U(6)), word_at(p, U(7)), word_at(p, U(8)), word_at(p, U(9)),
        word_at(p, U(10)), word_at(p, U(11)), word_at(p, U(12)), word_at(p, U(13)), word_at(p, U(14)),
        word_at(p, U(15)), word_at(p, U(16)), word_at(p, U(17)), word_at(p, U(18)), word_at(p, U(19)),
        word_at(p, U(20)), word_at(p, U(21)), word_at(p, U(22)), word_at(p, U(23)), word_at(p, U(24)),
    )  # fmt: skip


@inlined
def size_of(p, field):
    """Return a number of a plan, signed as numbers of loops are."""
    return np.int64(word_at(p, field))
