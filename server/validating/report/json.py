"""A validation for programs: one JSON object."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from gdl.diagnostics import Diagnostic, Severity
from gdl.source import Span
from server.validating.validation import Validation


def report(validations: Iterable[Validation]) -> Iterator[str]:
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
