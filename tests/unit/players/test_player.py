"""What a player is made of, and what it is asked with."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import players
from gdl.engines import make_game
from gdl.errors import WrongTypeError
from gdl.games.library import find_game
from players.player import check_maker
from tests.kit.players.odd_players import First


class Moveless(players.Player):
    pass


@pytest.mark.parametrize("made", [First(), Moveless, "mcts", dict, None])
@pytest.mark.parametrize(
    "serve", [players.run, players.run_stdio, lambda made: players.dial_in(made, "http://127.0.0.1:1", "deep")]
)
def test_a_player_is_served_by_its_class_or_a_function_that_makes_it(
    serve: Callable[[Any], None], made: object
) -> None:
    expected = "expected a subclass of players.Player that has a method move(self, state, role, deadline)"
    with pytest.raises(WrongTypeError) as raised:
        serve(made)
    assert str(raised.value).startswith(f"{expected}, or a function that makes a player, not the ")


@pytest.mark.parametrize("make", [First, partial(First)])
def test_a_class_and_a_function_make_players(make: Callable[[], players.Player]) -> None:
    check_maker(make)


def test_a_player_joins_as_a_role_and_suggests_a_move_which_are_terms() -> None:
    player, game = First(), make_game(find_game("nim").read(), "interpreter")
    with pytest.raises(WrongTypeError, match=r"expected a role of game\.roles, which is a term, not the str 'left'"):
        player.join(game, "left", 1)  # type: ignore[arg-type]  # what is refused
    player.join(game, game.roles[0], 1)
    with pytest.raises(WrongTypeError, match="expected a legal move of left, which is a term, not the NoneType None"):
        player.suggest(None)  # type: ignore[arg-type]  # what is refused


@pytest.mark.parametrize("margin_s", [-0.1, float("nan")])
def test_a_margin_is_not_negative(margin_s: float) -> None:
    with pytest.raises(ValueError, match="a margin is 0 or more seconds, not"):
        players.Timing(margin_s)
