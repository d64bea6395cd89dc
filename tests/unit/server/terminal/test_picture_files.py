"""The contact sheet: every game in its frame, what is not drawn with its reason, and nothing but text from outside."""

from __future__ import annotations

import pytest

from gdl.boards.layout import Layout
from server.terminal.picture_files import SheetEntry, kind_of, sheet_of, summary
from tests.kit.gdl.boards.drawn import GRID


@pytest.mark.parametrize(
    ("layout", "kind"),
    [
        ({}, "facts"),
        ({"trays": [{"fluent": "(hand ?piece)"}]}, "trays"),
        ({"kind": "stacks", "stacks": [{"fluent": "(on ?piece ?below)"}]}, "stacks"),
        (GRID, "squares"),
        (GRID | {"checkered": True}, "checkered"),
        (GRID | {"rows": ["1"]}, "one row"),
        (GRID | {"columns": ["1 a", "1 b"]}, "several boards"),
        (GRID | {"cells": "flat-hexagons"}, "flat hexagons"),
        (GRID | {"cells": "points"}, "points"),
        (GRID | {"cells": "points", "lines": [{"fluent": "(l ?x ?y)", "side": "east"}]}, "lines between points"),
    ],
)
def test_every_layout_has_a_kind(layout: dict[str, object], kind: str) -> None:
    assert kind_of(Layout.model_validate(layout)) == kind


def test_kinds_are_counted_the_most_common_first() -> None:
    kinds = ("facts", "squares", "heaps", "squares")
    assert summary([SheetEntry("a", kind, None) for kind in kinds]) == "4 games: squares 2, facts 1, heaps 1"
    assert (summary([SheetEntry("a", "facts", None)]), summary([])) == ("1 game: facts 1", "no games")


def test_names_and_reasons_are_text() -> None:
    page = sheet_of(
        [SheetEntry("<script>", "squares", "<svg></svg>"), SheetEntry("b", "none", None, "line 1: <b>\u202e&")]
    )
    assert page.count("<script>") == page.count("\u202e") == page.count("<b>") == 0
    assert ("&lt;script&gt;" in page, "<svg></svg>" in page, "line 1: &lt;b&gt;?&amp;" in page) == (True, True, True)
