"""Insights as the page of a match shows them: the goals that roles expected as a chart, and one step in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gdl.wire.insights import Insight
from server.web.match_view import MatchView, StepView
from server.web.template_filters import plain_term

WIDTH: Final = 720
HEIGHT: Final = 220
LEFT: Final = 48
_RIGHT: Final = 12
_TOP: Final = 14
_BOTTOM: Final = 26
_MOST: Final = 100.0
_TICKS: Final = (0, 25, 50, 75, 100)
_MAX_DOTS: Final = 80
"""A curve of more points has a dot at its end alone."""


@dataclass(frozen=True, slots=True)
class ValueCurve:
    """The goals that a role expected: the number of its seat, its name, the points of the line, those with a dot."""

    seat: int
    role: str
    line: str
    dots: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class ValueChart:
    """The curves of a match, lines at round goals by their heights, and where the step that is looked at stands."""

    curves: tuple[ValueCurve, ...]
    ticks: tuple[tuple[int, float], ...]
    n_steps: int
    marked_x: float | None
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - _RIGHT
    bottom: int = HEIGHT - _BOTTOM


@dataclass(frozen=True, slots=True)
class InsightRow:
    """What a role thought before a move, in words; a word is empty where it did not tell."""

    role: str
    value: str
    is_proven: bool
    depth: str
    leaves: str
    playouts: str
    line: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InsightView:
    """What the page of a match shows of insights: all values as a chart, if there are any, and those of one step."""

    chart: ValueChart | None
    of_step: tuple[InsightRow, ...]


def insight_view_of(view: MatchView, roles: Sequence[str], step: int, only: int | None = None) -> InsightView | None:
    """Return what the players of *view* thought, of the move that led to state *step* in words.

    *only* names the one role to show. None where no player tells, or nothing of it may be known yet.
    """
    seats = [seat for seat in range(len(roles)) if only is None or seat == only]
    if not any(_told(found, seat) for found in view.steps for seat in seats):
        return None
    at = view.step_to(step)
    told = [(roles[seat], _told(at, seat)) for seat in seats] if at is not None else []
    return InsightView(
        _chart(view, roles, seats, step),
        tuple(_in_words(role, insight) for role, insight in told if insight is not None),
    )


def _told(step: StepView, seat: int) -> Insight | None:
    return step.insights[seat] if step.insights else None


def _chart(view: MatchView, roles: Sequence[str], seats: Sequence[int], step: int) -> ValueChart | None:
    curves = tuple(curve for seat in seats if (curve := _curve(view, seat, roles[seat])) is not None)
    if not curves:
        return None
    marked_x = _x(step, view.n_steps) if step else None
    return ValueChart(curves, tuple((goal, _y(goal)) for goal in _TICKS), view.n_steps, marked_x)


def _curve(view: MatchView, seat: int, role: str) -> ValueCurve | None:
    """Return the curve of a role through all values that it told; None where it told none."""
    told = [(step.number, _told(step, seat)) for step in view.steps]
    points = [
        (_x(number, view.n_steps), _y(insight.value))
        for number, insight in told
        if insight is not None and insight.value is not None
    ]
    if not points:
        return None
    dots = points if len(points) <= _MAX_DOTS else points[-1:]
    return ValueCurve(seat, role, " ".join(f"{x},{y}" for x, y in points), tuple(dots))


def _x(step: int, n_steps: int) -> float:
    share = (step - 1) / (n_steps - 1) if n_steps > 1 else 0.5
    return round(LEFT + share * (WIDTH - LEFT - _RIGHT), 1)


def _y(goal: float) -> float:
    return round(_TOP + (_MOST - goal) / _MOST * (HEIGHT - _TOP - _BOTTOM), 1)


def _in_words(role: str, insight: Insight) -> InsightRow:
    return InsightRow(
        role,
        "" if insight.value is None else f"{round(insight.value, 1):g}",
        insight.is_proven,
        f"{round(insight.depth, 1):g}" if insight.depth else "",
        f"{insight.n_leaves:,}" if insight.n_leaves else "",
        f"{insight.n_playouts:,}" if insight.n_playouts else "",
        tuple(map(plain_term, insight.line)),
    )
