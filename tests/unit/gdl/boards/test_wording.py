"""Boards in words."""

from __future__ import annotations

from gdl.boards.text import cell_words, words_of
from tests.kit.gdl.boards.drawn import CELLS, GRID, board


def test_a_grid_says_what_stands_where_and_how_many() -> None:
    layout = GRID | {
        "pieces": [CELLS, {"fluent": "(robot ?i ?x ?y)", "symbol": "R", "shape": "robot", "count": True}],
        "walls": [{"fluent": "(wall ?x ?y ?side)"}],
        "turn": "(control ?role)",
        "captions": [{"fluent": "(step ?n)", "text": "step ?n"}],
    }
    facts = (
        "(cell 1 1 x)",
        "(cell 3 3 x)",
        "(cell 2 2 o)",
        "(robot a 1 2)",
        "(robot b 1 2)",
        "(control x)",
        "(step 4)",
    )
    drawn = board(layout, *facts, rules="(role me) (wall 1 1 east)")
    assert words_of(drawn) == (
        "3 columns, 3 rows. robot (2): 1 2. x: 1 1, 3 3. o: 2 2. Walls between cells: 1. x to move. step 4."
    )
    assert [cell_words(drawn, place) for place in ((0, 1), (1, 1), (2, 1))] == [
        "1 2: robot (2)",
        "2 2: o",
        "3 2: empty",
    ]


def test_heaps_say_how_many_things_they_hold() -> None:
    layout = {"kind": "heaps", "heaps": {"fluent": "(heap ?heap ?size)"}}
    assert words_of(board(layout, "(heap a 2)", "(heap b 0)")) == "heap a: 2. heap b: 0."


def test_words_are_of_bounded_length() -> None:
    layout = {"kind": "grid", "columns": "1..100", "rows": "1..100", "pieces": [{"fluent": "(cell ?x ?y ?piece)"}]}
    same = board(layout, *(f"(cell {x} {y} p)" for x in range(1, 21) for y in range(1, 21)))
    assert words_of(same).endswith(", 5 1 and 300 more.")
    different = board(layout, *(f"(cell {x} {y} p{x}{y})" for x in range(1, 41) for y in range(1, 41)))
    assert (len(words_of(different)), words_of(different)[-3:]) == (4_000, "...")
