"""Monty Hall: what the candidate learns, and what switching is worth."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gdl.engines import make_game
from gdl.game import RANDOM, State
from gdl.games.library import find_game
from gdl.language.kif import read_term
from gdl.language.terms import Constant, Term

GAME = make_game(find_game("montyhall").read())
CANDIDATE = Constant("candidate")


def chance_of_car(state: State, answer: str) -> Fraction:
    """Return the chance to win for who always chooses door 1 first and then *answer*."""
    if state.is_terminal:
        return Fraction(state.goal(CANDIDATE) or 0, 100)
    legal = state.legal_moves(CANDIDATE)
    (move,) = [move for move in legal if str(move) in ("(choose 1)", "noop", answer)]
    by_chance = state.legal_moves(RANDOM)
    return sum((chance_of_car(state.next_state((move, luck)), answer) for luck in by_chance), Fraction(0)) / len(
        by_chance
    )


@pytest.mark.parametrize(("answer", "chance"), [("switch", Fraction(2, 3)), ("stay", Fraction(1, 3))])
def test_switching_wins_two_times_in_three(answer: str, chance: Fraction) -> None:
    assert chance_of_car(GAME.initial_state, answer) == chance


def percepts_along(*lines: tuple[str, str]) -> list[list[str]]:
    state, told = GAME.initial_state, []
    for line in lines:
        moves: list[Term] = [read_term(move) for move in line]
        told.append([str(percept) for percept in state.percepts(CANDIDATE, moves)])
        state = state.next_state(moves)
    return told


def test_the_candidate_learns_of_the_car_only_at_the_end() -> None:
    told = percepts_along(("(choose 1)", "(hide_car 2)"), ("noop", "(open 3)"), ("stay", "noop"))
    assert told == [["(you_chose 1)"], ["(opened_door 3)"], ["(car_behind 2)"]]


def test_the_host_never_opens_the_chosen_door_or_the_cars() -> None:
    after = {
        (chosen, car): GAME.initial_state.next_state((read_term(f"(choose {chosen})"), read_term(f"(hide_car {car})")))
        for chosen in (1, 2, 3)
        for car in (1, 2, 3)
    }
    opened = {key: [str(move) for move in state.legal_moves(RANDOM)] for key, state in after.items()}
    assert opened == {key: [f"(open {door})" for door in (1, 2, 3) if door not in key] for key in after}
