"""Cells by the values of a pattern's variables."""

from __future__ import annotations

import pytest

from gdl.boards.boards import Cells, Place, cell_name
from gdl.boards.layout import Layout


def cells(columns: object, rows: object, y: str = "down") -> Cells:
    return Cells(Layout.model_validate({"kind": "grid", "columns": columns, "rows": rows, "y": y}))


@pytest.mark.parametrize(
    ("found", "values", "place"),
    [
        (cells("1..3", "1..3"), {"?x": "2", "?y": "3"}, (1, 2)),
        (cells("1..3", "1..3", "up"), {"?x": "2", "?y": "3"}, (1, 0)),
        (cells("1..3", "1..3"), {"?x": "4", "?y": "3"}, None),
        (cells("1..3", "1..3"), {"?x": "1"}, None),
        (cells("1..3", ["a"]), {"?x": "1"}, (0, 0)),
        (cells("1..3", ["a"]), {"?x": "1", "?y": "b"}, None),
        (cells(["a", "b"], "1..12"), {"?xy": "b12"}, (1, 11)),
        (cells(["a", "b"], "1..12"), {"?xy": "c1"}, None),
        (cells(["1 1", "1 2", "2 1"], "1..2"), {"?bx": "2", "?x": "1", "?y": "2"}, (2, 1)),
        (cells("1..2", ["1 1", "1 2"]), {"?by": "1", "?x": "1", "?y": "2"}, (0, 1)),
        (cells("1..2", ["1 1", "1 2"]), {"?x": "1", "?y": "2"}, None),
        (Cells(Layout()), {"?x": "1", "?y": "1"}, None),
    ],
)
def test_a_cell_is_found_by_column_and_row(found: Cells, values: dict[str, str], place: Place | None) -> None:
    assert found.find(values) == place


def test_the_other_cell_of_a_pattern_is_found_by_its_own_variables() -> None:
    values = {"?x": "1", "?y": "1", "?x2": "2", "?y2": "1"}
    assert (cells("1..2", "1..2").find(values), cells("1..2", "1..2").find(values, "2")) == ((0, 0), (1, 0))


def test_cells_have_names_for_pictures() -> None:
    assert cell_name((3, 10)) == "3,10"
