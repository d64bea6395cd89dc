"""The one shape in which an error is told as JSON, by commands and over HTTP."""

from __future__ import annotations

import re
from typing import Any

from gdl.errors import LimitExceeded, RuleFileError, StratificationError, UnknownNameError


def problem(error: Exception) -> dict[str, Any]:
    """Return *error* as a JSON object: a `code` for programs, a sentence as `message`, and a `hint`, perhaps empty.

    An error of a rule file adds its `kind`, and `source`, `line` and `column` where they are known; one of
    stratification also the `cycle`.
    """
    if isinstance(error, RuleFileError):
        return _rule_file_problem(error)
    if isinstance(error, UnknownNameError):
        hint = f"did you mean {' or '.join(error.suggestions)}?" if error.suggestions else ""
        return {"code": f"unknown_{error.kind.split()[0]}", "message": str(error), "hint": hint}
    code = "rules_too_costly" if isinstance(error, LimitExceeded) else _kind(error)
    return {"code": code, "message": str(error), "hint": ""}


def _rule_file_problem(error: RuleFileError) -> dict[str, Any]:
    found: dict[str, Any] = {"code": "rules_refused", "message": error.message, "hint": error.hint or ""}
    found["kind"] = _kind(error)
    if error.span is not None:
        found |= {"source": error.span.source.name, "line": error.span.line, "column": error.span.column}
    if isinstance(error, StratificationError):
        found["cycle"] = list(error.cycle)
    return found


def _kind(error: Exception) -> str:
    name = type(error).__name__.removesuffix("Error")
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
