"""Edits of a text: applied together, apart from each other, and nothing else changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.diagnostics import Source, Span
from gdl.editing.edits import Edit, Taken, edited

SOURCE = Source("<rules>", "0123456789")


def edit(start: int, end: int, text: str = "") -> Edit:
    return Edit(Span(SOURCE, start, end), text)


def test_edits_replace_their_spans_in_any_order() -> None:
    assert edited(SOURCE, [edit(8, 10, "end"), edit(0, 1), edit(3, 5, "-")]) == "12-567end"


def test_edits_that_overlap_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        edited(SOURCE, [edit(0, 3), edit(2, 4)])


def test_all_or_none_of_a_group_is_taken_and_none_that_touches_another() -> None:
    taken = Taken()
    groups = [[edit(2, 4), edit(6, 7)], [edit(0, 1), edit(3, 5)], [edit(4, 5)], [edit(0, 1), edit(8, 9)]]
    assert [taken.take(group) for group in groups] == [True, False, False, True]


spans = st.tuples(st.integers(0, 10), st.integers(0, 10)).map(lambda ends: (min(ends), max(ends)))


@given(st.lists(st.lists(spans, min_size=1, max_size=2), max_size=8))
def test_a_group_is_taken_exactly_if_it_is_apart_from_all_taken_before(groups: list[list[tuple[int, int]]]) -> None:
    taken, kept = Taken(), list[tuple[int, int]]()
    for group in groups:
        is_apart = all(end < a or start > b for start, end in group for a, b in kept)
        is_apart &= len(group) == 1 or min(group)[1] <= max(group)[0]
        assert taken.take(edit(*span) for span in group) == is_apart
        kept += group if is_apart else []
