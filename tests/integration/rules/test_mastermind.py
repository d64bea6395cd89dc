"""Mastermind: the answers to guesses, and how a guess divides the codes."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest

from gdl.game import State
from gdl.language.kif import read_term
from gdl.language.terms import Term
from tests.kit.players.games import compiled

COLOURS = {"r": "red", "o": "orange", "y": "yellow", "g": "green", "b": "blue", "v": "violet"}


def after_guess(code: str, guess: str) -> State:
    """Return the state after the first *guess* at *code*; a letter is a colour."""
    pegs = [read_term(f"(code {place} {COLOURS[letter]})") for place, letter in enumerate(code, 1)]
    state = compiled("mastermind").state(frozenset([*pegs, read_term("(to_guess 1)")]))
    return state.next_state(_moves(guess))


def _moves(guess: str) -> list[Term]:
    return [read_term(f"(guess {' '.join(COLOURS[letter] for letter in guess)})"), read_term("noop")]


def answer(code: str, guess: str) -> tuple[int, int]:
    facts = {str(fact) for fact in after_guess(code, guess).facts}
    black, white = (
        next(n for n in range(5) if f"(answer 1 {kind} {n})" in facts) for kind in ("black", "white")
    )  # fmt: skip
    return black, white


@pytest.mark.parametrize(
    ("code", "guess", "pegs"),
    [
        ("rogb", "rogb", (4, 0)),
        ("rogb", "bgor", (0, 4)),
        ("rrog", "yrrr", (1, 1)),
        ("rroo", "oorr", (0, 4)),
        ("rroo", "rooo", (3, 0)),
        ("rrrr", "yyvv", (0, 0)),
        ("rogb", "rrrr", (1, 0)),
    ],
)
def test_each_peg_counts_once(code: str, guess: str, pegs: tuple[int, int]) -> None:
    assert answer(code, guess) == pegs


def test_two_pairs_divide_the_codes_as_knuth_has_it() -> None:
    """Source: Donald Knuth, The computer as Master Mind, 1976."""
    found = Counter(answer("".join(code), "rroo") for code in product(COLOURS, repeat=4))
    assert found == {
        (0, 0): 256, (0, 1): 256, (0, 2): 96, (0, 3): 16, (0, 4): 1, (1, 0): 256, (1, 1): 208, (1, 2): 36,
        (2, 0): 114, (2, 1): 32, (2, 2): 4, (3, 0): 20, (4, 0): 1,
    }  # fmt: skip


def test_later_guesses_are_worth_less_and_an_unsolved_code_nothing() -> None:
    game = compiled("mastermind")
    state = game.initial_state
    for _ in range(4):
        state = state.next_state([read_term("noop"), read_term("(hide red)")])
    goals = []
    for _ in range(10):
        goals.append(state.next_state(_moves("rrrr")).goal(game.roles[0]))
        state = state.next_state(_moves("rrry"))
    assert goals == [100, 95, 90, 85, 80, 75, 70, 65, 60, 55]
    assert (state.is_terminal, state.goal(game.roles[0])) == (True, 0)
