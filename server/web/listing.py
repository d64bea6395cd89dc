"""A rule file as a listing: every kind of word has a class of its own, problems are underlined and told where they are.

The text comes from anybody. It leaves here escaped, and without characters that would change the order of others.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from markupsafe import Markup
from pygments.token import STANDARD_TYPES, _TokenType

from gdl.diagnostics import Diagnostic
from gdl.editing.highlighting import GdlLexer
from gdl.source import Source

MAX_CHARACTERS: Final = 60_000
"""The longest text that is listed; of a longer one only the beginning is."""
MAX_REMARKS: Final = 100
"""The most problems that are told of one text."""

_SEVERITIES: Final = ("error", "warning", "note")
_PIECE: Final = Markup('<span class="{}">{}</span>')
_PROBLEM: Final = Markup('<mark class="{}">{}</mark>')
_LINE: Final = Markup('<li id="{}L{}"><span class="line">{}</span>{}</li>\n')
_SAID: Final = Markup('<div class="said {0}"><strong>{1}</strong>{2} <code>{3}</code></div>')
_HINT: Final = Markup('<div class="hint">{}</div>')


@dataclass(frozen=True, slots=True)
class Remark:
    """What is wrong from the character `start` up to and without `end`."""

    start: int
    end: int
    line: int
    column: int
    severity: str
    code: str
    message: str
    hint: str = ""


def remark_of(found: Diagnostic) -> Remark:
    """Return *found* as a remark."""
    span = found.span
    return Remark(
        span.start, span.end, span.line, span.column, str(found.severity), found.code.name, found.message,
        found.hint or "",
    )  # fmt: skip


def told_remarks(text: str, diagnostics: Sequence[Mapping[str, Any]]) -> tuple[Remark, ...]:
    """Return the remarks that a stored report makes on *text*: its entries have places by line and column."""
    source = Source("", text)
    return tuple(
        Remark(
            _offset(source, told["line"], told["column"]),
            _offset(source, told["endLine"], told["endColumn"]),
            told["line"],
            told["column"],
            told["severity"] if told["severity"] in _SEVERITIES else "note",
            told["code"],
            told["message"],
            told["hint"],
        )
        for told in diagnostics[:MAX_REMARKS]
    )


def _offset(source: Source, line: int, column: int) -> int:
    starts = source.line_starts
    return min(starts[max(0, min(line, len(starts)) - 1)] + column - 1, len(source.text))


@lru_cache(maxsize=64)
def listing(text: str, remarks: tuple[Remark, ...] = (), prefix: str = "") -> Markup:
    """Return the lines of *text* as elements of a list; *prefix* begins their ids, which end in `L` and the number."""
    shown = text[:MAX_CHARACTERS]
    lines: list[list[Markup]] = [[]]
    for piece in _pieces(shown, remarks):
        for number, part in enumerate(piece.text.split("\n")):
            if number:
                lines.append([])
            if part:
                lines[-1].append(_marked(part, piece))
    by_line: dict[int, list[Remark]] = {}
    for remark in remarks:
        by_line.setdefault(min(remark.line, len(lines)), []).append(remark)
    return Markup("").join(
        _LINE.format(prefix, number, Markup("").join(line), Markup("").join(map(_said, by_line.get(number, ()))))
        for number, line in enumerate(lines, 1)
    )


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    kind: str
    severity: str | None


def _pieces(text: str, remarks: Sequence[Remark]) -> Iterator[_Piece]:
    """Yield the tokens of *text*, cut where a remark begins or ends."""
    cuts = sorted({0, *(offset for remark in remarks for offset in _ends(remark))})
    severities = [_severity(cut, remarks) for cut in cuts]
    for start, token, value in GdlLexer().get_tokens_unprocessed(text):
        first, end = start, start + len(value)
        for cut in (*cuts[bisect_left(cuts, start + 1) : bisect_left(cuts, end)], end):
            yield _Piece(text[first:cut], _kind(token), severities[bisect_right(cuts, first) - 1])
            first = cut


def _ends(remark: Remark) -> tuple[int, int]:
    """Return where the mark of *remark* begins and ends: it is of one character at least."""
    return remark.start, max(remark.end, remark.start + 1)


def _severity(offset: int, remarks: Sequence[Remark]) -> str | None:
    """Return how bad the worst is that is said of the character at *offset*."""
    found = (remark.severity for remark in remarks if _ends(remark)[0] <= offset < _ends(remark)[1])
    return min(found, key=_SEVERITIES.index, default=None)


def _kind(token: _TokenType) -> str:
    return STANDARD_TYPES.get(token, "")


def _marked(part: str, piece: _Piece) -> Markup:
    shown = Markup.escape(plain(part))
    if piece.kind and piece.kind != "w":
        shown = _PIECE.format(piece.kind, shown)
    return shown if piece.severity is None else _PROBLEM.format(piece.severity, shown)


def plain(text: str) -> str:
    """Return *text* with a mark in the place of what does not show, or would turn round what follows it."""
    return "".join(char if char.isprintable() or char in "\t\n" else "\ufffd" for char in text)


def _said(remark: Remark) -> Markup:
    hint = _HINT.format(plain(remark.hint)) if remark.hint else ""
    return _SAID.format(remark.severity, plain(remark.message), hint, remark.code)
