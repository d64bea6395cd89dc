"""Class lists: who is to get a token, as CSV with a header or as one name a line."""

from __future__ import annotations

import csv
import difflib
import io
import re
from dataclasses import dataclass
from typing import Final

from server.access.errors import TokenFieldError
from server.access.role import Role, role_named

MAX_NAMES: Final = 5_000
MAX_CHARACTERS: Final = 1_000_000
_NAME: Final = "name"
_HAS_COLUMNS: Final = re.compile(r";|,\S")
"""Tells columns from names such as `Lovelace, Ada`."""
_COLUMNS: Final = (_NAME, "role", "note")
"""The columns that count; others, as lists of other systems have them, are passed over."""


@dataclass(frozen=True, slots=True)
class Listed:
    """Somebody on a class list: a name, perhaps a role and a note of their own, and the line."""

    name: str
    line: int
    role: Role | None = None
    note: str = ""


def read_class_list(text: str) -> list[Listed]:
    r"""Return who is on the list *text*.

    With a column `name` in its first line it is CSV, whose columns `role` and `note` count, too; otherwise every
    line that is not blank is a name.

    >>> [each.name for each in read_class_list("Ada\n\nGrace\n")]
    ['Ada', 'Grace']
    >>> read_class_list("name;role\nAda;host\n")[0].role.word
    'host'

    Raises:
        TokenFieldError: it is too long, or no CSV.
        UnknownNameError: there is no such role.
    """
    lines = text.removeprefix("\ufeff").splitlines()
    separator = ";" if lines and ";" in lines[0] else ","
    header = [column.strip().lower() for column in lines[0].split(separator)] if lines else []
    if _NAME not in header and lines and _HAS_COLUMNS.search(lines[0]):
        raise TokenFieldError(f"the first line has several columns, but none is called name: {lines[0][:100]}", 1)
    found = _rows(text, separator) if _NAME in header else _names(lines)
    if len(found) > MAX_NAMES:
        raise TokenFieldError(f"a class list has at most {MAX_NAMES:,} names")
    return found


def _names(lines: list[str]) -> list[Listed]:
    return [Listed(line.strip(), number) for number, line in enumerate(lines, 1) if line.strip()]


def _rows(text: str, separator: str) -> list[Listed]:
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=separator)
    try:
        columns = [column.strip().lower() for column in next(reader)]
        _check_columns(columns)
        return [_listed(dict(zip(columns, row, strict=False)), reader.line_num) for row in reader if any(row)]
    except csv.Error as error:
        raise TokenFieldError(f"this is no CSV: {error}", reader.line_num) from error


def _check_columns(columns: list[str]) -> None:
    for column in columns:
        near = difflib.get_close_matches(column, _COLUMNS)
        if near and column not in _COLUMNS:
            raise TokenFieldError(f"there is no column {column[:100]!r}; did you mean {near[0]}?", 1)


def _listed(row: dict[str, str], line: int) -> Listed:
    role = row.get("role", "").strip().lower()
    return Listed(row.get(_NAME, "").strip(), line, role_named(role) if role else None, row.get("note", "").strip())
