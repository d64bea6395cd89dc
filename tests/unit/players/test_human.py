"""A person at a scripted screen."""

from __future__ import annotations

import io

import pytest

from gdl.game import Game
from gdl.language.kif import read_term
from players.deadline import Deadline, SearchBudget
from players.human import HumanPlayer, Streams
from players.kit.local_match import LocalMatch
from players.player import GaveUpError
from players.stock import LegalPlayer
from tests.kit.players.games import COIN, UNSEEN_CARD, game, game_of, role

NUMBER = """
(role guesser) (role random)
(init (step 0))
(number 1) (number 2)
(<= (legal random (think_of ?n)) (number ?n) (true (step 0)))
(<= (legal random noop) (true (step 1)))
(<= (legal guesser noop) (true (step 0)))
(<= (legal guesser (guess ?n)) (number ?n) (true (step 1)))
(<= (next (hidden ?n)) (does random (think_of ?n)))
(<= (next (hidden ?n)) (true (hidden ?n)))
(<= (next (step 1)) (true (step 0)))
(<= (next (step 2)) (true (step 1)))
(<= (sees guesser ready) (does random (think_of ?n)))
(<= (sees guesser (it_was ?n)) (true (step 1)) (true (hidden ?n)))
(<= terminal (true (step 2)))
(goal guesser 50) (goal random 0)
"""
"""Chance thinks of a number, which the guesser learns after the guess."""


def played(of: Game, mine: str, typed: str, *, with_adviser: bool = False) -> list[str]:
    """Return the lines that a person saw who typed *typed* against the player of the first legal move."""
    shown = io.StringIO()
    person = HumanPlayer(Streams(io.StringIO(typed), shown), adviser=LegalPlayer() if with_adviser else None)
    others = {each: LegalPlayer() for each in of.roles if each.name not in (mine, "random")}
    try:
        list(LocalMatch(of, {**others, role(mine): person}, seed=1).play())
    except GaveUpError:
        shown.write("[gave up]")
    return shown.getvalue().splitlines()


def test_a_match_of_simultaneous_moves_tells_the_others_move_afterwards() -> None:
    first, second = game("rockpaperscissors").roles
    assert played(game("rockpaperscissors"), first.name, "scissors\n")[-1] == f"{first}> {second}: paper"


def test_a_person_who_comes_late_is_shown_the_steps_before() -> None:
    """As one whose process was lost: they are perceived before the first question."""
    of, shown = game("tictactoe"), io.StringIO()
    person = HumanPlayer(Streams(io.StringIO("mark 2 1\n"), shown))
    person.join(of, of.roles[0], 1)
    for step in (("(mark 1 1)", "noop"), ("noop", "(mark 2 2)")):
        moves = tuple(map(read_term, step))
        person.worlds.advance(moves[0], moves, SearchBudget())
        person.perceive(moves[0], moves)
    person.move(person.worlds.state, of.roles[0], Deadline.after(60))
    assert shown.getvalue().splitlines()[0] == "o: (mark 2 2)"


def test_the_no_op_of_a_waiting_role_is_passed_silently() -> None:
    """Heads or tails is up to chance: the player is asked once."""
    assert played(game_of(COIN), "player", "bold\n") == [
        "You are player.",
        "start",
        "1. bold  2. safe",
        "player> ",
    ]


def test_only_what_is_known_for_sure_is_shown_besides_percepts() -> None:
    """The hidden number is a fact of the state and must not appear before the end."""
    assert played(game_of(NUMBER), "guesser", "guess 1\n") == [
        "You are guesser.",
        "you perceive: ready",
        "step: 1",
        "1. (guess 1)  2. (guess 2)",
        "guesser> you perceive: (it_was 1)",
    ]


def test_the_layout_of_a_game_of_the_library_is_found_by_its_rules() -> None:
    assert played(game("montyhall"), "candidate", "choose 1\nstay\n") == [
        "You are candidate.",
        "1. (choose 1)  2. (choose 2)  3. (choose 3)",
        "candidate> you perceive: (you_chose 1), (opened_door 2)",
        "door 1 is chosen",
        "door 2 is open",
        "1. stay    2. switch",
        "candidate> you perceive: (car_behind 3)",
    ]


def test_a_move_that_does_not_count_is_shown_with_the_one_that_was_made() -> None:
    """The menu is that of a possible card; in the match of this seed it is another one."""
    assert played(game_of(UNSEEN_CARD), "player", "keep ace\n") == [
        "You are player.",
        "you perceive: dealt",
        "1. (fold ace)  2. (keep ace)",
        "player> (keep ace) does not count; made instead: (fold queen)",
    ]


def test_what_is_not_understood_is_asked_again() -> None:
    assert played(game_of(COIN), "player", "fly\n7\ns\n")[3:] == [
        "player> 'fly' is no legal move; q quits",
        "player> '7' is no legal move; q quits",
        "player> ",
    ]


def test_the_computer_may_choose() -> None:
    assert played(game_of(COIN), "player", "c\n", with_adviser=True)[-1] == "player> computer's choice: bold"


@pytest.mark.parametrize("typed", ["q\n", "", "  q"])
def test_q_and_the_end_of_the_input_give_up(typed: str) -> None:
    assert played(game_of(COIN), "player", typed)[-1] == "player> [gave up]"


ESCAPES = """
(role a\x1b[1m) (role b) (init (at 0))
(<= (legal ?r (go \x1b[31mup)) (role ?r)) (<= (legal ?r stay) (role ?r))
(<= (next (at 1)) (does b ?m)) (goal a\x1b[1m 0) (goal b 0) (<= terminal (true (at 1)))
"""


def test_names_in_the_rules_give_no_orders_to_the_terminal() -> None:
    lines = played(game_of(ESCAPES), "a\x1b[1m", "x\nc\n", with_adviser=True)
    assert [line for line in lines if not line.isprintable()] == []
    assert lines[0] == "You are a?[1m."
    assert "1. (go ?[31mup)  2. stay" in lines
    assert lines[-2:] == ["a?[1m> computer's choice: (go ?[31mup)", "b: (go ?[31mup)"]
