"""Layouts: what they may say, with every size bounded."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from gdl.boards.layout import Layout

GRID = {"kind": "grid", "columns": "1..2", "rows": "1..2"}


def test_a_range_stands_for_its_numbers_as_names() -> None:
    layout = Layout.model_validate({"kind": "grid", "columns": "-1..2", "rows": ["a", "b"]})
    assert (layout.columns, layout.rows) == (("-1", "0", "1", "2"), ("a", "b"))


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        (GRID | {"columns": "1..101"}, "does not name between 1 and 100 rows or columns"),
        (GRID | {"columns": "1..999999999999"}, "is no range"),
        (GRID | {"columns": "2..1"}, "does not name between 1 and 100"),
        (GRID | {"rows": [str(n) for n in range(101)]}, "at most 100 items"),
        (GRID | {"rows": []}, "at least 1 item"),
        (GRID | {"rows": ["a", "a"]}, "a name occurs twice"),
        ({"kind": "grid", "rows": "1..2"}, "needs `columns` and `rows`"),
        ({"kind": "heaps"}, "needs the table"),
        ({"kind": "hexagons"}, "Input should be 'grid', 'heaps', 'stacks' or 'facts'"),
        ({"turn": "(control ?player)"}, "has no variable \\?role"),
        ({"turn": "?role"}, "a variable alone would match every fluent"),
        ({"turn": "(control ?role"}, "is no pattern of a fluent: this parenthesis is never closed"),
        ({"turn": f"({'f (' * 30}"}, "is no pattern of a fluent: parentheses nest deeper"),
        ({"turn": f"(control ?role {'a ' * 500})"}, "is no pattern of a fluent: the text has"),
        ({"empty": ""}, "at least 1 character"),
        ({"empty": "four"}, "at most 3 characters"),
        ({"empty": "\u00b7"}, "is not plain ASCII"),
        ({"empty": "\x1b"}, "characters that cannot be printed"),
        ({"pieces": [{"fluent": "(cell ?x ?piece)", "symbol": "x"}]}, "has no variable \\?y"),
        ({"pieces": [{"fluent": "(cell ?x ?y white)"}]}, "no variable \\?piece; give all of them one `symbol` "),
        ({"pieces": [{"fluent": "(cell ?x ?y white)", "symbol": "w", "graded": "rows"}]}, "has no variable \\?piece "),
        ({"pieces": [{"fluent": "(cell ?x ?y ?piece)", "symbol": "x", "symbols": {"x": "x"}}]}, "which one"),
        ({"pieces": [{"fluent": "(cell ?x ?y ?piece)", "colour": "mauve"}]}, "'mauve' is no colour: black, red, green"),
        ({"pieces": [{"fluent": "(cell ?x ?y ?piece)"}] * 101}, "at most 100 items"),
        ({"walls": [{"fluent": "(wall ?x ?y)"}]}, "has no variable \\?side"),
        ({"walls": [{"fluent": "(wall ?x ?y ?x2 ?side)"}]}, "has no variable \\?y2"),
        ({"heaps": {"fluent": "(heap ?size)"}}, "has no variable \\?heap"),
        ({"captions": [{"fluent": "(step ?n)", "text": "a\nb"}]}, "characters that cannot be printed"),
        (GRID | {"cells": "hexagons", "shift": "down"}, "of hexagons it may be right or left or odd or even"),
        (GRID | {"shift": "right"}, "of squares it may be none"),
        (GRID | {"cells": "octagons"}, "Input should be 'squares', 'hexagons', 'flat-hexagons', 'points' or 'pits'"),
        (GRID | {"edges": {"top": "red"}}, "Input should be 'north', 'south', 'east' or 'west'"),
        (GRID | {"places": [{"fluent": "(cell ?x)"}]}, "has no variable \\?y"),
        (GRID | {"lines": [{"fluent": "(line ?x ?y)"}]}, "has no variable \\?x2 and no \\?y2"),
        (GRID | {"lines": [{"fluent": "(line ?xy)"}]}, "has no variable \\?xy2"),
        ({"kind": "stacks"}, "needs a table \\[\\[board.stacks\\]\\]"),
        ({"stacks": [{"fluent": "(on ?a ?b)"}]}, "has no variable \\?piece"),
        ({"trays": [{"fluent": "(hand ?tray)"}]}, "has no variable \\?piece"),
        (GRID | {"pieces": [{"fluent": "(at ?cell ?piece)"}]}, "called by a number `\\?cell` need `numbered"),
        (GRID | {"pieces": [{"fluent": "(at ?x ?y ?piece)", "sign": "<b>"}]}, "characters that cannot be shown"),
        ({"colums": "1..2"}, "Extra inputs are not permitted"),
    ],
)
def test_a_wrong_layout_is_refused(layout: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Layout.model_validate(layout)
