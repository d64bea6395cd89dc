"""What the pages of ratings draw of a leaderboard."""

from __future__ import annotations

from server.leaderboards.leaderboard import leaderboard_of
from server.web.rating_pages import chart_of
from tests.kit.server.leaderboards.results import RESULTS, won


def test_the_chart_ends_when_the_last_match_ended() -> None:
    chart = chart_of(leaderboard_of([*RESULTS, won("bob", "ada", 120_000)]))
    assert chart is not None
    assert (chart.first, chart.last) == ("1970-01-01 00:00", "1970-01-01 00:02")
    assert [curve.label for curve in chart.curves] == ["ada", "bob", "cyd"]


def test_without_results_there_is_nothing_to_draw() -> None:
    assert chart_of(leaderboard_of([])) is None
