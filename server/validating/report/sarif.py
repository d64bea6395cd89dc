"""A validation in the Static Analysis Results Interchange Format, which code-scanning tools read.

Source: OASIS, SARIF version 2.1.0.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from gdl.diagnostics import Code, Diagnostic, codes
from gdl.source import Span
from gdl.suppression import Allowed
from server.validating.validation import Validation

_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"


def report(validations: Iterable[Validation]) -> Iterator[str]:
    """Yield the text of one SARIF log with one run, which has everything that was found in all files."""
    done = list(validations)
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [_run(done)]}
    yield json.dumps(log, indent=2)


def _run(validations: list[Validation]) -> dict[str, Any]:
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
    parts = [("Wrong", code.wrong.strip()), ("Right", code.right.strip())]
    shown = [(title, text) for title, text in parts if text]
    text = "\n\n".join([code.explanation, *(f"{title}:\n{text}" for title, text in shown)])
    markdown = "\n\n".join([code.explanation, *(f"{title}:\n\n```lisp\n{text}\n```" for title, text in shown)])
    return {
        "id": code.name,
        "name": "".join(map(str.capitalize, code.name.removeprefix("gdl/").split("-"))),
        "shortDescription": {"text": code.title},
        "fullDescription": {"text": code.explanation},
        "help": {"text": text, "markdown": markdown},
        "defaultConfiguration": {"level": str(code.severity)},
    }


def _result(validation: Validation, found: Diagnostic) -> dict[str, Any]:
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
