"""The one shape in which an error is told as JSON, by commands and over HTTP."""

from __future__ import annotations

from gdl.errors import RuleFileError, StratificationError, UnknownNameError


def problem(error: Exception) -> dict[str, object]:
    """Return *error* as a JSON object: `error` is its kind, `message` one sentence; more where the error knows more.

    An error of a rule file adds `source`, `line` and `column` where they are known, and `hint`; one of stratification
    also `cycle`; a misspelt name its `suggestions`.
    """
    found: dict[str, object] = {"error": type(error).__name__, "message": str(error)}
    if isinstance(error, RuleFileError):
        found |= _rule_file_problem(error)
    if isinstance(error, UnknownNameError):
        found["suggestions"] = list(error.suggestions)
    return found


def _rule_file_problem(error: RuleFileError) -> dict[str, object]:
    found: dict[str, object] = {"message": error.message}
    if error.span is not None:
        found |= {"source": error.span.source.name, "line": error.span.line, "column": error.span.column}
    if error.hint is not None:
        found["hint"] = error.hint
    if isinstance(error, StratificationError):
        found["cycle"] = list(error.cycle)
    return found
