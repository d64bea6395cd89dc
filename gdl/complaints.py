"""What is wrong with data from outside, in a few words of ours: pydantic's own words are for programmers."""

from __future__ import annotations

from typing import Final

from pydantic_core import ErrorDetails

_WORDS: Final = {"extra_forbidden": "unknown key", "missing": "missing"}


def complaint(details: ErrorDetails) -> str:
    """Return what *details*, one of those of a ValidationError, says is wrong."""
    return _WORDS.get(details["type"], details["msg"].removeprefix("Value error, "))
