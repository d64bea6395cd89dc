"""A validation for programs: JSON, SARIF 2.1.0, and annotations of GitHub Actions.

Source: OASIS, SARIF version 2.1.0; GitHub, "Workflow commands for GitHub Actions".
"""

import json
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from gdl.checks.suppression import Allowed
from gdl.diagnostics import Code, Diagnostic, Severity, Span, codes, escaped
from server.validating.report import total
from server.validating.validation import Validation

_COMMANDS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def as_annotations(validations: Iterable[Validation]) -> Iterator[str]:
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
    """Return the workflow command of GitHub that shows a diagnostic at its place."""
    line, column = found.span.source.line_column(found.span.start)
    end_line, end_column = found.span.source.line_column(found.span.end)
    place = {"file": validation.source.name, "line": line, "endLine": end_line}
    if line == end_line:  # GitHub takes columns only then
        place |= {"col": column, "endColumn": end_column}
    properties = ",".join(
        f"{name}={_property(str(value))}" for name, value in (place | {"title": found.code.name}).items()
    )
    hint = "" if found.hint is None else f"\nhint: {escaped(found.hint)}"
    return f"::{_COMMANDS[found.severity]} {properties}::{_data(escaped(found.message) + hint)}"


def _data(text: str) -> str:
    known = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return known.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def as_json(validations: Iterable[Validation]) -> Iterator[str]:
    """Yield the text of one JSON object with everything that was found in all files."""
    files = [file_report(validation) for validation in validations]
    yield json.dumps({"ok": all(file["verdict"] == "ok" for file in files), "files": files}, indent=2)


def file_report(validation: Validation) -> dict[str, Any]:
    """Return what was found in one file."""
    return {
        "file": validation.source.name,
        "verdict": validation.verdict,
        "limit": validation.limit,
        **{f"{severity}s": validation.count(severity) for severity in Severity},
        "diagnostics": [_diagnostic(validation, found) for found in validation.diagnostics],
        "allowed": [{**_diagnostic(validation, one.diagnostic), "reason": one.reason} for one in validation.allowed],
        "simulation": validation.figures,
    }


def _diagnostic(validation: Validation, found: Diagnostic) -> dict[str, Any]:
    """Return a diagnostic as a JSON object."""
    evidence = validation.evidence_of(found)
    return {
        "code": found.code.name,
        "severity": str(found.severity),
        "message": found.message,
        "hint": found.hint or "",
        **_place(found.span),
        "related": [{"message": one.message, **_place(one.span)} for one in found.related],
        "evidence": None if evidence is None else str(evidence),
    }


def _place(span: Span) -> dict[str, int]:
    """Return where *span* begins and ends: lines and columns count from 1, the end is behind the last character."""
    line, column = span.source.line_column(span.start)
    end_line, end_column = span.source.line_column(span.end)
    return {"line": line, "column": column, "endLine": end_line, "endColumn": end_column}


_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"


def as_sarif(validations: Iterable[Validation]) -> Iterator[str]:
    """Yield the text of one SARIF log with one run, which has everything that was found in all files."""
    done = list(validations)
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [_run(done)]}
    yield json.dumps(log, indent=2)


def _run(validations: list[Validation]) -> dict[str, Any]:
    """Return the run of a SARIF log."""
    limits = [_notification(one) for one in validations if one.limit is not None]
    results = [_result(one, found) for one in validations for found in one.diagnostics]
    results += [_allowed(one, allowed) for one in validations for allowed in one.allowed]
    return {
        "tool": {"driver": {"name": "ggp", "version": version("ggp"), "rules": list(map(_rule, codes().values()))}},
        "invocations": [{"executionSuccessful": not limits, "toolExecutionNotifications": limits}],
        "columnKind": "unicodeCodePoints",
        "results": results,
    }


def _rule(code: Code) -> dict[str, Any]:
    """Return a code as the descriptor of a SARIF rule."""
    parts = [("Wrong", code.wrong.strip()), ("Right", code.right.strip())]
    shown = [(title, text) for title, text in parts if text]
    text = "\n\n".join([code.explanation, *(f"{title}:\n{text}" for title, text in shown)])
    markdown = "\n\n".join(
        [code.explanation, *(f"{title}:\n\n```{code.notation}\n{text}\n```" for title, text in shown)]
    )
    return {
        "id": code.name,
        "name": "".join(map(str.capitalize, code.name.removeprefix("gdl/").split("-"))),
        "shortDescription": {"text": code.title},
        "fullDescription": {"text": code.explanation},
        "help": {"text": text, "markdown": markdown},
        "defaultConfiguration": {"level": str(code.severity)},
    }


def _result(validation: Validation, found: Diagnostic) -> dict[str, Any]:
    """Return a diagnostic as a SARIF result."""
    result: dict[str, Any] = {
        "ruleId": found.code.name,
        "ruleIndex": list(codes()).index(found.code.name),
        "level": str(found.severity),
        "message": {"text": found.message if found.hint is None else f"{found.message}\nhint: {found.hint}"},
        "locations": [_location(validation, found.span)],
    }
    if found.related:
        result["relatedLocations"] = [
            {"id": number, **_location(validation, one.span), "message": {"text": one.message}}
            for number, one in enumerate(found.related)
        ]
    return result


def _allowed(validation: Validation, allowed: Allowed) -> dict[str, Any]:
    suppression = {"kind": "inSource", "justification": allowed.reason}
    return {**_result(validation, allowed.diagnostic), "suppressions": [suppression]}


def _location(validation: Validation, span: Span) -> dict[str, Any]:
    line, column = span.source.line_column(span.start)
    end_line, end_column = span.source.line_column(span.end)
    region = {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(validation.source.name)}, "region": region}}


def _notification(validation: Validation) -> dict[str, Any]:
    location = {"physicalLocation": {"artifactLocation": {"uri": _uri(validation.source.name)}}}
    return {"level": "warning", "message": {"text": f"no verdict: {validation.limit}"}, "locations": [location]}


def _uri(name: str) -> str:
    """Return where the file is: below the working folder relative to it, as code-scanning tools want it."""
    path = Path(name)
    if path.is_absolute():
        if not path.is_relative_to(Path.cwd()):
            return f"file://{quote(str(path).encode('utf-8', 'surrogateescape'))}"
        path = path.relative_to(Path.cwd())
    return quote(path.as_posix().encode("utf-8", "surrogateescape"))
