"""Piles of pieces: stacks in their order, trays by their owners, and what a move names of them."""

from __future__ import annotations

from collections.abc import Mapping

from gdl.boards.boards import Board, Cells, board_of
from gdl.boards.layout import Layout
from gdl.boards.moves import places
from gdl.boards.text import words_of
from gdl.language.kif import read_term
from gdl.language.rules import read_rules
from tests.kit.gdl.boards.drawn import GRID, board


def stacks(layout: Mapping[str, object], *facts: str) -> dict[str, list[str]]:
    return {pile.name: [mark.value for mark in pile.marks] for pile in stacked(layout, *facts).stacks}


def stacked(layout: Mapping[str, object], *facts: str) -> Board:
    return board({"kind": "stacks", **layout}, *facts)


def test_blocks_lie_on_others_and_at_last_on_the_table() -> None:
    layout = {"stacks": [{"fluent": "(on ?piece ?below)"}, {"fluent": "(table ?piece)"}]}
    facts = ("(table c)", "(on a b)", "(on b c)", "(table d)", "(on x y)", "(on y x)")
    assert stacks(layout, *facts) == {"c": ["c", "b", "a"], "d": ["d"]}


def test_discs_of_a_stack_lie_by_level_or_the_larger_one_below() -> None:
    assert stacks({"columns": ["p", "q"], "stacks": [{"fluent": "(at ?piece ?stack)"}]}, "(at 2 q)", "(at 10 q)") == {
        "p": [],
        "q": ["10", "2"],
    }
    level = {"stacks": [{"fluent": "(at ?piece ?stack ?level)"}]}
    assert stacks(level, "(at 2 q 1)", "(at 10 q 2)") == {"q": ["2", "10"]}


def test_a_move_names_the_stack_of_a_piece() -> None:
    drawn = stacked({"columns": ["p", "q"], "stacks": [{"fluent": "(at ?piece ?stack)"}]}, "(at 2 q)")
    assert places(read_term("(move 2 p)"), drawn) == ("1,0", "0,0")
    assert words_of(drawn) == "stack p: empty. stack q: 2."


def test_a_tray_has_each_piece_as_often_as_its_number_says() -> None:
    layout = {"trays": [{"fluent": "(n ?tray ?piece ?count)", "label": "of"}]}
    (tray,) = board(layout, "(n al pawn 2)", "(n al rook 0)", "(n al king many)").trays
    assert (tray.name, [mark.value for mark in tray.marks]) == ("of al", ["king", "pawn", "pawn"])


def test_trays_are_of_bounded_size() -> None:
    layout = {"trays": [{"fluent": "(n ?tray ?count)", "symbol": "?"}]}
    found = board(layout, *(f"(n t{number} 999999999)" for number in range(150))).trays
    assert (len(found), max(len(tray.marks) for tray in found)) == (100, 100)


def test_numbers_of_cells_run_along_rows_or_like_a_snake() -> None:
    for numbered, up in (("rows", [[4, 5, 6], [1, 2, 3]]), ("snake", [[6, 5, 4], [1, 2, 3]])):
        cells = Cells(Layout.model_validate(GRID | {"rows": "1..2", "numbered": numbered}))
        assert [[cells.number((x, y)) for x in range(3)] for y in range(2)] == up
        assert [cells.place(cells.number((x, y))) for y in range(2) for x in range(3)] == [
            (x, y) for y in range(2) for x in range(3)
        ]
        assert (cells.place(0), cells.place(7)) == (None, None)


def test_only_of_a_veiled_board_of_which_not_all_is_known_cells_are_unknown() -> None:
    layout = Layout.model_validate(
        GRID | {"columns": "1..2", "rows": ["1"], "veiled": True, "pieces": [{"fluent": "(at ?x ?piece)"}]}
    )

    rules, facts = read_rules("(role me)"), [read_term("(at 1 b)")]
    assert board_of(layout, rules, facts, is_partial=True).unknown == {(1, 0)}
    assert board_of(layout, rules, facts).unknown == frozenset()
