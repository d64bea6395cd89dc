"""What a player is made of, and what it is asked with."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import players
from gdl.engines import make_game
from gdl.errors import TerminalStateError, WrongTypeError
from gdl.games.library import find_game
from players.deadline import Deadline
from players.human import HumanPlayer, Streams
from players.language_model.player import LanguageModelPlayer
from players.player import GameManagerError, check_maker
from players.stock import (
    GreedyPlayer,
    LegalPlayer,
    MctsPlayer,
    MinimaxPlayer,
    NestedPlayer,
    PlannerPlayer,
    RandomPlayer,
)
from tests.kit.players.games import COIN, FOUR_WAYS, after, game_of, role
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


@pytest.mark.parametrize("given", [players.Settings, "deep"])
@pytest.mark.parametrize(
    "serve",
    [
        lambda given: players.run(First, settings=given),
        lambda given: players.run_stdio(First, given),
        lambda given: players.dial_in(First, "http://127.0.0.1:1", "deep", settings=given),
    ],
)
def test_a_player_is_served_by_settings_that_are_made(serve: Callable[[Any], None], given: object) -> None:
    with pytest.raises(WrongTypeError, match=r"expected players\.Settings\(name\), or None, not the (type|str) "):
        serve(given)


def dialling_error(*arguments: Any) -> str:
    with pytest.raises((WrongTypeError, GameManagerError)) as raised:
        players.dial_in(First, *arguments)
    return str(raised.value)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((3, "deep"), "expected the address of a game manager as text, as http://host:9148, not the int 3"),
        (
            ("deep", "http://127.0.0.1:1"),
            "deep: expected the address of a game manager, as in http://host:9148",
        ),
        (("http://127.0.0.1:1", None), "expected the name of a player as text, not the NoneType None"),
        (("http://127.0.0.1:1", "deep", b"t"), "expected a token as text, or None, not the bytes b't'"),
        (
            ("http://127.0.0.1:1", "deep", "token\n"),
            "http://127.0.0.1:1: a token is one line of printable ASCII, without a line break at its end",
        ),
        (
            ("http://me:secret@127.0.0.1:1", "deep", "token"),
            "http://127.0.0.1:1/: a token goes with an address without user and password",
        ),
        (
            ("http://a..b", "deep"),
            "http://a..b: no address: encoding with 'idna' codec failed (UnicodeError: label empty or too long)",
        ),
    ],
)
def test_what_no_player_can_dial_in_with_is_refused(arguments: tuple[object, ...], expected: str) -> None:
    assert dialling_error(*arguments) == expected


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


@pytest.mark.parametrize("ended", [(COIN, "safe"), (FOUR_WAYS, "c", "d")], ids=["no legal move", "legal moves"])
@pytest.mark.parametrize(
    "make_player",
    [
        LegalPlayer,
        RandomPlayer,
        GreedyPlayer,
        MinimaxPlayer,
        partial(MctsPlayer, playouts=1),
        partial(PlannerPlayer, playouts=1),
        partial(NestedPlayer, playouts=1),
        lambda: HumanPlayer(Streams(io.StringIO(), io.StringIO())),
        lambda: LanguageModelPlayer(url="http://127.0.0.1:1", model="none"),
    ],
)
def test_in_a_terminal_state_a_player_has_no_move_to_choose(
    make_player: Callable[[], players.Player], ended: tuple[str, ...]
) -> None:
    rules, *moves = ended
    player, of = make_player(), game_of(rules)
    player.join(of, role("player"), 1)
    with pytest.raises(TerminalStateError, match="the state is terminal: no role moves any more"):
        player.move(after(of, *moves), player.role, Deadline(0.0))
