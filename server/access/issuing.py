"""Tokens issued, rotated and revoked, one by one or for a class list."""

import csv
import difflib
import io
import re
import string
import unicodedata
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from server.access.authentication import TokenText, is_valid, new_token, secret_hash
from server.clock import now_ms
from server.principal import RESERVED_NAMES, ROLE_WORDS, Role, role_named
from server.refusals import ListedRoleError, TokenFieldError, TokenRuleError, UnknownTokenError
from server.storage.accounts import TokenStore
from server.storage.rows import TokenRow

MAX_NAMES: Final = 5_000
MAX_CHARACTERS: Final = 1_000_000
_NAME: Final = "name"
_SEPARATORS: Final = ",;\t"
_BLANK: Final = f"{_SEPARATORS}{string.whitespace}"
_HAS_COLUMNS: Final = re.compile(r"[;\t]|,\S")
"""Tells columns from names such as `Lovelace, Ada`."""
_QUOTED: Final = re.compile(r"^'(?=[=+\-@\t\r])")
_COLUMNS: Final = (_NAME, "role", "note")
"""The columns that count; others, as lists of other systems have them, are passed over."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A line of a class list: a name, perhaps a role and a note of its own, and the number of the line."""

    name: str
    line: int
    role: Role | None = None
    note: str = ""


def read_class_list(text: str) -> list[Listed]:
    r"""Return who is on the list *text*.

    With a column `name` in its first line it is CSV, separated by commas, semicolons or tabs, whose columns `role` and
    `note` count, too; otherwise every line that is not blank is a name. Lines that are blank, but for separators, do
    not count before the first, and in CSV anywhere.

    >>> [each.name for each in read_class_list("Ada\n\nGrace\n")]
    ['Ada', 'Grace']
    >>> read_class_list("name;role\nAda;host\n")[0].role.word
    'host'

    Raises:
        TokenFieldError: it is too long, or no CSV.
        ListedRoleError: there is no such role.
    """
    lines = text.removeprefix("\ufeff").splitlines()
    n_blank = next((n for n, line in enumerate(lines) if line.strip(_BLANK)), len(lines))
    first = "".join(lines[n_blank : n_blank + 1]).strip()
    separator = next((each for each in _SEPARATORS if _NAME in _columns(first, each)), None)
    if separator is None and _HAS_COLUMNS.search(first):
        raise TokenFieldError(
            f"the first line has several columns, but none is called name: {first[:100]}", n_blank + 1
        )
    found = _names(lines, n_blank) if separator is None else _rows(text, separator)
    if len(found) > MAX_NAMES:
        raise TokenFieldError(f"a class list has at most {MAX_NAMES:,} names")
    return found


def _columns(line: str, separator: str) -> list[str]:
    """Return the names of the columns of which *line* is the head; none where it is no CSV."""
    with suppress(csv.Error):
        return [column.strip().lower() for row in csv.reader([line], delimiter=separator) for column in row]
    return []


def _names(lines: list[str], n_blank: int) -> list[Listed]:
    return [Listed(line.strip(), n) for n, line in enumerate(lines[n_blank:], n_blank + 1) if line.strip()]


def _rows(text: str, separator: str) -> list[Listed]:
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=separator)
    rows = (row for row in reader if "".join(row).strip(_BLANK))
    try:
        columns = [column.strip().lower() for column in next(rows)]
        _check_columns(columns, reader.line_num)
        return [_listed(dict(zip(columns, row, strict=False)), reader.line_num) for row in rows]
    except csv.Error as error:
        raise TokenFieldError(f"this is no CSV: {error}", reader.line_num) from error


def _check_columns(columns: list[str], line: int) -> None:
    for column in columns:
        near = difflib.get_close_matches(column, _COLUMNS)
        if near and column not in _COLUMNS:
            raise TokenFieldError(f"there is no column {column[:100]!r}; did you mean {near[0]}?", line)


def _listed(row: dict[str, str], line: int) -> Listed:
    role = row.get("role", "").strip().lower()
    name, note = (_QUOTED.sub("", row.get(column, "").strip()) for column in (_NAME, "note"))
    if role and role not in ROLE_WORDS:
        raise ListedRoleError("role", role, ROLE_WORDS, line)
    return Listed(name, line, role_named(role) if role else None, note)


MAX_NAME: Final = 60
MAX_NOTE: Final = 200
_DAY_MS: Final = 86_400_000
MAX_DAYS: Final = 3_660


@dataclass(frozen=True, slots=True)
class Issued:
    """A token that was just issued: its text, which is shown this once, and what is kept of it."""

    text: TokenText
    row: TokenRow


class Issuing:
    """Issues and revokes the tokens of a server; *changed* is called after every change.

    Every method raises `StorageError` where the database fails.
    """

    def __init__(
        self, tokens: TokenStore, changed: Callable[[], None] = lambda: None, clock_ms: Callable[[], int] = now_ms
    ) -> None:
        self._tokens, self._changed, self._clock_ms = tokens, changed, clock_ms

    async def issue(self, name: str, role: Role, days: int | None = None, note: str = "") -> Issued:
        """Issue a token to *name*, valid for *days*, or until it is revoked.

        Raises:
            TokenFieldError: the name or the time is not valid.
            TokenRuleError: the first token must be an admin's.
        """
        listed = [Listed(name, 0, note=note)]
        await self._check_first(listed, role, days)
        (issued,) = _made(listed, role, days, self._clock_ms())
        await self._tokens.put(issued.row)
        self._changed()
        return issued

    async def issue_all(self, listed: Sequence[Listed], role: Role, days: int | None = None) -> list[Issued]:
        """Issue a token to everybody on a class list who has no valid one: to all, or if something is wrong to none.

        Raises:
            TokenFieldError: a name or the time is none, with the line.
            TokenRuleError: as `issue`.
        """
        await self._check_first(listed, role, days)
        issued = _made(listed, role, days, self._clock_ms())
        kept = await self._tokens.put_missing([each.row for each in issued], self._clock_ms())
        self._changed()
        return [each for each in issued if each.row.id in kept]

    async def withdraw(self, issued: Sequence[Issued]) -> None:
        """Take back tokens that could not be shown to anyone, as if they had not been issued."""
        await self._tokens.delete([each.row.id for each in issued])
        self._changed()

    async def rotate(self, token_id: str) -> Issued:
        """Give a token a new secret; the old one, and who is logged in with it, are refused from now on.

        A time after which it expires begins anew.

        Raises:
            UnknownTokenError: there is none, or it was revoked.
        """
        row = await self._row(token_id)
        text = new_token(row.id)
        at_ms = self._clock_ms()
        expires_ms = None if row.expires_ms is None else at_ms + row.expires_ms - row.created_ms
        new = replace(row, hash=secret_hash(text.secret), created_ms=at_ms, expires_ms=expires_ms)
        if not await self._tokens.renew(new):  # revoked meanwhile
            raise UnknownTokenError(token_id)
        self._changed()
        return Issued(text, new)

    async def revoke(self, token_id: str) -> None:
        """Let a token open nothing any more, nor who is logged in with it.

        Raises:
            UnknownTokenError: there is none, or it was revoked.
            TokenRuleError: it is the last of an admin.
        """
        row = await self._row(token_id)
        if not await self._tokens.revoke(row.id, self._clock_ms(), Role.ADMIN.word):
            raise TokenRuleError("this is the last token of an admin: issue another one before you revoke it")
        self._changed()

    async def listed(self) -> list[TokenRow]:
        """Return all tokens by name, also those that open nothing any more."""
        return await self._tokens.listed()

    async def has_admin(self) -> bool:
        """Return whether there is a valid token of an administrator."""
        return any(row.role == Role.ADMIN.word for row in await self._valid())

    async def _valid(self) -> list[TokenRow]:
        return [row for row in await self._tokens.listed() if is_valid(row, self._clock_ms())]

    async def _row(self, token_id: str) -> TokenRow:
        row = await self._tokens.get(token_id)
        if row is None or row.revoked_ms is not None:
            raise UnknownTokenError(token_id)
        return row

    async def _check_first(self, listed: Sequence[Listed], role: Role, days: int | None) -> None:
        _check_days(days)
        if not await self.has_admin():
            _check_admin(listed, role)


def check_first_tokens(listed: Sequence[Listed], role: Role, days: int | None) -> None:
    """Check that the tokens of those who are *listed* can be the first ones of a server.

    Raises:
        TokenFieldError, TokenRuleError: as `Issuing.issue_all`.
    """
    _check_days(days)
    _check_admin(listed, role)
    _made(listed, role, days, at_ms=0)


def _check_days(days: int | None) -> None:
    if days is not None and not 1 <= days <= MAX_DAYS:
        raise TokenFieldError(f"a token is valid for 1 to {MAX_DAYS:,} days, not {days}")


def _check_admin(listed: Sequence[Listed], role: Role) -> None:
    if Role.ADMIN not in [each.role or role for each in listed]:
        what_follows = "with its first token a server demands one of everybody"
        raise TokenRuleError(f"{what_follows}: issue one with the role admin first")


def _made(listed: Sequence[Listed], role: Role, days: int | None, at_ms: int) -> list[Issued]:
    """Return a new token for each name that is *listed*, with its row."""
    issued: dict[str, Issued] = {}
    for each in listed:
        text = new_token()
        row = TokenRow(
            id=text.id,
            name=_name_of(each.name, each.line),
            role=(each.role or role).word,
            hash=secret_hash(text.secret),
            created_ms=at_ms,
            expires_ms=None if days is None else at_ms + days * _DAY_MS,
            note=_line_of(each.note, "a note", 0, MAX_NOTE, each.line),
        )
        issued.setdefault(row.name, Issued(text, row))
    return list(issued.values())


def _name_of(text: str, line: int) -> str:
    found = _line_of(text, "a name", 1, MAX_NAME, line)
    if found.lower() in RESERVED_NAMES:
        raise TokenFieldError(f"{found} is what those are called who have no token", line)
    return found


def _line_of(text: str, what: str, least: int, most: int, line: int) -> str:
    found = " ".join(unicodedata.normalize("NFC", text).split())  # an accent is written in two ways
    if not least <= len(found) <= most or not found.isprintable():
        raise TokenFieldError(f"{what} has {least} to {most} characters that can be printed, on one line", line)
    return found
