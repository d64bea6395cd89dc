"""A validation as annotations of GitHub Actions: workflow commands, a line each.

Source: GitHub, "Workflow commands for GitHub Actions"; the escapes are those of its toolkit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from gdl.diagnostics import Diagnostic, Severity
from server.validating.report.excerpt import plain
from server.validating.report.terminal import total
from server.validating.validation import Validation

_COMMANDS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def report(validations: Iterable[Validation]) -> Iterator[str]:
    """Yield an annotation for everything that was found, and a line on all files."""
    done = []
    for validation in validations:
        done.append(validation)
        for found in validation.diagnostics:
            yield _annotation(validation, found)
        if validation.limit is not None:
            yield f"::warning file={_property(validation.source.name)},title=no verdict::{_data(validation.limit)}"
    # No line begins with the name of a file: a name, too, could be written so that it is taken for a command.
    yield total(done)


def _annotation(validation: Validation, found: Diagnostic) -> str:
    line, column = found.span.source.line_column(found.span.start)
    end_line, end_column = found.span.source.line_column(found.span.end)
    place = {"file": validation.source.name, "line": line, "endLine": end_line}
    if line == end_line:  # GitHub takes columns only then
        place |= {"col": column, "endColumn": end_column}
    properties = ",".join(
        f"{name}={_property(str(value))}" for name, value in (place | {"title": found.code.name}).items()
    )
    hint = "" if found.hint is None else f"\nhint: {plain(found.hint)}"
    return f"::{_COMMANDS[found.severity]} {properties}::{_data(plain(found.message) + hint)}"


def _data(text: str) -> str:
    known = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return known.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
