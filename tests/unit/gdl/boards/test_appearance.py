"""What pieces look like by what they are called."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.boards.appearance import appearances, shape_of
from gdl.boards.layout import Pieces


def looks(names: str, *owners: str) -> dict[str, tuple[str, str, str]]:
    return {name: (look.symbol, look.shape, look.fill) for name, look in appearances(names.split(), owners).items()}


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ("x o b", {"x": ("X", "cross", "red"), "o": ("O", "ring", "blue")}),
        ("w b", {"w": ("W", "disc", "white"), "b": ("B", "disc", "black")}),
        ("white black empty", {"white": ("W", "disc", "white"), "black": ("B", "disc", "black")}),
        ("wk bp b", {"wk": ("wk", "king", "white"), "bp": ("bp", "pawn", "black")}),
        ("whiteKnight blackKing", {"whiteKnight": ("W", "knight", "white"), "blackKing": ("B", "king", "black")}),
        ("whiteknight whiteking", {"whiteknight": ("WN", "knight", "white"), "whiteking": ("WK", "king", "white")}),
        ("king knight", {"king": ("K", "king", "red"), "knight": ("N", "knight", "blue")}),
        ("1 12 b", {"1": ("1", "tile", "bright_yellow"), "12": ("12", "tile", "bright_yellow")}),
        ("wall robot", {"wall": ("W", "block", "bright_black"), "robot": ("R", "robot", "red")}),
        ("xplayer", {"xplayer": ("X", "cross", "red")}),
        ("cat dog", {"cat": ("C", "token", "red"), "dog": ("D", "token", "blue")}),
    ],
)
def test_names_speak_of_shapes_and_colours(names: str, found: dict[str, tuple[str, str, str]]) -> None:
    assert looks(names) == found


def test_owners_have_colours_by_their_order() -> None:
    assert looks("bob ann", "ann", "bob") == {"ann": ("A", "token", "red"), "bob": ("B", "token", "blue")}


def test_white_and_black_have_no_colour_in_text_where_the_background_may_be_either() -> None:
    assert [look.colour for look in appearances(["white", "black", "red"]).values()] == [None, "red", None]


def test_without_a_word_for_it_a_piece_is_a_token_with_its_symbol() -> None:
    assert shape_of("frob") == "token"


@given(st.lists(st.text(max_size=50), max_size=20, unique=True))
def test_any_names_have_looks_that_a_layout_may_have(names: list[str]) -> None:
    found = appearances(names)
    Pieces(
        fluent="(cell ?x ?y ?piece)",
        symbols={name: look.symbol for name, look in found.items()},
        shapes={name: look.shape for name, look in found.items()},
        fills={name: look.fill for name, look in found.items()},
    )
