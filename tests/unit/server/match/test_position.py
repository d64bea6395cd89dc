"""What a match asks of an engine."""

from __future__ import annotations

import pytest

from gdl.engines import make_game
from gdl.errors import NoLegalMoveError
from gdl.language.kif import read_term
from gdl.language.rules import read_rules
from server.errors import NoGoalError
from server.match.position import first_position, next_position
from tests.kit.server.plays import dealt, two_steps

NO, YES = read_term("(say no)"), read_term("(say Yes)")


def test_the_first_position_of_a_gdl1_game() -> None:
    position = first_position(two_steps())
    assert (position.step, position.moves, position.percepts, position.goals) == (0, None, None, None)
    assert position.legal_moves == ((YES, NO), (YES, NO))
    assert position.text == "( ( at 0 ) )"


def test_a_terminal_position_has_goals_and_no_moves() -> None:
    game = two_steps()
    position = next_position(game, next_position(game, first_position(game), (NO, NO)), (YES, NO))
    assert (position.step, position.moves, position.legal_moves, position.goals) == (2, (YES, NO), ((), ()), (100, 0))


def test_in_gdl2_every_role_has_its_percepts_and_random_needs_no_goal() -> None:
    game = dealt()
    moves = (read_term("(deal ace)"), read_term("(guess king)"))
    position = next_position(game, next_position(game, first_position(game), moves), moves)
    assert position.percepts == ((), (read_term("(card ace)"),))
    assert position.goals == (None, 0)


@pytest.mark.parametrize(
    ("rules", "error", "message"),
    [
        ("(role a) (role b) (legal a x) (goal a 0) (goal b 0) (<= terminal (true t)) (<= (next t) (does a x))",
         NoLegalMoveError, "b has no legal move in the state of step 0, though it is not terminal"),
        ("(role a) (role b) (legal a x) (legal b x) (goal a 0) terminal",
         NoGoalError, "b has not exactly one goal value in the terminal state of step 0"),
        ("(role a) (legal a x) (goal a 0) (goal a 100) terminal",
         NoGoalError, "a has not exactly one goal value in the terminal state of step 0"),
        ("(role a) (legal a x) (goal a win) terminal",
         NoGoalError, "a has not exactly one goal value in the terminal state of step 0"),
    ],
)  # fmt: skip
def test_rules_that_leave_a_role_without_are_named(rules: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        first_position(make_game(read_rules(rules)))
    assert str(raised.value) == message
