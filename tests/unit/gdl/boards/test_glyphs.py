"""Boards in Unicode: every piece has a sign of its own, or keeps its symbol."""

from __future__ import annotations

from gdl.boards.text import in_unicode, text_of
from tests.kit.gdl.boards.drawn import GRID, PICTURES, board, case


def drawn(name: str) -> list[str]:
    return text_of(in_unicode(case(PICTURES / f"{name}.toml")[0])).splitlines()


def test_chess_pieces_are_those_of_unicode() -> None:
    assert drawn("chess") == ["2 ♚ ♝ ♟", "1 ♖ ♘ ♕", "  a b c"]


def test_pieces_of_one_shape_differ_without_colours() -> None:
    assert drawn("hexagons") == ["1 · ●", " 2 · · ○", "  3   ·", "    1 2 3"]
    assert drawn("points") == ["2 · · ·", "1 ● ○ ·", "  1 2 3"]


def test_cards_have_their_signs_and_dice_their_pips() -> None:
    assert drawn("hands") == ["hand of ann: Q♥ 10S", "hand of bob: ? ?", "dice: ⚅", "ann to move"]


def test_where_signs_run_out_symbols_stay() -> None:
    names = "abcdef"
    pieces = {
        "fluent": "(at ?x ?piece)",
        "symbols": {name: name for name in names},
        "shapes": dict.fromkeys(names, "star"),
    }
    layout = GRID | {"columns": "1..6", "rows": ["1"], "labels": False, "pieces": [pieces]}
    facts = (f"(at {number} {name})" for number, name in enumerate(names, 1))
    assert text_of(in_unicode(board(layout, *facts))) == "★ ☆ c d e f"


def test_numbers_of_pieces_stay() -> None:
    layout = GRID | {"pieces": [{"fluent": "(at ?n ?x ?y)", "symbol": "o", "shape": "disc", "count": True}]}
    assert text_of(in_unicode(board(layout, "(at 1 1 1)", "(at 2 1 1)", "(at 1 2 1)"))).splitlines()[2] == "1 2 ● ·"
