"""TOML texts from outside, read in time and memory that grow with their length; and which integers a text may have."""

from __future__ import annotations

import re
import tomllib
from typing import Any, Final

MAX_KEY_PARTS: Final = 16
"""The most parts of a key, which dots divide. `tomllib` keeps each beginning of a key, so that long ones cost their
square."""
INTEGERS: Final = range(-(2**63), 2**63)
"""The integers that are taken from outside, those of 64 bits: Python prints or converts none of great length."""

_PART: Final = r"""(?:[\w-]++|"(?:[^"\\\n]|\\[^\n])*+"|'[^'\n]*+')"""
# Without `)*+` after a lookahead, of which Python before 3.11.5 has skipped too little.
_TOKEN: Final = re.compile(
    rf"""
    (?P<long_key>{_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MAX_KEY_PARTS}}})
    | \"{{3}}(?:[^"\\]|\\.|"(?!""))*(?:\"{{3,5}}+)?
    | '{{3}}(?:[^']|'(?!''))*(?:'{{3,5}}+)?
    | "(?:[^"\\\n]|\\[^\n])*+"?
    | '[^'\n]*+'?
    | \#[^\n]*+
    | [\w-]++
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)


def toml_of(text: str) -> dict[str, Any]:
    """Return what the TOML *text* says.

    Raises:
        ValueError: it is no TOML, or one of its keys has more than `MAX_KEY_PARTS` parts, or it nests too deep, or
            one of its integers has more than 64 bits.
    """
    text = text.removeprefix("\ufeff")  # the byte order mark that some editors write
    _check_keys(text)
    try:
        found = tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("tables or lists nest too deep") from error
    _check_integers(found)
    return found


def _check_keys(text: str) -> None:
    for token in _TOKEN.finditer(text):
        if token["long_key"]:
            place = token.start()
            line, column = text.count("\n", 0, place) + 1, place - text.rfind("\n", 0, place)
            raise ValueError(f"a key has more than {MAX_KEY_PARTS} parts (at line {line}, column {column})")


def _check_integers(found: dict[str, Any]) -> None:
    """Raise ValueError where *found* has an integer that is not one of `INTEGERS`."""
    left: list[Any] = [found]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            left.extend(value.values())
        elif isinstance(value, list):
            left.extend(value)
        elif isinstance(value, int) and value not in INTEGERS:
            raise ValueError("an integer has more than 64 bits")
