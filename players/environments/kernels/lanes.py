"""The lanes of a step: filled with the states of copies, evaluated, and written back to words of their rows."""

from gdl.compiler.kernels.evaluation import advance, evaluate
from gdl.compiler.kernels.jit import inlined, subroutine
from gdl.compiler.kernels.transposition import transpose
from gdl.compiler.kernels.words import ONE, ZERO, U, W, at, put_word, word_at
from players.environments.kernels import plans
from players.environments.kernels.plans import size_of, tables_of


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
