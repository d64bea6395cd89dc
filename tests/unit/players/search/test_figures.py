"""The choice among moves by what a search knows of them, and what it tells of that."""

from __future__ import annotations

import numpy as np
import pytest

from gdl.language.terms import Constant
from players.player import Insight
from players.search.tree.figures import MoveFigures, chosen_among, insight_of

A, B, C = Constant("a"), Constant("b"), Constant("c")


@pytest.mark.parametrize(
    ("found", "is_decision", "expected"),
    [
        ([], True, None),
        ([], False, None),
        ([MoveFigures(A, 9, 10.0, 0, 100), MoveFigures(B, 8, 90.0, 0, 100)], True, A),
        ([MoveFigures(A, 9, 10.0, 0, 100), MoveFigures(B, 9, 90.0, 0, 100)], True, B),
        ([MoveFigures(A, 90, 70.0, 0, 100), MoveFigures(B, 1, 100.0, 100, 100)], True, B),
        ([MoveFigures(A, 90, 70.0, 0, 100), MoveFigures(B, 1, 50.0, 50, 50)], True, A),
        ([MoveFigures(A, 90, 40.0, 0, 100), MoveFigures(B, 1, 50.0, 50, 50)], True, B),
        ([MoveFigures(A, 90, 70.0, 0, 50), MoveFigures(B, 1, 50.0, 50, 50), MoveFigures(C, 2, 60.0, 0, 100)], True, C),
        ([MoveFigures(A, 9, 10.0, 0, 0), MoveFigures(B, 8, 90.0, 100, 100)], False, A),
        ([MoveFigures(A, 9, 10.0, 0, 100), MoveFigures(B, 9, 90.0, 0, 100)], False, B),
    ],
)
def test_the_most_walked_open_move_is_chosen_or_a_proven_one_that_is_as_good(
    found: list[MoveFigures], is_decision: bool, expected: Constant | None
) -> None:
    assert chosen_among(found, is_decision=is_decision) == expected


def test_an_insight_has_what_was_counted_and_the_worth_of_the_best_move() -> None:
    found = [MoveFigures(A, 30, 61.239, 0, 100), MoveFigures(B, 3, 0.0, 50, 50)]
    counted = np.array([40, 35, 4, 100])
    assert insight_of(A, found, counted, [A, C]) == Insight(40, 35, 2.5, 61.24, ("a", "c"))
    assert insight_of(B, found, counted, [B]) == Insight(40, 35, 2.5, 50.0, ("b",), is_proven=True)
    assert insight_of(None, [], np.zeros(4, np.int64), []) == Insight(0, 0, 0.0, None)
