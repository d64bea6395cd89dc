"""What the page of a match shows of the players' thoughts."""

from __future__ import annotations

from dataclasses import replace

from gdl.wire.insights import Insight
from server.web.insight_view import HEIGHT, WIDTH, InsightRow, ValueChart, insight_view_of
from server.web.match_view import MatchView, MoveView, ReachedState, StepView

ROLES = ("x", "o")
EVEN = Insight(1_200, 800, 9.46, 50.0, ("( mark 1 1 )", "noop"))
SURE = Insight(0, 0, 0.0, 100.0, is_proven=True)
BLANK = Insight(7, 0, 0.0, None)


def view(*told: tuple[Insight | None, ...]) -> MatchView:
    """Return a match in whose steps the roles told this; () is nothing."""
    move = MoveView("noop", "", 5, "player")
    steps = [StepView(n, (move, move), insights) for n, insights in enumerate(told, 1)]
    return MatchView(steps=steps, states=[ReachedState(n, n, "( )", None) for n in range(len(told) + 1)])


def chart(match: MatchView, step: int = 0) -> ValueChart:
    found = insight_view_of(match, ROLES, step)
    assert found is not None
    assert found.chart is not None
    return found.chart


def test_nothing_is_shown_where_no_player_tells() -> None:
    assert insight_view_of(view(), ROLES, 0) is None
    assert insight_view_of(view((), (None, None)), ROLES, 1) is None


def test_the_thoughts_of_a_step_are_words_and_missing_ones_are_left_out() -> None:
    found = insight_view_of(view((EVEN, None), (SURE, BLANK)), ROLES, 1)
    assert found is not None
    assert found.of_step == (InsightRow("x", "50", False, "9.5", "1,200", "800", ("(mark 1 1)", "noop")),)
    found = insight_view_of(view((EVEN, None), (SURE, BLANK)), ROLES, 2)
    assert found is not None
    assert found.of_step == (
        InsightRow("x", "100", True, "", "", "", ()),
        InsightRow("o", "", False, "", "7", "", ()),
    )


def test_a_curve_goes_through_all_values_that_a_role_told() -> None:
    (curve,) = chart(view((EVEN, None), (None, None), (SURE, BLANK))).curves
    assert (curve.seat, curve.role, curve.line) == (0, "x", "48.0,104.0 708.0,14.0")
    assert curve.dots == ((48.0, 104.0), (708.0, 14.0))


def test_a_role_keeps_its_colour_where_the_other_tells_nothing() -> None:
    assert [curve.seat for curve in chart(view((None, EVEN))).curves] == [1]


def test_the_step_that_is_looked_at_is_marked_and_the_first_state_is_none() -> None:
    told = view((EVEN, None), (EVEN, None), (EVEN, None))
    assert [chart(told, step).marked_x for step in range(4)] == [None, 48.0, 378.0, 708.0]


def test_values_without_a_number_have_no_chart() -> None:
    found = insight_view_of(view((BLANK, None)), ROLES, 1)
    assert found is not None
    assert (found.chart, len(found.of_step)) == (None, 1)


def test_one_role_is_shown_alone() -> None:
    told = view((EVEN, SURE))
    found = insight_view_of(told, ROLES, 1, only=1)
    assert found is not None
    assert [row.role for row in found.of_step] == ["o"]
    assert insight_view_of(view((EVEN, None)), ROLES, 1, only=1) is None


def test_a_long_match_fits_and_has_a_dot_at_the_end_of_its_curve_alone() -> None:
    told = view(*((replace(EVEN, value=float(n % 101)), None) for n in range(300)))
    (curve,) = chart(told).curves
    points = [tuple(map(float, point.split(","))) for point in curve.line.split()]
    assert (len(points), len(curve.dots)) == (300, 1)
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in points)
