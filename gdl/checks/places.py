"""Where the parts of a form stand: diagnostics point at the argument, not at the whole condition."""

from __future__ import annotations

from gdl.kif import ReadLimits, read_forms
from gdl.source import Source, Span

_NO_LIMITS = ReadLimits(max_characters=1 << 62, max_depth=1 << 62)
"""The text has been read before, within the limits that hold."""


def part(whole: Span, *path: int) -> Span:
    """Return where a part of the form at *whole* stands: `part(span, 2, 1)` is the first argument of the second.

    A path that leads nowhere stops at the last form there is.
    """
    form = read_forms(Source("", whole.text), _NO_LIMITS)[0]
    for index in path:
        if form.children is None or index >= len(form.children):
            break
        form = form.children[index]
    return Span(whole.source, whole.start + form.start, whole.start + form.end)
