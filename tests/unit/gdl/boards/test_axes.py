"""Names as columns and rows."""

from __future__ import annotations

import pytest

from gdl.boards.axes import Axis, axis_of, words_of_cells
from gdl.boards.pieces import natural


@pytest.mark.parametrize(
    ("names", "ordered"),
    [
        ("10 2 1", ("1", "2", "10")),
        ("c10 c2 c1", ("c1", "c2", "c10")),
        ("b c a", ("a", "b", "c")),
        ("-1 0 1", ("-1", "0", "1")),
        ("x o b", None),
        ("a c d", None),
        ("1 2 b", None),
        ("r1 c2", None),
        ("1", None),
        (" ".join(map(str, range(101))), None),
    ],
)
def test_numbers_and_letters_have_an_order(names: str, ordered: tuple[str, ...] | None) -> None:
    axis = axis_of(names.split(), ())
    assert (None if axis is None else axis.names) == ordered


@pytest.mark.parametrize(
    ("names", "variables", "is_column"),
    [
        ("1 2", ["?x", "?x1", "?col"], True),
        ("1 2", ["?y", "?row", "?rank2"], False),
        ("1 2", ["?m", "?n"], None),
        ("a b", ["?n"], True),
        ("r1 r2", ["?x"], False),
        ("c1 c2", [], True),
    ],
)
def test_variables_and_names_tell_columns_from_rows(names: str, variables: list[str], is_column: bool | None) -> None:
    axis = axis_of(names.split(), variables)
    assert isinstance(axis, Axis)
    assert (None if axis.x == axis.y else axis.x > axis.y) == is_column


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ("a1 a2 a3 b1 b2 b3 c1 c2 c3", (("a", "b", "c"), ("1", "2", "3"))),
        ("a1 a2 b10 b1 c2 c1 a10 out", (("a", "b", "c"), ("1", "2", "10"))),
        ("a1 b2 c3 d4 e5 f6", None),
        ("a1 a2 a3 a4", None),
        ("blank x o", None),
    ],
)
def test_words_of_a_letter_and_a_number_are_cells(
    names: str, found: tuple[tuple[str, ...], tuple[str, ...]] | None
) -> None:
    assert words_of_cells(names.split()) == found


def test_texts_are_sorted_by_the_numbers_in_them_and_digits_of_other_scripts_are_letters() -> None:
    others = "\N{ARABIC-INDIC DIGIT THREE}" * 5_000  # more than Python makes a number of
    assert sorted([others, "c10", "c2", "b"], key=natural) == ["b", "c2", "c10", others]
