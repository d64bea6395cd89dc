"""What the pages of ratings draw of a leaderboard."""

from __future__ import annotations

from server.leaderboards.leaderboard import leaderboard_of
from server.web.rating_pages import chart_of, elo_range
from tests.kit.server.leaderboards.results import RESULTS, won


def test_the_chart_ends_when_the_last_match_ended() -> None:
    chart = chart_of(leaderboard_of([*RESULTS, won("bob", "ada", 120_000)]))
    assert chart is not None
    assert (chart.first, chart.last) == ("1970-01-01 00:00", "1970-01-01 00:02")
    assert [curve.label for curve in chart.curves] == ["ada", "bob", "cyd"]


def test_without_results_there_is_nothing_to_draw() -> None:
    board = leaderboard_of([])
    assert (chart_of(board), elo_range(board.rows)) == (None, (0.0, 0.0))


def test_the_range_holds_all_intervals() -> None:
    rows = leaderboard_of(RESULTS).rows
    assert elo_range(rows) == (min(row.rating.low for row in rows), max(row.rating.high for row in rows))
