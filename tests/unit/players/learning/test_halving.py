"""Sequential halving: which of the first moves each walk of a search goes to."""

from __future__ import annotations

import pytest

from players.learning.forest import considered_visits, targets_of


@pytest.mark.parametrize(
    ("n_considered", "n_walks", "expected"),
    [
        (1, 4, [0, 1, 2, 3]),
        (2, 4, [0, 0, 1, 1]),
        (4, 8, [0, 0, 0, 0, 1, 1, 2, 2]),
        (4, 3, [0, 0, 0]),
    ],
)
def test_half_of_the_moves_is_left_after_each_round(n_considered: int, n_walks: int, expected: list[int]) -> None:
    """The tables are those of mctx, `get_sequence_of_considered_visits`."""
    assert considered_visits(n_considered, n_walks) == expected


def test_each_root_has_a_column_by_its_number_of_moves() -> None:
    assert targets_of([1, 2, 9], 2, 4).tolist() == [[0, 0, 0], [1, 0, 0], [2, 1, 1], [3, 1, 1]]
