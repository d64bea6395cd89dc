"""What a validation found, for people at a terminal: excerpts of the rule file, sentences, and what a code means."""

import difflib
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len
from rich.text import Text

from gdl.diagnostics import Code, Diagnostic, Severity, Source, Span, codes, escaped
from gdl.errors import UnknownNameError
from gdl.quantities import quantity
from server.validating.validation import FileVerdict, Validation

_WIDTH: Final = 120
_BEFORE: Final = 50
"""How much is shown before the first place in a line that is too long to be shown from its beginning."""
_BEHIND: Final = 20
MAX_RELATED: Final = 8


@dataclass(frozen=True, slots=True)
class Row:
    """A row of an excerpt: the number of the line in `margin`, its text; or marks with what is to be said of them."""

    margin: str
    text: str
    marks: str = ""
    label: str = ""
    is_main: bool = False


@dataclass(frozen=True, slots=True)
class _Place:
    line: int
    column: int
    n_columns: int
    label: str
    is_main: bool


def excerpt(found: Diagnostic) -> Iterator[Row]:
    """Yield the lines that *found* points at, the main place marked with `^`, related places with `-`."""
    source = found.span.source
    places = [_place(found.span, "", is_main=True)]
    places += [_place(one.span, one.message, is_main=False) for one in found.related[:MAX_RELATED]]
    width = max(len(str(place.line)) for place in places)
    last_line = 0
    for line, first_column, group in _groups(places):
        if last_line and line > last_line + 1:
            yield Row("." * width, "")
        yield from _rows(source, line, first_column, group, width)
        last_line = line


def _place(span: Span, label: str, *, is_main: bool) -> _Place:
    line, column = span.source.line_column(span.start)
    left = len(span.source.line_text(line)) - column + 1
    return _Place(line, column, max(1, min(span.end - span.start, left)), label, is_main)


def _groups(places: list[_Place]) -> Iterator[tuple[int, int, Sequence[_Place]]]:
    """Yield places that one picture of a line shows together, with that line and the first column shown."""
    left = sorted(places, key=lambda place: (place.line, place.column, not place.is_main))
    while left:
        line, column = left[0].line, left[0].column
        first_column = 1 if column + _BEHIND <= _WIDTH else column - _BEFORE
        group = [place for place in left if place.line == line and place.column < first_column + _WIDTH]
        left = left[len(group) :]
        yield line, first_column, sorted(group, key=lambda place: not place.is_main)


def _rows(source: Source, line: int, first_column: int, places: Sequence[_Place], width: int) -> Iterator[Row]:
    """Yield a line of the source, cut to its window, and a row of marks for each of *places*."""
    text = source.line_text(line)
    window = text[first_column - 1 : first_column - 1 + _WIDTH]
    shown = "".join(char if char.isprintable() else " " for char in window)
    yield Row(str(line).rjust(width), shown.rstrip())
    for place in places:
        start = place.column - first_column
        marked = shown[start : start + place.n_columns]
        marks = ("^" if place.is_main else "-") * max(1, cell_len(marked))
        yield Row(" " * width, " " * cell_len(shown[:start]), marks, escaped(place.label), place.is_main)


_PAGE_WIDTH: Final = 100


def code_named(name: str) -> Code:
    """Return the code of that name, `gdl/unsafe-variable` or `unsafe-variable`.

    Raises:
        UnknownNameError: there is none; it suggests the nearest names.
    """
    found = codes().get(name) or codes().get(f"gdl/{name}")
    if found is None:
        near = difflib.get_close_matches(f"gdl/{name.removeprefix('gdl/')[:100]}", codes(), 2)
        raise UnknownNameError("code", name, near)
    return found


def explain(code: Code) -> Iterator[Text]:
    """Yield the lines of the page."""
    yield Text.assemble((code.title, "bold"), f" ({code.severity}, {code.name})")
    yield Text("")
    yield Text(textwrap.fill(code.explanation, _PAGE_WIDTH))
    for title, style, example in (("Wrong", "red", code.wrong), ("Right", "green", code.right)):
        if example.strip():
            yield Text("")
            yield Text(f"{title}:", style)
            yield from (Text(f"    {escaped(line)}") for line in example.strip().splitlines())


_STYLES: Final = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.NOTE: "bold cyan"}
_VERDICT_STYLES: Final = {FileVerdict.OK: "green", FileVerdict.WRONG: "red", FileVerdict.UNKNOWN: "yellow"}
_MAX_SHOWN: Final = 100
_MAX_MESSAGE: Final = 1_000


def report(validations: Iterable[Validation]) -> Iterator[Text]:
    """Yield the lines for each file as it comes, and a line on all of them if they are several."""
    done = []
    for validation in validations:
        done.append(validation)
        yield from _file(validation)
    if len(done) > 1:
        yield Text(total(done))


def _file(validation: Validation) -> Iterator[Text]:
    """Yield the lines about one file: its diagnostics, the verdict, and what came of the plays."""
    for found in validation.diagnostics[:_MAX_SHOWN]:
        yield from _diagnostic(validation, found)
        yield Text("")
    n_left = len(validation.diagnostics) - _MAX_SHOWN
    if n_left > 0:
        yield Text(f"... and {n_left:,} more; --json has them all\n")
    yield Text.assemble(
        f"{escaped(validation.source.name)}: ", (_summary(validation), _VERDICT_STYLES[validation.verdict])
    )
    for line in validation.lines:
        yield Text(f"  {escaped(line)}", "dim")


def _diagnostic(validation: Validation, found: Diagnostic) -> Iterator[Text]:
    """Yield the lines about one diagnostic: the message, a picture of its place, a hint, the play that shows it."""
    severity = (f"{found.severity}: ", _STYLES[found.severity])
    message = _short(found.message)
    yield Text.assemble(f"{escaped(found.span.place)}: ", severity, (message, "bold"), (f" [{found.code.name}]", "dim"))
    if found.span.source.text:
        yield from _picture(found)
    if len(found.related) > MAX_RELATED:
        yield Text(f"... and {len(found.related) - MAX_RELATED:,} more places")
    if found.hint is not None:
        yield Text.assemble(("hint: ", "green"), _short(found.hint))
    evidence = validation.evidence_of(found)
    if evidence is not None:
        yield Text.assemble(("play: ", "green"), f"ggp replay {escaped(str(evidence))}")


def _picture(found: Diagnostic) -> Iterator[Text]:
    for row in excerpt(found):
        style = _STYLES[found.severity] if row.is_main else "blue"
        label = f" {row.label}" if row.label else ""
        line = Text.assemble((f"{row.margin} | ", "dim"), row.text, (f"{row.marks}{label}", style))
        line.rstrip()
        yield line


def _short(text: str) -> str:
    shown = escaped(text)
    return shown if len(shown) <= _MAX_MESSAGE else f"{shown[:_MAX_MESSAGE]}..."


def _summary(validation: Validation) -> str:
    counts = _counts([validation])
    if validation.verdict is FileVerdict.UNKNOWN:
        return f"no verdict: {', '.join([validation.limit or '', *counts])}"
    return ", ".join(["ok", *counts] if validation.verdict is FileVerdict.OK else counts)


def _counts(validations: Iterable[Validation]) -> list[str]:
    known = list(validations)
    counts = [(sum(one.count(severity) for one in known), str(severity)) for severity in Severity]
    n_allowed = sum(len(one.allowed) for one in known)
    words = [quantity(n, name) for n, name in counts if n]
    return [*words, f"{n_allowed:,} allowed"] if n_allowed else words


def total(validations: Iterable[Validation]) -> str:
    """Return one line on several files: how many of each verdict, how many errors, warnings and notes."""
    known = list(validations)
    names = {FileVerdict.OK: "ok", FileVerdict.WRONG: "wrong", FileVerdict.UNKNOWN: "without a verdict"}
    verdicts = [(sum(one.verdict is verdict for one in known), name) for verdict, name in names.items()]
    counts = _counts(known)
    files = quantity(len(known), "file")
    line = f"{files}: {', '.join(f'{n:,} {name}' for n, name in verdicts if n)}"
    return f"{line}; {', '.join(counts)}" if counts else line
