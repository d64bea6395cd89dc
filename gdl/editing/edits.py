"""Edits of a text: applied together, kept apart from each other, and those that delete and unwrap without a trace."""

from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from gdl.diagnostics import LINE_END, Source, Span
from gdl.language.kif import BLANKS, Form

_BLANKS_IN_LINE: Final = BLANKS.translate(dict.fromkeys(map(ord, "\r\n")))
_AROUND_NAMES: Final = BLANKS + "();"


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


def unwrapped(form: Form, inner: Form, *leading: Form) -> list[Edit]:
    """Return the edits that leave only *inner* of *form*, and comments; *leading* are the tokens before it."""
    source, text = form.source, form.source.text
    space = " " if text[: form.start] and text[form.start - 1] not in BLANKS + "(" else ""
    behind = " " if text[form.end : form.end + 1] not in ("", *_AROUND_NAMES) else ""
    opening = [Edit(Span(source, form.start, inner.start), space)]
    if ";" in text[form.start : inner.start]:
        tokens = (form.start, form.start + 1), *((token.start, token.end) for token in leading)
        opening = [Edit(Span(source, *token), space if token[0] == form.start else "") for token in tokens]
    closes_at = form.end - 1 if ";" in text[inner.end : form.end] else inner.end
    return [*opening, Edit(Span(source, closes_at, form.end), behind)]


def deletions(spans: Iterable[Span]) -> list[Edit]:
    """Return the edits that delete *spans*, one for several where nothing but blanks stands between."""
    return [_deleted(run) for run in _runs(sorted(spans, key=lambda span: span.start))]


def _runs(spans: Iterable[Span]) -> Iterator[Span]:
    run: Span | None = None
    for span in spans:
        if run and not run.source.text[run.end : span.start].strip(BLANKS):
            run = Span(span.source, run.start, span.end)
            continue
        if run:
            yield run
        run = span
    if run:
        yield run


def _deleted(run: Span) -> Edit:
    """Return the edit that deletes *run*: with its lines where it stands alone on them, else with blanks beside it."""
    text, start, end = run.source.text, run.start, run.end
    while start and text[start - 1] in _BLANKS_IN_LINE:
        start -= 1
    while end < len(text) and text[end] in _BLANKS_IN_LINE:
        end += 1
    line_end = LINE_END.match(text, end)
    begins_line, ends_line = start == 0 or text[start - 1] in "\r\n", end == len(text) or line_end is not None
    if begins_line and ends_line:
        return Edit(Span(run.source, start, line_end.end() if line_end else end))
    if ends_line:
        return Edit(Span(run.source, start, run.end))
    is_joined = start == run.start and start and not {text[start - 1], text[end]} & {*_AROUND_NAMES}
    return Edit(Span(run.source, run.start, end), " " if is_joined else "")
