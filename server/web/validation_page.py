"""The page that checks rules: a listing with every kind of word in a class and every problem underlined."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from aiohttp import web
from aiohttp.web_request import FileField
from markupsafe import Markup
from pygments.token import STANDARD_TYPES

from gdl.boards import about_of
from gdl.diagnostics import LINE_END, Diagnostic, Severity, Source
from gdl.editing.grammar import GdlLexer
from gdl.errors import AboutFileError
from server.access.settings import requires
from server.api.operation import CHECKER
from server.principal import Role
from server.sanitization import game_name_of
from server.validating.checker import MAX_CHARACTERS
from server.validating.validation import Validation
from server.web.rendering import render, with_code

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
    """Return *found* as a remark."""
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


_NAME: Final = "rules"


@dataclass(frozen=True, slots=True)
class RulesForm:
    """A form with rules to validate: the text, whether it is to be played, its TOML description, and a likely name."""

    text: str
    is_played: bool
    problem: str = ""
    about: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class _ChosenFile:
    """A file of the form: its name and text, None where it is no text in UTF-8."""

    name: str
    text: str | None


async def show_form(request: web.Request) -> web.Response:
    """Show the empty form, or the rules of the game that the query names."""
    return render(request, "validate.html", form=RulesForm("", is_played=True), verdict=None)


@requires(Role.PLAYER)
async def check(request: web.Request) -> web.Response:
    """Check the rules in the form, and show them with what is wrong."""
    form = await rules_form(request)
    if form.problem:
        return render(request, "validate.html", status=400, form=form, verdict=None)
    found = await request.app[CHECKER].validation(form.text, _NAME, is_played=form.is_played)
    about = await request.app[CHECKER].description(form.about, found) if form.about.strip() else None
    return render(request, "validate.html", form=form, verdict=verdict_of(found, about))


async def rules_form(request: web.Request) -> RulesForm:
    """Return what the form of *request* holds; files count before the texts, which stay where something is wrong."""
    data = await request.post()
    typed = RulesForm(
        _with_line_feeds(str(data.get("rules", ""))),
        data.get("play") == "yes",
        about=_with_line_feeds(str(data.get("about", ""))),
        name=str(data.get("name", "")),
    )
    rules, about = _chosen(data, "file"), _chosen(data, "about-file")
    for file, what in ((rules, "rules"), (about, "description")):
        if file is not None and file.text is None:
            told = f"The file of the {what} is no text in UTF-8. Save it as text and choose it again."
            return replace(typed, problem=told)
    return _filled(typed, rules, about)


def _filled(typed: RulesForm, rules: _ChosenFile | None, about: _ChosenFile | None) -> RulesForm:
    """Return *typed* with the texts of the files in the place of those of the fields, and what is wrong with them."""
    text = typed.text if rules is None else rules.text or ""
    if not text.strip():
        return replace(typed, problem="There are no rules yet. Paste them into the field, or choose a file.")
    if len(text) > MAX_CHARACTERS:
        told = f"These rules are too long: at most {MAX_CHARACTERS:,} characters are checked."
        return replace(typed, problem=told)
    name = game_name_of(typed.name or ("" if rules is None else rules.name))
    form = replace(typed, text=text, about=typed.about if about is None else about.text or "", name=name)
    try:
        if form.about.strip():
            about_of(form.about.encode(), "description")
    except AboutFileError as error:
        return replace(form, problem=f"The description cannot be used: {'; '.join(error.problems)[:2_000]}.")
    return form


def _chosen(data: Mapping[str, object], field: str) -> _ChosenFile | None:
    """Return the file that was chosen in a field."""
    file = data.get(field)
    if not (isinstance(file, FileField) and file.filename):
        return None
    try:
        return _ChosenFile(file.filename, _with_line_feeds(file.file.read().decode("utf-8-sig")))
    except UnicodeDecodeError:
        return _ChosenFile(file.filename, None)


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n")


def verdict_of(found: Validation, about: Validation | None = None) -> dict[str, object]:
    """Return what the template shows of a validation, and that of the description *about* if something is wrong."""
    remarks = tuple(remark_of(one) for one in found.diagnostics[:MAX_REMARKS])
    return {
        "word": found.verdict,
        "limit": found.limit,
        "is_checked": found.is_checked,
        "counts": [(found.count(severity), str(severity)) for severity in Severity if found.count(severity)],
        "remarks": remarks,
        "n_more": len(found.diagnostics) - len(remarks),
        "about": [] if about is None else [remark_of(one) for one in about.diagnostics[:MAX_REMARKS]],
        "lines": [plain(line) for line in found.lines],
        "listing": listing(found.source.text, remarks),
    }
