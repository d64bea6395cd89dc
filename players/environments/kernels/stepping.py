"""A step of many copies of a game: each moves, by the arrays of its circuit, in lanes of those that stand at one phase.

What a copy is between steps is a row of words; lanes are filled from them and written back. Chance moves follow until
a player has a choice, and ended plays begin anew where that is wanted.
"""

from typing import Final

from gdl.compiler.kernels.choice import literal
from gdl.compiler.kernels.jit import inlined, kernel, subroutine
from gdl.compiler.kernels.lanes import N_LANES
from gdl.compiler.kernels.packing import copy_words
from gdl.compiler.kernels.words import ONE, ZERO, U, W, at, broadcast, byte_at, put, put_byte, put_word, store, word_at
from players.environments.kernels import plans
from players.environments.kernels.copies import evaluate_copies, find_movers, go_on, is_in, load_copies, run, scatter
from players.environments.kernels.plans import size_of
from players.environments.kernels.sampling import bits_of, key_of, picked

STEP: Final = 0
RESET: Final = 1
EVALUATE: Final = 2

_MAX_CHANCE_STEPS: Final = 10_000


@inlined
def _set(p, row, lane, n_moved):
    values = word_at(p, plans.VALUES)
    place = U(W * row + (lane >> 6))
    put_word(values, place, word_at(values, place) | (ONE << U(lane & 63)))
    put(word_at(p, plans.MOVED), U(n_moved), row)
    return n_moved + 1


@subroutine
def _make_moves(p, phase, n, actions, count, by_chance):
    """Set the rows of the moves that the lanes make; return how many rows that are, each listed in `moved`."""
    n_moved, n_players, n_groups = 0, size_of(p, plans.N_PLAYERS), size_of(p, plans.N_GROUPS)
    is_flat, has_chance = word_at(p, plans.IS_FLAT) != ZERO, word_at(p, plans.HAS_CHANCE)
    has_memory = word_at(p, plans.MEMORY_WORD)
    n_actions, legal_words = size_of(p, plans.N_ACTIONS), size_of(p, plans.LEGAL_WORDS)
    for r in range(n_players):
        waiting, group = at(word_at(p, plans.WAITING_ROW), U(phase * n_players + r)), 0 if is_flat else r
        for lane in range(n):
            copy = at(word_at(p, plans.NUMBERS), U(lane))
            if not by_chance and (not is_flat or at(word_at(p, plans.MOVER), U(copy)) == r):
                action = at(actions, U(copy * n_groups + group))
                if has_memory != ZERO and is_in(p, plans.EXTRA, 3 + r, lane):
                    _remember(p, copy * n_players + r, action)
                n_moved = _set(p, at(word_at(p, plans.ACTION_ROW), U(r * n_actions + action)), lane, n_moved)
            elif waiting:
                n_moved = _set(p, waiting, lane, n_moved)
    if has_chance != ZERO:
        word, key = at(word_at(p, plans.GROUP_WORD), U(n_groups)), key_of(word_at(p, plans.SEED), count, ZERO)
        n_words = at(word_at(p, plans.GROUP_WORD), U(n_groups + 1)) - word
        for lane in range(n):
            copy = at(word_at(p, plans.NUMBERS), U(lane))
            bits = bits_of(key, copy)
            legal = word_at(p, plans.LEGAL) + U(8 * (copy * legal_words + word))
            row = at(word_at(p, plans.CHANCE_ROW), U(max(0, picked(legal, 0, n_words, bits))))
            n_moved = _set(p, row, lane, n_moved)
    return n_moved


@inlined
def _remember(p, player, action):
    """Note that a player has chosen: what it knew since its last move becomes the past."""
    memory, width = word_at(p, plans.MEMORY), size_of(p, plans.MEMORY_WORDS)
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
    run(p, 0, 3)
    values, extra = word_at(p, plans.VALUES), word_at(p, plans.EXTRA)
    n_players, width, first = size_of(p, plans.N_PLAYERS), size_of(p, plans.MEMORY_WORDS), size_of(p, plans.MEMORY_WORD)
    for r in range(n_players):
        begin, end = at(word_at(p, plans.PERCEPT_START), U(r)), at(word_at(p, plans.PERCEPT_START), U(r + 1))
        for i in range(begin, end):
            store(extra, U(i - begin), literal(values, at(word_at(p, plans.PERCEPT), U(i))))
        for half in range(2):
            offset = first + half * (width >> 1)
            scatter(p, extra, end - begin, word_at(p, plans.MEMORY), width, offset, n, n_players, r, ~ZERO)


@subroutine
def _renew(p, copy):
    """Have a copy begin anew."""
    n_states, n_legal = size_of(p, plans.STATE_WORDS), size_of(p, plans.LEGAL_WORDS)
    n_players = size_of(p, plans.N_PLAYERS)
    copy_words(word_at(p, plans.STATES), copy * n_states, word_at(p, plans.FIRST_STATE), 0, n_states)
    copy_words(word_at(p, plans.LEGAL), copy * n_legal, word_at(p, plans.FIRST_LEGAL), 0, n_legal)
    put(word_at(p, plans.PHASE), U(copy), at(word_at(p, plans.FIRST_PHASE), ZERO))
    put(word_at(p, plans.MOVER), U(copy), at(word_at(p, plans.FIRST_MOVER), ZERO))
    put(word_at(p, plans.IS_CHANCE), U(copy), at(word_at(p, plans.FIRST_IS_CHANCE), ZERO))
    put_byte(word_at(p, plans.IS_OVER), U(copy), ZERO)
    n_memory = n_players * size_of(p, plans.MEMORY_WORDS)
    for w in range(n_memory):
        put_word(word_at(p, plans.MEMORY), U(copy * n_memory + w), ZERO)


@subroutine
def _block(p, phase, n, actions, count, task, by_chance):
    """Take the lanes, all at a phase, a step further, or only look at what they allow; returns as `evaluate_copies`."""
    n_phases = size_of(p, plans.N_PHASES)
    load_copies(p, n)
    if task == EVALUATE:
        return evaluate_copies(p, phase, n)
    run(p, phase, 0)
    if word_at(p, plans.MEMORY_WORD) != ZERO:
        find_movers(p, phase)
    n_moved = _make_moves(p, phase, n, actions, count, by_chance)
    run(p, phase, 1)
    if word_at(p, plans.MEMORY_WORD) != ZERO:
        _perceive(p, n)
    go_on(p, phase)
    for i in range(n_moved):
        store(word_at(p, plans.VALUES), U(at(word_at(p, plans.MOVED), U(i))), broadcast(ZERO))
    return evaluate_copies(p, phase + 1 if phase + 1 < n_phases else 0, n)


@subroutine
def _sort(p, n):
    """Order the active copies by their phase; `starts` then limits those of each phase."""
    n_phases, starts = size_of(p, plans.N_PHASES), word_at(p, plans.STARTS)
    active, order = word_at(p, plans.ACTIVE), word_at(p, plans.ORDER)
    for i in range(2 * n_phases + 1):
        put(starts, U(i), 0)
    for i in range(n):
        after = U(at(word_at(p, plans.PHASE), U(at(active, U(i)))) + 1)
        put(starts, after, at(starts, after) + 1)
    for phase in range(n_phases):
        put(starts, U(phase + 1), at(starts, U(phase + 1)) + at(starts, U(phase)))
        put(starts, U(n_phases + 1 + phase), at(starts, U(phase)))
    for i in range(n):
        copy = at(active, U(i))
        place = U(n_phases + 1 + at(word_at(p, plans.PHASE), U(copy)))
        put(order, U(at(starts, place)), copy)
        put(starts, place, at(starts, place) + 1)


@subroutine
def _finish(p, n, n_again):
    """Begin ended plays anew, or rest; list the copies whose next move is chance's. Returns how many are listed."""
    n_legal, resets = size_of(p, plans.LEGAL_WORDS), word_at(p, plans.AUTO_RESETS) != ZERO
    for lane in range(n):
        copy = at(word_at(p, plans.NUMBERS), U(lane))
        if byte_at(word_at(p, plans.IS_OVER), U(copy)) != ZERO:
            if resets:
                _renew(p, copy)
            else:
                for w in range(n_legal):
                    put_word(word_at(p, plans.LEGAL), U(copy * n_legal + w), ZERO)
        if at(word_at(p, plans.IS_CHANCE), U(copy)) != 0:
            put(word_at(p, plans.AGAIN), U(n_again), copy)
            n_again += 1
    return n_again


@subroutine
def _begin(p, which, begin, end, task):
    """List the copies that are to go on; return how many."""
    n = 0
    for copy in range(begin, end):
        if task == STEP:
            is_active: bool = byte_at(word_at(p, plans.IS_OVER), U(copy)) == ZERO
        else:
            is_active = byte_at(which, U(copy)) != ZERO
            if task == RESET and is_active:
                _renew(p, copy)
                is_active = at(word_at(p, plans.IS_CHANCE), U(copy)) != 0
        if is_active:
            put(word_at(p, plans.ACTIVE), U(n), copy)
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
            return plans.DONE
        _sort(p, n_active)
        n_again = 0
        for phase in range(size_of(p, plans.N_PHASES)):
            stop = at(word_at(p, plans.STARTS), U(phase + 1))
            for first in range(at(word_at(p, plans.STARTS), U(phase)), stop, N_LANES):
                n = min(N_LANES, stop - first)
                for i in range(n):
                    put(word_at(p, plans.NUMBERS), U(i), at(word_at(p, plans.ORDER), U(first + i)))
                status = _block(p, phase, n, actions, count * _MAX_CHANCE_STEPS + each, task, by_chance)
                if status != plans.DONE:
                    return status
                if task != EVALUATE:
                    n_again = _finish(p, n, n_again)
        for i in range(n_again):
            put(word_at(p, plans.ACTIVE), U(i), at(word_at(p, plans.AGAIN), U(i)))
        n_active, by_chance = n_again, True
    return plans.ENDLESS
