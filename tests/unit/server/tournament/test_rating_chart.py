"""The chart of ratings."""

from __future__ import annotations

from server.tournament.rating_chart import rating_chart
from server.tournament.ratings import Rating


def rating(elo: float) -> Rating:
    return Rating("ada", elo, elo - 100, elo + 100, 5)


def test_a_chart_has_a_line_its_interval_and_round_numbers() -> None:
    chart = rating_chart({"ada": [(1, rating(1400)), (3, rating(1600))]}, "then", "now")
    assert chart is not None
    (curve,) = chart.curves
    # The higher the rating, the smaller y; the first point is left, and the last one right.
    assert curve.line == "46.0,172.9 710.0,71.1"
    assert len(curve.area.split()) == 4
    assert curve.end == (710.0, 71.1)
    assert [tick.elo for tick in chart.ticks] == [1300, 1400, 1500, 1600, 1700]


def test_without_points_there_is_no_chart() -> None:
    assert rating_chart({"ada": []}, "then", "now") is None


def test_a_single_point_is_in_the_middle() -> None:
    chart = rating_chart({"ada": [(7, rating(1500))]}, "then", "now", has_areas=False)
    assert chart is not None
    assert (chart.curves[0].line, chart.curves[0].area) == ("378.0,122.0", "")
