"""Changes to a text that leave all else as it is: a span and what stands there instead."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from gdl.source import Source, Span


@dataclass(frozen=True, slots=True)
class Edit:
    """The characters of `span` give way to `text`."""

    span: Span
    text: str = ""


def edited(source: Source, edits: Iterable[Edit]) -> str:
    """Return the text of *source* after *edits*, in whatever order they are given.

    Raises:
        ValueError: two of them overlap.

    Example:
        >>> source = Source("<rules>", "(a b c)")
        >>> edited(source, [Edit(Span(source, 5, 6), "d"), Edit(Span(source, 1, 3))])
        '(b d)'
    """
    in_order = sorted(edits, key=lambda edit: edit.span.start)
    if any(first.span.end > second.span.start for first, second in pairwise(in_order)):
        raise ValueError("edits overlap")
    return "".join(_pieces(source.text, in_order))


def _pieces(text: str, edits: Iterable[Edit]) -> Iterator[str]:
    done = 0
    for edit in edits:
        yield text[done : edit.span.start]
        yield edit.text
        done = edit.span.end
    yield text[done:]


class Taken:
    """The spans of a text that edits have taken already."""

    def __init__(self) -> None:
        self._spans: list[tuple[int, int]] = []

    def take(self, edits: Iterable[Edit]) -> bool:
        """Take the spans of *edits*, all or, where one overlaps or touches a span taken before, none; say which.

        Edits that touch depend on each other: whether a blank must stand between two names, for example.
        """
        spans = sorted((edit.span.start, edit.span.end) for edit in edits)
        if any(self._meets(*span) for span in spans) or any(a[1] > b[0] for a, b in pairwise(spans)):
            return False
        for span in spans:
            insort(self._spans, span)
        return True

    def _meets(self, start: int, end: int) -> bool:
        after = bisect_right(self._spans, (start, end))
        before = self._spans[after - 1][1] >= start if after else False
        return before or (after < len(self._spans) and self._spans[after][0] <= end)
