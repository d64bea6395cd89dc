"""Who did best in a match, as lists show it."""

from __future__ import annotations

import pytest

from server.storage.rows import SeatKind, SeatRow
from server.web.match_lists import seat_lines
from tests.kit.server.storage.samples import match


@pytest.mark.parametrize(
    ("goals", "best"),
    [
        ((100, 0), [True, False]),
        ((50, 50), [False, False]),
        ((None, 50), [False, False]),
        ((0, None), [False, False]),
        ((None, None), [False, False]),
        ((None, 0, 50), [False, False, True]),
    ],
)
def test_who_has_no_goal_is_not_compared(goals: tuple[int | None, ...], best: list[bool]) -> None:
    seats = [SeatRow("m", f"r{i}", i, f"p{i}", SeatKind.HTTP, goal) for i, goal in enumerate(goals)]
    lines = seat_lines(match("m", goals=goals), seats)
    assert [(line.goal, line.is_best) for line in lines] == list(zip(goals, best, strict=True))


def test_chance_is_not_compared_and_a_match_that_goes_on_has_no_goals() -> None:
    seats = [SeatRow("m", "random", 0, "random", SeatKind.CHANCE, 100), SeatRow("m", "x", 1, "ann", SeatKind.HTTP, 0)]
    assert [line.is_best for line in seat_lines(match("m", goals=(100, 0)), seats)] == [False, False]
    assert [(line.goal, line.is_best) for line in seat_lines(match("m"), seats)] == [(None, False), (None, False)]
