"""A rule file as pages list it: every kind of word in a class of its own, every problem underlined and told below."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from markupsafe import Markup
from pygments.token import STANDARD_TYPES

from gdl.diagnostics import LINE_END, Diagnostic, Source
from gdl.editing.grammar import GdlLexer
from server.web.template_filters import with_code

MAX_LISTED_CHARACTERS: Final = 60_000
"""The longest text that is listed; of a longer one only the beginning is."""
MAX_REMARKS: Final = 100
"""How many remarks of one text are shown."""

_SEVERITIES: Final = ("error", "warning", "note")
_PIECE: Final = Markup('<span class="{}">{}</span>')
_PROBLEM: Final = Markup('<mark class="{}">{}</mark>')
_LINE: Final = Markup('<li id="{}L{}"><span class="line">{}</span>{}</li>\n')
_SAID: Final = Markup('<div class="said {0}"><strong>{1}{2}</strong>{3} <code>{4}</code></div>')
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
    """Return what a listing shows of *found*: which characters are underlined, and what it says below."""
    span = found.span
    return Remark(
        start=span.start,
        end=span.end,
        line=span.line,
        column=span.column,
        severity=str(found.severity),
        code=found.code.name,
        message=found.message,
        hint=found.hint or "",
    )


def report_remarks(text: str, diagnostics: Sequence[Mapping[str, Any]]) -> tuple[Remark, ...]:
    """Return the remarks that a stored report makes on *text*: its entries have places by line and column."""
    source = Source("", text)
    return tuple(
        Remark(
            start=_offset(source, entry["line"], entry["column"]),
            end=_offset(source, entry["endLine"], entry["endColumn"]),
            line=entry["line"],
            column=entry["column"],
            severity=entry["severity"] if entry["severity"] in _SEVERITIES else "note",
            code=entry["code"],
            message=entry["message"],
            hint=entry["hint"],
        )
        for entry in diagnostics[:MAX_REMARKS]
    )


def _offset(source: Source, line: int, column: int) -> int:
    starts = source.line_starts
    return min(starts[max(0, min(line, len(starts)) - 1)] + column - 1, len(source.text))


@lru_cache(maxsize=64)
def listing(text: str, remarks: tuple[Remark, ...] = (), prefix: str = "") -> Markup:
    """Return the lines of *text* as elements of a list; *prefix* begins their ids, which end in `L` and the number."""
    shown = text[:MAX_LISTED_CHARACTERS]
    lines: list[list[Markup]] = [[]]
    for piece in _pieces(shown, remarks):
        for number, part in enumerate(LINE_END.split(piece.text)):
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
    """Yield the tokens of *text*, cut where a remark begins or ends, but not within the end of a line."""
    ends = (offset for remark in remarks for offset in _ends(remark))
    cuts = sorted({0, *(offset for offset in ends if text[offset - 1 : offset + 1] != "\r\n")})
    severities = [_severity(cut, remarks) for cut in cuts]
    for start, token, value in GdlLexer().get_tokens_unprocessed(text):
        first, end = start, start + len(value)
        for cut in (*cuts[bisect_left(cuts, start + 1) : bisect_left(cuts, end)], end):
            yield _Piece(text[first:cut], STANDARD_TYPES.get(token, ""), severities[bisect_right(cuts, first) - 1])
            first = cut


def _ends(remark: Remark) -> tuple[int, int]:
    """Return where the mark of *remark* begins and ends: it is of one character at least."""
    return remark.start, max(remark.end, remark.start + 1)


def _severity(offset: int, remarks: Sequence[Remark]) -> str | None:
    """Return how bad the worst is that is said of the character at *offset*."""
    found = (remark.severity for remark in remarks if _ends(remark)[0] <= offset < _ends(remark)[1])
    return min(found, key=_SEVERITIES.index, default=None)


def _marked(part: str, piece: _Piece) -> Markup:
    shown = Markup.escape(plain(part))
    if piece.kind and piece.kind != "w":
        shown = _PIECE.format(piece.kind, shown)
    return shown if piece.severity is None else _PROBLEM.format(piece.severity, shown)


def plain(text: str) -> str:
    """Return *text* with a mark in the place of what does not show, or would turn round what follows it."""
    return "".join(char if char.isprintable() or char in "\t\n" else "\ufffd" for char in text)


def _said(remark: Remark) -> Markup:
    hint = _HINT.format(with_code(plain(remark.hint))) if remark.hint else ""
    word = "" if remark.severity == "error" else f"{remark.severity.capitalize()}: "
    return _SAID.format(remark.severity, word, with_code(plain(remark.message)), hint, remark.code)
