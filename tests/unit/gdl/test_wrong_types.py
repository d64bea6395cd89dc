"""What is passed by mistake, of another type than is asked for, is named beside what was expected."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from gdl.engines import make_game
from gdl.errors import CallerError, WrongTypeError
from gdl.games.library import find_game
from gdl.interpreter import InterpretedGame
from gdl.language.kif import read_term
from gdl.language.rules import read_rules
from gdl.language.terms import Compound, Constant, Variable

RULES: Final = "(role x) (role o) (init a) (<= (legal ?r stay) (role ?r))"
NAME: Final = "expected a name as text"
RULES_EXPECTED: Final = "expected rules, which gdl.read_rules(text) and gdl.find_game(name).read() return"
ARGUMENTS: Final = "expected a tuple of terms as arguments"
MOVES: Final = "expected a list of moves, one for each role in the order of game.roles"
ROLE: Final = "expected a role of game.roles, which is a term"
MOVE: Final = "expected a legal move of x, which is a term"
FACTS: Final = "expected facts that are terms (gdl.read_term makes one of a text)"
STAY: Final = Constant("stay")


def game() -> InterpretedGame:
    return InterpretedGame(read_rules(RULES))


def message(call: Callable[..., object], *arguments: Any) -> str:
    with pytest.raises(WrongTypeError) as raised:
        call(*arguments)
    return str(raised.value)


@pytest.mark.parametrize(
    ("make", "arguments", "expected"),
    [
        (Constant, (3,), f"{NAME}, not the int 3"),
        (Variable, (None,), f"{NAME}, not the NoneType None"),
        (Compound, (Constant("f"), (STAY,)), "expected a functor as text, not the Constant Constant('f')"),
        (Compound, ("f", [STAY]), f"{ARGUMENTS}, not the list [Constant('stay')]"),
        (Compound, ("f", STAY), f"{ARGUMENTS}, not the Constant Constant('stay')"),
        (
            Compound,
            ("f", ("1",)),
            "expected arguments that are terms (gdl.read_term makes one of a text), not the str '1'",
        ),
        (read_term, (3,), "expected a term as text, not the int 3"),
    ],
)
def test_terms_are_made_of_texts_and_terms(
    make: Callable[..., object], arguments: tuple[object, ...], expected: str
) -> None:
    assert message(make, *arguments) == expected


def test_rules_are_read_of_text() -> None:
    expected = "expected rules as text (gdl.read_file takes a path), not the bytes b'(role x)'"
    assert message(read_rules, b"(role x)") == expected


@pytest.mark.parametrize(
    ("given", "shown"), [("nim", "str 'nim'"), (Path("nim"), "PosixPath PosixPath('nim')"), (None, "NoneType None")]
)
def test_a_game_is_made_of_rules_and_not_of_their_name_or_path(given: object, shown: str) -> None:
    assert message(make_game, given) == f"{RULES_EXPECTED}, not the {shown}"


def test_a_game_is_made_of_rules_and_not_of_their_file() -> None:
    assert message(make_game, find_game("nim")).startswith(f"{RULES_EXPECTED}, not the GameFile")


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        ({"x": STAY, "o": STAY}, f"{MOVES}, not the dict {{'o': Constant('stay'), 'x': Constant('stay')}}"),
        ({STAY}, f"{MOVES}, not the set {{Constant('stay')}}"),
        (STAY, f"{MOVES}, not the Constant Constant('stay')"),
        ("stay", f"{MOVES}, not the str 'stay'"),
        (["stay", "stay"], f"{MOVE}, not the str 'stay'"),
        ([(STAY,), (STAY,)], f"{MOVE}, not the tuple (Constant('stay'),)"),
    ],
)
def test_a_joint_move_is_a_list_of_terms(moves: object, expected: str) -> None:
    assert message(game().initial_state.next_state, moves) == expected


def test_a_role_is_a_term() -> None:
    state = game().initial_state
    asked = [state.legal_moves, state.goal, lambda role: state.percepts(role, [STAY, STAY])]
    assert [message(ask, "x") for ask in asked] == [f"{ROLE}, not the str 'x'"] * 3


def test_facts_are_terms() -> None:
    assert message(game().state, {"a"}) == f"{FACTS}, not the str 'a'"


def test_a_wrong_type_is_a_type_error_of_the_caller() -> None:
    assert issubclass(WrongTypeError, TypeError)
    assert issubclass(WrongTypeError, CallerError)


@pytest.mark.parametrize("n", [0.5, 3.0, "3", None])
def test_the_number_and_the_seed_of_plays_are_whole_numbers(n: Any) -> None:
    state = game().initial_state
    for arguments in ((n, 1), (1, n)):
        with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
            game().playouts(state, *arguments)


def test_the_seed_of_plays_is_not_negative() -> None:
    with pytest.raises(ValueError, match="the seed of plays is 0 or more, not -1"):
        game().playouts(game().initial_state, 1, -1)
