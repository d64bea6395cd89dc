"""What may be typed for a move, and how moves are listed."""

from __future__ import annotations

import pytest

from gdl.language.kif import read_term
from players.human import Menu
from players.player import UnclearMoveError

MOVES = tuple(map(read_term, ("(move 1 2)", "(move 1 23)", "(move 2 2)", "noop", "(Fire north)")))
KEYS = {"": "noop", "f": "(Fire north)", "x": "(move 9 9)"}


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("3", "(move 2 2)"),
        (" 5 ", "(Fire north)"),
        ("(move 2 2)", "(move 2 2)"),
        ("move 2 2", "(move 2 2)"),
        ("MOVE  2   2", "(move 2 2)"),
        ("move 2", "(move 2 2)"),
        ("move 1 2", "(move 1 2)"),
        ("move 1 23", "(move 1 23)"),
        ("n", "noop"),
        ("fire", "(Fire north)"),
        ("f", "(Fire north)"),
        ("", "noop"),
    ],
)
def test_numbers_keys_texts_and_unique_beginnings_are_understood(typed: str, expected: str) -> None:
    assert str(Menu(MOVES, KEYS).move(typed)) == expected


@pytest.mark.parametrize(
    ("typed", "could_be"),
    [
        ("move 1", ("(move 1 2)", "(move 1 23)")),
        ("0", ()),
        ("6", ()),
        ("9" * 5000, ()),
        ("x", ()),
        ("()", ()),
        ("(((", ()),
        ("\0", ()),
        ("²", ()),
    ],
)
def test_what_means_no_move_or_several_is_refused_with_those_it_could_be(typed: str, could_be: tuple[str, ...]) -> None:
    with pytest.raises(UnclearMoveError) as refused:
        Menu(MOVES, KEYS).move(typed)
    assert refused.value.moves == could_be


def test_without_keys_an_empty_line_is_no_move() -> None:
    with pytest.raises(UnclearMoveError):
        Menu(MOVES).move("")


def test_moves_are_numbered_in_columns() -> None:
    assert Menu(MOVES).lines() == ["1. (move 1 2)    2. (move 1 23)   3. (move 2 2)    4. noop", "5. (Fire north)"]


def test_moves_that_are_numbers_have_no_others() -> None:
    menu = Menu([read_term(text) for text in ("1", "10", "2", "noop")])
    assert (menu.lines(), str(menu.move("2")), str(menu.move("1"))) == (["1     10    2     noop"], "2", "1")


def test_of_very_many_moves_the_first_are_shown() -> None:
    lines = Menu([read_term(f"(go {i})") for i in range(1000)]).lines()
    assert (len(lines), lines[-1]) == (11, "... and 940 more: type how a move begins to see those")


def test_keys_are_listed_instead_where_every_move_has_one() -> None:
    menu = Menu([read_term("stand"), read_term("(move up)")], {"": "stand", "u": "(move up)"})
    assert (menu.is_by_keys, menu.lines()) == (True, ["Enter = stand, u = move up"])


@pytest.mark.parametrize(("moves", "forced"), [(("noop",), True), (("(move 1)",), False), (("a", "b"), False)])
def test_a_single_move_without_arguments_is_forced(moves: tuple[str, ...], forced: bool) -> None:
    assert Menu([read_term(move) for move in moves]).is_forced is forced
