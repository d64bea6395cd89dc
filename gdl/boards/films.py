"""The positions of a match as one moving picture: SVG that shows them one after the other, again and again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from xml.etree.ElementTree import Element

from gdl.boards.pictures import board_css
from gdl.boards.svg import add, root, written

MAX_FRAMES: Final = 500
"""The most positions of one moving picture."""

_CSS: Final = """
@media (prefers-reduced-motion: reduce) {
  .frame-of-film { visibility: hidden !important; }
  .frame-of-film:last-child { visibility: visible !important; }
}
"""
_PAUSE: Final = 3
"""How many times as long the last position stands."""


def film_of(frames: Sequence[Element], title: str, seconds: float = 1.0) -> str:
    """Return one SVG that shows *frames*, drawings of boards, for so many seconds each, the last one longer.

    Who has asked the system for less motion sees the last one only.
    """
    shown = frames[:MAX_FRAMES]
    width, height = (max((float(frame.get(side, "1")) for frame in shown), default=1) for side in ("width", "height"))
    film = root(width, height, class_="board", role="img")
    add(film, "title", title)
    add(film, "style").text = board_css() + _CSS
    add(film, "rect", width=width, height=height, class_="sheet", fill="#ffffff")
    whole = len(shown) - 1 + _PAUSE
    for number, frame in enumerate(shown):
        group = add(film, "g", class_="frame-of-film", visibility="hidden")
        until = whole if number == len(shown) - 1 else number + 1
        _animate(group, number / whole, until / whole, whole * seconds)
        group.append(frame)
    return written(film)


def _animate(group: Element, start: float, end: float, seconds: float) -> None:
    """Have *group* be seen from *start* to *end*, which are parts of the whole."""
    values, times = ["hidden", "visible"], [0.0, start]
    if start == 0:
        values, times = ["visible"], [0.0]
    if end < 1:
        values, times = [*values, "hidden"], [*times, end]
    add(group, "animate", attributeName="visibility", calcMode="discrete", values=";".join(values),
        keyTimes=";".join(f"{time:.5g}" for time in times), dur=f"{seconds:g}s", repeatCount="indefinite")  # fmt: skip
