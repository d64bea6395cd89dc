"""Which roles see everything, although the rules are those of imperfect information."""

from __future__ import annotations

import pytest

from gdl.game import Game
from players.deadline import Deadline, SearchBudget
from players.search.imperfect_information import sees_everything
from tests.kit.players.games import COIN, game, game_of, role


@pytest.mark.parametrize(
    ("of", "mine", "expected"),
    [
        (game_of(COIN), "player", True),
        (game("zionsmall"), "player", True),
        (game("connectfour"), "red", True),
        (game("montyhall"), "candidate", False),
        (game("kuhnpoker"), "bob", False),
    ],
)
def test_percepts_that_tell_everything_are_recognised(of: Game, mine: str, expected: bool) -> None:
    assert sees_everything(of, role(mine), SearchBudget()) is expected


def test_no_time_means_no() -> None:
    over = SearchBudget(deadline=Deadline(0.0, lambda: 1.0))
    assert not sees_everything(game_of(COIN), role("player"), over)


def test_a_play_ends_where_a_role_has_no_legal_move() -> None:
    rules = COIN.replace("(<= (legal player noop) (true tossing))", "").replace(
        "(<= (legal player safe) (true start))", ""
    )
    assert sees_everything(game_of(rules), role("player"), SearchBudget())
