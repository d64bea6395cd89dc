"""From a state and a layout to a board, and from a board to text: drawings as whole values."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.boards.boards import Board, board_of
from gdl.boards.layout import Layout
from gdl.boards.pieces import Mark
from gdl.boards.text import text_of
from gdl.language.kif import read_term
from gdl.language.rules import read_rules
from gdl.language.terms import Term

RULES = "(role me) (wall 1 1 east) (wall 2 3 south) (wall 9 9 east) (wall 1 1 up) (blocked 3 1 3 2) (exit 3 3)"
GRID = {"kind": "grid", "columns": "1..3", "rows": "1..3"}
CELLS = {"fluent": "(cell ?x ?y ?piece)", "symbols": {"white": "W", "black": "B"}}


def terms(*facts: str) -> frozenset[Term]:
    return frozenset(map(read_term, facts))


def board(layout: Mapping[str, object], *facts: str) -> Board:
    return board_of(Layout.model_validate(layout), read_rules(RULES), terms(*facts))


def drawn(layout: Mapping[str, object], *facts: str) -> list[str]:
    return text_of(board(layout, *facts)).splitlines()


def test_pieces_stand_where_their_facts_say_and_the_first_row_is_below() -> None:
    facts = ("(cell 1 1 white)", "(cell 3 2 black)", "(cell 2 2 blank)", "(cell 4 4 white)", "(other 1 1 white)")
    assert drawn(GRID | {"pieces": [CELLS]}, *facts) == ["3 . . .", "2 . . B", "1 W . .", "  1 2 3"]


def test_rows_may_run_downwards_and_labels_be_left_out() -> None:
    layout = GRID | {"pieces": [CELLS], "y": "down", "labels": False, "empty": "-"}
    assert drawn(layout, "(cell 1 1 white)") == ["W - -", "- - -", "- - -"]


def test_columns_and_rows_may_have_names_and_stand_in_any_order_in_the_fluent() -> None:
    layout = {
        "kind": "grid", "columns": ["a", "b"], "rows": ["9", "10"],
        "pieces": [{"fluent": "(at ?y (file ?x) ?piece ?any)", "symbols": {"k": "K"}}],
    }  # fmt: skip
    assert drawn(layout, "(at 10 (file b) k 7)", "(at 9 (rank b) k 7)") == ["10 . K", " 9 . .", "   a b"]


def test_a_piece_without_symbols_is_its_own_value_cut_to_three() -> None:
    layout = GRID | {"pieces": [{"fluent": "(cell ?x ?y ?piece)"}]}
    facts = ("(cell 1 1 8)", "(cell 2 1 rabbit)")
    assert drawn(layout, *facts) == ["3   .   .   .", "2   .   .   .", "1   8 rab   .", "    1   2   3"]


def test_later_entries_lie_on_top_and_none_is_lost() -> None:
    hero = {"fluent": "(hero ?x ?y)", "symbol": "@", "colour": "green"}
    layout = GRID | {"pieces": [CELLS | {"colours": {"white": "white"}}, hero]}
    found = board(layout, "(hero 2 2)", "(cell 2 2 white)", "(cell 1 3 black)")
    white, at = Mark("W", "white", "white", 1), Mark("@", "", "green", 1)
    assert found.marks == {(1, 1): (white, at), (0, 0): (Mark("B", "black", None, 1),)}
    assert text_of(found).splitlines()[:2] == ["3 B . .", "2 . @ ."]


def test_pieces_that_share_a_cell_are_counted_up_to_nine() -> None:
    robots = {"fluent": "(robot ?id ?x ?y ?hits)", "symbol": "R", "count": True, "colour": "red"}
    facts = ["(robot 1 1 1 0)", "(robot 2 2 1 0)", "(robot 3 2 1 1)", *(f"(robot {n} 3 1 0)" for n in range(4, 16))]
    found = board(GRID | {"pieces": [robots]}, *facts)
    assert text_of(found).splitlines()[2] == "1 R 2 9"
    assert found.marks[2, 2] == (Mark("9", "", "red", 12),)


def test_walls_stand_on_sides_and_between_cells_and_the_edge_is_all_wall() -> None:
    layout = GRID | {
        "pieces": [CELLS, {"source": "rules", "fluent": "(exit ?x ?y)", "symbol": "E"}],
        "walls": [{"fluent": "(wall ?x ?y ?side)"}, {"fluent": "(blocked ?x ?y ?x2 ?y2)"}],
    }
    assert drawn(layout, "(cell 1 1 white)") == [
        "  +---+---+---+",
        "3 | .   .   E |",
        "  +   +---+   +",
        "2 | .   .   . |",
        "  +   +   +---+",
        "1 | W | .   . |",
        "  +---+---+---+",
        "    1   2   3",
    ]


def test_walls_may_be_part_of_the_state_and_rows_run_downwards() -> None:
    layout = {
        "kind": "grid", "columns": "1..2", "rows": "1..2", "y": "down", "labels": False,
        "walls": [{"source": "state", "fluent": "(gate ?x ?y ?side)"}],
    }  # fmt: skip
    assert drawn(layout, "(gate 1 1 south)", "(gate 2 2 west)", "(gate 2 2 east)") == [
        "+---+---+",
        "| .   . |",
        "+---+   +",
        "| . | . |",
        "+---+---+",
    ]


def test_heaps_are_rows_of_things_with_their_number() -> None:
    layout = {"kind": "heaps", "heaps": {"fluent": "(heap ?heap ?size)", "symbol": "o"}, "turn": "(control ?role)"}
    facts = ("(heap a 2)", "(heap bb 0)", "(heap c 61)", "(heap d many)", "(control left)")
    assert drawn(layout, *facts) == [
        " a  o o  2",
        "bb    0",
        f" c  {' '.join('o' * 60)} ...  61",
        "left to move",
    ]


def test_whose_turn_it_is_and_captions_stand_below_ordered_by_their_facts() -> None:
    layout = {
        "turn": "(control ?role)",
        "captions": [
            {"fluent": "(holds ?who ?what)", "text": "?who has ?what, says ?nobody"},
            {"fluent": "(over)", "text": "over"},
        ],
    }
    facts = ("(holds bob king)", "(holds al queen)", "(control al)", "over")
    assert drawn(layout, *facts) == ["al to move", "al has queen, says ?nobody", "bob has king, says ?nobody", "over"]


def test_a_value_that_looks_like_a_variable_is_not_replaced_again() -> None:
    layout = {"captions": [{"fluent": "(pair ?a ?ab)", "text": "?a ?ab"}]}
    assert drawn(layout, "(pair x?ab y)") == ["x?ab y"]


def test_without_a_layout_the_facts_are_listed_in_words_and_in_order() -> None:
    facts = "(inHand bob 10)", "(inHand bob 2)", "(f (g 1))", "q", "(q 1)"
    assert drawn({}, *facts) == ["f: (g 1)", "in hand: bob 2, bob 10", "q: 1", "q"]


def test_facts_of_a_caption_with_a_label_share_a_line() -> None:
    caption = {"fluent": "(owner ?n ?who)", "text": "?n ?who", "label": "owner"}
    facts = "(owner 10 red)", "(owner 9 blue)"
    assert (drawn({"captions": [caption]}, *facts), drawn({"captions": [caption]})) == (["owner: 9 blue, 10 red"], [])


@pytest.mark.parametrize(
    ("n_facts", "n_lines", "last"), [(200, 200, "p1199: 1"), (205, 201, "... and 5 kinds of facts more")]
)
def test_a_list_of_facts_is_cut(n_facts: int, n_lines: int, last: str) -> None:
    lines = drawn({}, *(f"(p{1000 + n} 1)" for n in range(n_facts)))
    assert (len(lines), lines[-1]) == (n_lines, last)


def test_a_line_of_facts_is_cut() -> None:
    (line,) = drawn({}, *(f"(p {n})" for n in range(105)))
    assert line.startswith("p: 0, 1, 2, ")
    assert line.endswith(", 99 and 5 more")


def test_no_fact_can_write_long_lines_or_move_the_cursor() -> None:
    lines = drawn(
        {"captions": [{"fluent": "(say ?what)", "text": "?what?what"}]}, "(say a\x1b[2J)", f"(say {'b' * 999})"
    )
    assert lines == ["a?[2Ja?[2J", "b" * 200]


def test_paint_colours_symbols_without_moving_them() -> None:
    layout = GRID | {"pieces": [CELLS | {"colours": {"white": "red"}}]}
    text = text_of(board(layout, "(cell 1 1 white)"), lambda symbol, colour: f"<{symbol}>" if colour else symbol)
    assert text.splitlines()[2] == "1 <W> . ."


def small_terms() -> st.SearchStrategy[str]:
    names = st.sampled_from(
        ["cell", "wall", "heap", "1", "2", "3", "white", "east", "-1", "9999999999", "\u2460", "\x1b"]
    )
    return st.recursive(names, lambda inner: st.lists(inner, min_size=1, max_size=4).map(_listed), max_leaves=5)


def _listed(parts: list[str]) -> str:
    return f"(cell {' '.join(parts)})"


@given(st.lists(small_terms(), max_size=5))
def test_any_facts_are_drawn_in_printable_lines(facts: list[str]) -> None:
    layout = GRID | {
        "pieces": [CELLS, {"fluent": "(cell ?x ?y)", "symbol": "+", "count": True}],
        "turn": "(cell ?role)",
    }
    layout |= {"walls": [{"source": "state", "fluent": "(cell ?x ?y ?side)"}]}
    assert all(line.isprintable() for line in drawn(layout, *facts))
    heaps = {"kind": "heaps", "heaps": {"fluent": "(cell ?heap ?size)"}}
    assert all(line.isprintable() for line in drawn(heaps, *facts))


def test_a_board_has_a_bounded_number_of_marks() -> None:
    layout = GRID | {"pieces": [{"fluent": "(cell ?x ?y ?piece)"}] * 100}
    found = board(layout, *(f"(cell 1 1 p{n})" for n in range(1_000)))
    assert sum(map(len, found.marks.values())) == 20_000


def test_a_variable_stands_for_one_thing_in_a_pattern() -> None:
    layout = GRID | {"pieces": [{"fluent": "(cell ?x ?y (owner ?piece ?piece))"}]}
    found = board(
        layout, "(cell 1 1 (owner a a))", "(cell 2 2 (owner a b))", "(cell 3 3 owner)", "(cell 3 1 (owner a))"
    )
    assert {place: marks[0].value for place, marks in found.marks.items()} == {(0, 2): "a"}


def test_equal_states_have_equal_boards() -> None:
    facts = ("(cell 1 1 white)", "(cell 1 1 black)")
    layout = GRID | {"pieces": [CELLS]}
    assert board(layout, *facts) == board(layout, *reversed(facts))
