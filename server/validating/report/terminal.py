"""A validation for people: coloured sentences with the place, a picture of it, and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from rich.text import Text

from gdl.diagnostics import Diagnostic, Severity
from server.validating.report.excerpt import MAX_RELATED, excerpt, plain
from server.validating.validation import Validation

_STYLES: Final = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.NOTE: "bold cyan"}
_VERDICT_STYLES: Final = {"ok": "green", "wrong": "red", "unknown": "yellow"}
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
    for found in validation.diagnostics[:_MAX_SHOWN]:
        yield from _diagnostic(validation, found)
        yield Text("")
    n_left = len(validation.diagnostics) - _MAX_SHOWN
    if n_left > 0:
        yield Text(f"... and {n_left:,} more; --json has them all\n")
    yield Text.assemble(
        f"{plain(validation.source.name)}: ", (_summary(validation), _VERDICT_STYLES[validation.verdict])
    )
    for line in validation.lines:
        yield Text(f"  {plain(line)}", "dim")


def _diagnostic(validation: Validation, found: Diagnostic) -> Iterator[Text]:
    severity = (f"{found.severity}: ", _STYLES[found.severity])
    message = _short(found.message)
    yield Text.assemble(f"{plain(found.span.place)}: ", severity, (message, "bold"), (f" [{found.code.name}]", "dim"))
    if found.span.source.text:
        yield from _picture(found)
    if len(found.related) > MAX_RELATED:
        yield Text(f"... and {len(found.related) - MAX_RELATED:,} more places")
    if found.hint is not None:
        yield Text.assemble(("hint: ", "green"), _short(found.hint))
    evidence = validation.evidence_of(found)
    if evidence is not None:
        yield Text.assemble(("play: ", "green"), f"ggp replay {plain(str(evidence))}")


def _picture(found: Diagnostic) -> Iterator[Text]:
    for row in excerpt(found):
        style = _STYLES[found.severity] if row.is_main else "blue"
        label = f" {row.label}" if row.label else ""
        line = Text.assemble((f"{row.margin} | ", "dim"), row.text, (f"{row.marks}{label}", style))
        line.rstrip()
        yield line


def _short(text: str) -> str:
    shown = plain(text)
    return shown if len(shown) <= _MAX_MESSAGE else f"{shown[:_MAX_MESSAGE]}..."


def _summary(validation: Validation) -> str:
    counts = _counts([validation])
    if validation.verdict == "unknown":
        return f"no verdict: {', '.join([validation.limit or '', *counts])}"
    return ", ".join(["ok", *counts] if validation.verdict == "ok" else counts)


def _counts(validations: Iterable[Validation]) -> list[str]:
    known = list(validations)
    counts = [(sum(one.count(severity) for one in known), str(severity)) for severity in Severity]
    n_allowed = sum(len(one.allowed) for one in known)
    words = [f"{n:,} {name}{'' if n == 1 else 's'}" for n, name in counts if n]
    return [*words, f"{n_allowed:,} allowed"] if n_allowed else words


def total(validations: Iterable[Validation]) -> str:
    """Return one line on several files: how many of each verdict, how many errors, warnings and notes."""
    known = list(validations)
    names = {"ok": "ok", "wrong": "wrong", "unknown": "without a verdict"}
    verdicts = [(sum(one.verdict == verdict for one in known), name) for verdict, name in names.items()]
    counts = _counts(known)
    files = f"{len(known):,} file{'' if len(known) == 1 else 's'}"
    told = f"{files}: {', '.join(f'{n:,} {name}' for n, name in verdicts if n)}"
    return f"{told}; {', '.join(counts)}" if counts else told
