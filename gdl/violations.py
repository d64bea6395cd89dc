"""What a model of pydantic refuses, in our words: a sentence for each key whose value is not what it may be."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

UNKNOWN_KEY: Final = "unknown key"
OF_KEY: Final = "[key]"
"""What ends the place of what is wrong with a key itself, and not with its value."""
_MAX_PATH: Final = 200
_QUOTED: Final = re.compile("'([^']*)'")
_INTEGER: Final = "must be a whole number"
_NUMBER: Final = "must be a number"
_TRUTH: Final = "must be true or false"
_LIST: Final = "must be a list"
_OBJECT: Final = "must have keys and values"
_TIME: Final = "must be a date and time, as in 2026-05-01T18:00:00+02:00"
_WORDS: Final = {
    "extra_forbidden": UNKNOWN_KEY,
    "missing": "missing",
    "too_short": "needs {min_length} or more, not {actual_length}",
    "too_long": "has more than {max_length}",
    "string_too_short": "must have {min_length} or more characters",
    "string_too_long": "has more than {max_length:,} characters",
    "string_pattern_mismatch": "is not of the form {pattern}",
    "string_type": "must be a text",
    "int_type": _INTEGER,
    "int_parsing": _INTEGER,
    "int_from_float": _INTEGER,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "finite_number": "must be a finite number",
    "bool_type": _TRUTH,
    "bool_parsing": _TRUTH,
    "list_type": _LIST,
    "tuple_type": _LIST,
    "dict_type": _OBJECT,
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "greater_than_equal": "must be {ge:,} or more",
    "greater_than": "must be more than {gt:,}",
    "less_than_equal": "must be {le:,} or less",
    "less_than": "must be less than {lt:,}",
    "enum": "must be {expected}",
    "literal_error": "must be {expected}",
    "timezone_aware": "needs a time zone, as in 2026-05-01T18:00:00+02:00",
    "datetime_type": _TIME,
    "datetime_parsing": _TIME,
    "datetime_from_date_parsing": _TIME,
}
"""What is said of what a model refuses, by the type of the error, with what pydantic says of it in braces."""

MAX_VIOLATIONS: Final = 100
"""How many things that are wrong in one value are named one by one."""


def violations(error: ValidationError) -> list[ErrorDetails]:
    """Return all that is wrong by *error*, or one entry for the whole where that is more than MAX_VIOLATIONS things."""
    # Pydantic describes all of them or none: a megabyte of unknown keys takes seconds.
    if error.error_count() > MAX_VIOLATIONS:
        message = f"more than {MAX_VIOLATIONS} things are wrong in it"
        return [{"type": "too_many_errors", "loc": (), "msg": message, "input": None}]
    return error.errors(include_url=False, include_input=False)


def violation_message(violation: ErrorDetails) -> str:
    """Return what is wrong by *violation*, one of those of a ValidationError; what is wrong with a key says so."""
    words = _WORDS.get(violation["type"])
    if words is None:
        # What our own checks say of a key names it.
        return violation["msg"].removeprefix("Value error, ")
    message = words.format_map(violation.get("ctx", {}))
    return f"the key {message}" if violation["loc"][-1:] == (OF_KEY,) else message


def violation_place(violation: ErrorDetails) -> tuple[int | str, ...]:
    """Return the way to the key that *violation* is about, whether its value is wrong or the key itself."""
    place = violation["loc"]
    return place[:-1] if place[-1:] == (OF_KEY,) else place


def first_violation(error: ValidationError) -> ErrorDetails:
    """Return the one thing to say of *error*: an unknown key, which may be a missing one misspelt, else the first."""
    found = violations(error)
    return next((each for each in found if is_unknown_key(each)), found[0])


def is_unknown_key(violation: ErrorDetails) -> bool:
    """Return whether *violation* is about a key that there is not."""
    return violation["type"] == "extra_forbidden"


def violation_path(violation: ErrorDetails) -> str:
    """Return the way to the key that *violation* is about: `players.0`, or nothing where the whole value is wrong."""
    return ".".join(str(part) or '""' for part in violation_place(violation))[:_MAX_PATH]


def violation_text(violation: ErrorDetails) -> str:
    """Return what is wrong by *violation*, after the way to its key: `rounds: must be a whole number`."""
    path, message = violation_path(violation), violation_message(violation)
    return f"{path}: {message}" if path else message


def allowed_words(violation: ErrorDetails) -> tuple[str, ...]:
    """Return the words of which a text must be one by *violation*; none where that is about something else."""
    of_words = violation["type"] in ("enum", "literal_error")
    return tuple(_QUOTED.findall(violation["ctx"]["expected"])) if of_words else ()
