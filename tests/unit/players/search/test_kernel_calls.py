"""The pace of kernels: calls take about the same time, whatever their steps take."""

from __future__ import annotations

import pytest

from players.search.kernel_calls import Pace


def paced(calls: list[tuple[float, float]]) -> list[int]:
    """Return the numbers of steps after calls that took *seconds*, and did a share of the steps that they could."""
    now_s, found = 0.0, []
    pace = Pace(lambda: now_s)
    for seconds, share in calls:
        pace.begin()
        now_s += seconds
        pace.end(int(share * pace.n_steps))
        found.append(pace.n_steps)
    return found


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([(0.001, 1.0)] * 4, [2, 4, 8, 16]),
        ([(0.001, 1.0), (0.01, 1.0), (0.015, 1.0)], [2, 2, 2]),
        ([(0.001, 1.0), (0.001, 1.0), (0.1, 1.0), (0.1, 0.0), (0.1, 1.0)], [2, 4, 2, 1, 1]),
        ([(0.001, 1.0), (0.001, 0.0), (0.001, 0.5)], [2, 2, 2]),
    ],
)
def test_steps_grow_where_calls_are_short_and_whole_and_shrink_where_they_are_long(
    calls: list[tuple[float, float]], expected: list[int]
) -> None:
    assert paced(calls) == expected
