"""The chart of ratings: a curve for each player, with the area of its interval, and lines at round numbers of Elo."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from server.tournament.ratings import Rating

WIDTH: Final = 720
HEIGHT: Final = 260
_LEFT: Final = 46
_RIGHT: Final = 10
_TOP: Final = 10
_BOTTOM: Final = 26
_MOST_TICKS: Final = 6
_SPACINGS: Final = (10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)


@dataclass(frozen=True, slots=True)
class RatingCurve:
    """A curve: its label, the points of its line, those of the area of its interval, and where it ends."""

    label: str
    line: str
    area: str
    end: tuple[float, float]


@dataclass(frozen=True, slots=True)
class RatingTick:
    """A line of the chart at a round number of Elo."""

    elo: int
    y: float


@dataclass(frozen=True, slots=True)
class RatingChart:
    """The chart, and the words below its beginning and its end."""

    curves: tuple[RatingCurve, ...]
    ticks: tuple[RatingTick, ...]
    first: str
    last: str
    width: int = WIDTH
    height: int = HEIGHT
    left: int = _LEFT
    right: int = WIDTH - _RIGHT


@dataclass(frozen=True, slots=True)
class _Scale:
    """Where a place and a rating are on the chart."""

    first: float
    last: float
    low: float
    high: float

    def x(self, place: float) -> float:
        share = (place - self.first) / (self.last - self.first) if self.last > self.first else 0.5
        return round(_LEFT + share * (WIDTH - _LEFT - _RIGHT), 1)

    def y(self, elo: float) -> float:
        return round(_TOP + (self.high - elo) / (self.high - self.low) * (HEIGHT - _TOP - _BOTTOM), 1)


def rating_chart(
    curves: Mapping[str, Sequence[tuple[float, Rating]]], first: str, last: str, *, has_areas: bool = True
) -> RatingChart | None:
    """Return the chart of *curves*, each a sequence of places and ratings, by label; None where there is no point.

    *first* and *last* say below the chart what its ends are; with *has_areas* the intervals are drawn, and fit on it.
    """
    points = [point for found in curves.values() for point in found]
    if not points:
        return None
    places = [place for place, _ in points]
    lows = [rating.low if has_areas else rating.elo for _, rating in points]
    highs = [rating.high if has_areas else rating.elo for _, rating in points]
    scale = _Scale(min(places), max(places), min(lows) - 20, max(highs) + 20)
    drawn = tuple(_curve(label, found, scale, has_areas=has_areas) for label, found in curves.items() if found)
    return RatingChart(drawn, _ticks(scale), first, last)


def _curve(label: str, points: Sequence[tuple[float, Rating]], scale: _Scale, *, has_areas: bool) -> RatingCurve:
    found = [(scale.x(place), rating) for place, rating in points]
    line = " ".join(f"{x},{scale.y(rating.elo)}" for x, rating in found)
    above = [f"{x},{scale.y(rating.high)}" for x, rating in found]
    below = [f"{x},{scale.y(rating.low)}" for x, rating in reversed(found)]
    x, rating = found[-1]
    return RatingCurve(label, line, " ".join(above + below) if has_areas else "", (x, scale.y(rating.elo)))


def _ticks(scale: _Scale) -> tuple[RatingTick, ...]:
    extent = scale.high - scale.low
    spacing = next((each for each in _SPACINGS if extent / each <= _MOST_TICKS), _SPACINGS[-1])
    first = math.ceil(scale.low / spacing) * spacing
    return tuple(RatingTick(elo, scale.y(elo)) for elo in range(first, math.floor(scale.high) + 1, spacing))
