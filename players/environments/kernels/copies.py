"""Copies of a game in the lanes of a step: loaded, evaluated, and written back with what their states allow.

That is the legal actions, who is to move, and the goals where a play has ended.
"""

from typing import Final

import numpy as np

from gdl.compiler.kernels.choice import literal
from gdl.compiler.kernels.evaluation import advance, evaluate
from gdl.compiler.kernels.jit import inlined, subroutine
from gdl.compiler.kernels.packing import transpose
from gdl.compiler.kernels.words import (
    ONE,
    ZERO,
    U,
    W,
    and_,
    and_not,
    any_bit,
    at,
    broadcast,
    load,
    lowest_bit,
    or_,
    put,
    put_byte,
    put_float,
    put_word,
    store,
    word_at,
)
from players.environments.kernels import plans
from players.environments.kernels.plans import size_of, tables_of

_NO_GOAL: Final = -1
_NOT_ONE: Final = -2
"""The goal of a player that has none, and until all are looked at that of one that has several, or no number."""


@subroutine
def load_copies(p, n):
    """Fill the lanes with the states of the copies in `numbers`."""
    a, states = word_at(p, plans.SQUARE), word_at(p, plans.STATES)
    values, numbers = word_at(p, plans.VALUES), word_at(p, plans.NUMBERS)
    n_words, n_fluents = size_of(p, plans.STATE_WORDS), size_of(p, ONE)
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
def run(p, phase, part):
    """Evaluate the gates of a part of a phase."""
    evaluate(word_at(p, plans.VALUES), tables_of(p), phase, part)


@subroutine
def go_on(p, phase):
    """Have the fluents of the next states take the place of those of the states before."""
    advance(word_at(p, plans.VALUES), tables_of(p), phase, word_at(p, plans.NEXT))


@inlined
def is_in(p, rows, row, lane):
    """Return whether a lane's bit is set in a row."""
    return (word_at(word_at(p, rows), U(W * row + (lane >> 6))) >> U(lane & 63)) & ONE != ZERO


@subroutine
def scatter(p, rows, n, out, width, offset, n_lanes, scale, shift, keep):
    """Write *n* rows of lanes to words of rows `numbers * scale + shift`, from word *offset* on, of *width* each."""
    a, numbers = word_at(p, plans.SQUARE), word_at(p, plans.NUMBERS)
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
def find_movers(p, phase):
    """Write which lanes have any player with a choice, several, and each player or chance: rows 1, 2, 3..."""
    values, extra, n_players = word_at(p, plans.VALUES), word_at(p, plans.EXTRA), size_of(p, plans.N_PLAYERS)
    starts, literals = word_at(p, plans.MOVER_START), word_at(p, plans.MOVER_LITERAL)
    movers, several = broadcast(ZERO), broadcast(ZERO)
    for r in range(n_players + size_of(p, plans.HAS_CHANCE)):
        i = U(phase * (n_players + 1) + r)
        x = _any_of(values, literals, at(starts, i), at(starts, i + ONE))
        store(extra, U(3 + r), x)
        if r < n_players:
            several = or_(several, and_(movers, x))
            movers = or_(movers, x)
    store(extra, U(1), movers)
    store(extra, U(2), several)


@inlined
def _let_wait(p, phase):
    """Make the waiting moves of the player to move legal; where none has a choice, that is the one lanes name then."""
    values, extra, columns = word_at(p, plans.VALUES), word_at(p, plans.EXTRA), word_at(p, plans.COLUMNS)
    starts, n_players, idle = word_at(p, plans.WAIT_START), size_of(p, plans.N_PLAYERS), _idle_mover(p, phase)
    for r in range(n_players):
        i = U(phase * n_players + r)
        for wait in range(at(starts, i), at(starts, i + ONE)):
            may_wait = literal(values, at(word_at(p, plans.WAIT_LITERAL), U(wait)))
            x = and_(may_wait, load(extra, U(3 + r)))
            if r == idle:
                x = or_(x, and_not(may_wait, load(extra, ONE)))
            column = U(at(word_at(p, plans.WAIT_COLUMN), U(wait)))
            store(columns, column, or_(load(columns, column), x))


@inlined
def _idle_mover(p, phase):
    """Return whose turn it is said to be where no player has a choice."""
    return max(0, at(word_at(p, plans.ONLY_MOVER), U(phase)))


@subroutine
def _write_back(p, phase, n):
    """Write the states and the legal actions of the lanes to their copies."""
    values, columns = word_at(p, plans.VALUES), word_at(p, plans.COLUMNS)
    starts, literals = word_at(p, plans.COLUMN_START), word_at(p, plans.COLUMN_LITERAL)
    n_columns = size_of(p, plans.N_COLUMNS)
    for c in range(n_columns):
        i = U(phase * n_columns + c)
        store(columns, U(c), _any_of(values, literals, at(starts, i), at(starts, i + ONE)))
    _let_wait(p, phase)
    legal, width, one, none = word_at(p, plans.LEGAL), size_of(p, plans.LEGAL_WORDS), np.int64(1), np.int64(0)
    for g in range(size_of(p, plans.N_GROUPS) + size_of(p, plans.HAS_CHANCE)):
        size, word = at(word_at(p, plans.GROUP_SIZE), U(g)), at(word_at(p, plans.GROUP_WORD), U(g))
        scatter(p, columns, size, legal, width, word, n, one, none, ZERO)
        columns += U(8 * W) * U(size)
    states, width, n_fluents = word_at(p, plans.STATES), size_of(p, plans.STATE_WORDS), size_of(p, ONE)
    scatter(p, values + U(8 * W), n_fluents, states, width, none, n, one, none, ZERO)


@inlined
def _tell_phase(p, phase):
    """Have the fluents that a phase says say it: its tables do not."""
    values = word_at(p, plans.VALUES)
    for i in range(at(word_at(p, plans.KNOWN_START), U(phase)), at(word_at(p, plans.KNOWN_START), U(phase + 1))):
        fluent = U(at(word_at(p, plans.KNOWN), U(i)))
        store(values, fluent >> ONE, broadcast((fluent & ONE) - ONE))


@subroutine
def evaluate_copies(p, phase, n):
    """Find what the states in the lanes allow, and write them back; returns DONE or SEVERAL_MOVE."""
    extra = word_at(p, plans.EXTRA)
    run(p, phase, 0)
    find_movers(p, phase)
    _tell_phase(p, phase)
    ends = literal(word_at(p, plans.VALUES), at(tables_of(p).terminal, U(phase)))
    store(extra, ZERO, ends)
    _write_back(p, phase, n)
    _write_movers(p, phase, n)
    if any_bit(ends):
        _score(p, phase, n)
    if word_at(p, plans.HAS_CHANCE) != ZERO:
        _write_chance(p, n)
    if word_at(p, plans.IS_FLAT) != ZERO and any_bit(load(extra, U(2))) and _do_several_move(p, n):
        return plans.SEVERAL_MOVE
    return plans.DONE


@subroutine
def _write_movers(p, phase, n):
    """Write the phase of the copies in the lanes, and which player is to move."""
    numbers, movers, mover = word_at(p, plans.NUMBERS), word_at(p, plans.MOVER), _idle_mover(p, phase)
    for lane in range(n):
        copy = U(at(numbers, U(lane)))
        put(word_at(p, plans.PHASE), copy, phase)
        put(movers, copy, mover)
    if at(word_at(p, plans.ONLY_MOVER), U(phase)) < 0:
        for r in range(1, size_of(p, plans.N_PLAYERS)):
            for lane in range(n):
                if is_in(p, plans.EXTRA, 3 + r, lane):
                    put(movers, U(at(numbers, U(lane))), r)


@subroutine
def _write_chance(p, n):
    """Write of the copies in the lanes whether chance alone is to move."""
    row = 3 + size_of(p, plans.N_PLAYERS)
    for lane in range(n):
        waits = is_in(p, plans.EXTRA, row, lane) and not is_in(p, plans.EXTRA, 1, lane)
        is_chance = waits and not is_in(p, plans.EXTRA, 0, lane)
        put(word_at(p, plans.IS_CHANCE), U(at(word_at(p, plans.NUMBERS), U(lane))), np.int64(is_chance))


@subroutine
def _do_several_move(p, n):
    """Return whether several players have a choice in a lane whose play goes on."""
    for lane in range(n):  # noqa: SIM110 -- numba compiles no `any` of a generator
        if is_in(p, plans.EXTRA, 2, lane) and not is_in(p, plans.EXTRA, 0, lane):
            return True
    return False


@subroutine
def _score(p, phase, n):
    """Write goals and rewards of the lanes whose play has ended, which row 0 of `extra` has."""
    run(p, phase, 2)
    _end_plays(p, n)
    starts = word_at(p, plans.GOAL_START)
    for r in range(size_of(p, plans.N_PLAYERS)):
        for g in range(at(starts, U(r)), at(starts, U(r + 1))):
            _give_goal(p, phase, n, r, g)
        _take_unclear_goals(p, n, r)


@subroutine
def _end_plays(p, n):
    """Note the end of the plays that have ended, without goals yet; lanes beyond *n* have not."""
    extra, numbers, n_players = word_at(p, plans.EXTRA), word_at(p, plans.NUMBERS), size_of(p, plans.N_PLAYERS)
    for k in range((n + 63) >> 6):
        ended = word_at(extra, U(k))
        if n - 64 * k < 64:
            ended &= (ONE << U(n - 64 * k)) - ONE
        put_word(extra, U(k), ended)
        while ended != ZERO:
            copy = at(numbers, U(64 * k + lowest_bit(ended)))
            ended &= ended - ONE
            put_byte(word_at(p, plans.IS_OVER), U(copy), ONE)
            put_byte(word_at(p, plans.ENDED), U(copy), ONE)
            for r in range(n_players):
                put(word_at(p, plans.GOALS), U(copy * n_players + r), _NO_GOAL)
                put_float(word_at(p, plans.REWARDS), U(copy * n_players + r), np.float32(-1))


@subroutine
def _give_goal(p, phase, n, r, g):
    """Give player *r* the goal number *g* in the lanes that have ended so; a second one makes it unclear."""
    extra, goals, n_players = word_at(p, plans.EXTRA), word_at(p, plans.GOALS), size_of(p, plans.N_PLAYERS)
    row, goal = 4 + n_players, at(word_at(p, plans.GOAL), U(g))
    i = U(phase * size_of(p, plans.N_GOALS) + at(word_at(p, plans.GOAL_COLUMN), U(g)))
    has_goal = literal(word_at(p, plans.VALUES), at(tables_of(p).goal_value, i))
    store(extra, U(row), and_(has_goal, load(extra, ZERO)))
    for k in range((n + 63) >> 6):
        x = word_at(extra, U(W * row + k))
        while x != ZERO:
            place = U(at(word_at(p, plans.NUMBERS), U(64 * k + lowest_bit(x))) * n_players + r)
            x &= x - ONE
            is_only = at(goals, place) == _NO_GOAL and goal >= 0
            put(goals, place, goal if is_only else _NOT_ONE)
            put_float(word_at(p, plans.REWARDS), place, np.float32((goal - 50) / 50 if is_only else -1))


@subroutine
def _take_unclear_goals(p, n, r):
    """Leave player *r* without a goal in the lanes that have ended with several, or with none that is a number."""
    extra, goals, n_players = word_at(p, plans.EXTRA), word_at(p, plans.GOALS), size_of(p, plans.N_PLAYERS)
    for k in range((n + 63) >> 6):
        x = word_at(extra, U(k))
        while x != ZERO:
            place = U(at(word_at(p, plans.NUMBERS), U(64 * k + lowest_bit(x))) * n_players + r)
            x &= x - ONE
            put(goals, place, max(at(goals, place), np.int64(_NO_GOAL)))
