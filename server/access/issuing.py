"""Tokens issued, rotated and revoked: by the command line, the admin page and the API alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from server.access.class_list import Listed
from server.access.errors import TokenFieldError, TokenRuleError, UnknownTokenError
from server.access.recognition import is_valid
from server.access.role import Role
from server.access.token_text import TokenText, new_token, secret_hash
from server.match.clock import now_ms
from server.storage.rows import TokenRow
from server.storage.tokens import TokenStore

MAX_NAME: Final = 60
MAX_NOTE: Final = 200
_DAY_MS: Final = 86_400_000
MAX_DAYS: Final = 3_660


@dataclass(frozen=True, slots=True)
class Issued:
    """A token that was just issued: its text, which nobody is shown again, and what is kept of it."""

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
            TokenFieldError: nobody is called so, or the time is none.
            TokenRuleError: the first token must be an admin's.
        """
        await self._check_first([role], days)
        issued = self._made(name, role, days, note)
        await self._tokens.put(issued.row)
        self._changed()
        return issued

    async def issue_all(self, listed: Sequence[Listed], role: Role, days: int | None = None) -> list[Issued]:
        """Issue a token to everybody on a class list who has no valid one: to all, or if something is wrong to none.

        Raises:
            TokenFieldError: a name or the time is none, with the line.
            TokenRuleError: as `issue`.
        """
        await self._check_first([each.role or role for each in listed], days)
        have = {row.name for row in await self._valid()}
        issued: dict[str, Issued] = {}
        for each in listed:
            made = self._made(each.name, each.role or role, days, each.note, each.line)
            if made.row.name not in have:
                issued.setdefault(made.row.name, made)
        await self._tokens.put_all([each.row for each in issued.values()])
        self._changed()
        return list(issued.values())

    async def rotate(self, token_id: str) -> Issued:
        """Give a token a new secret; the old one, and who is logged in with it, are refused from now on.

        A time after which it expires begins anew.

        Raises:
            UnknownTokenError: there is none, or it was revoked.
        """
        row = await self._row(token_id)
        text = new_token(row.id)
        life_ms = None if row.expires_ms is None else row.expires_ms - row.created_ms
        expires_ms = None if life_ms is None else self._clock_ms() + life_ms
        await self._tokens.renew(row.id, secret_hash(text.secret), expires_ms)
        self._changed()
        return Issued(text, replace(row, hash=secret_hash(text.secret), expires_ms=expires_ms))

    async def revoke(self, token_id: str) -> None:
        """Let a token open nothing any more, nor who is logged in with it.

        Raises:
            UnknownTokenError: there is none, or it was revoked.
            TokenRuleError: it is the last of an admin.
        """
        row = await self._row(token_id)
        admins = {each.id for each in await self._valid() if each.role == Role.ADMIN.word}
        if admins == {row.id}:
            raise TokenRuleError("this is the last token of an admin: issue another one before you revoke it")
        await self._tokens.revoke(row.id, self._clock_ms())
        self._changed()

    async def listed(self) -> list[TokenRow]:
        """Return all tokens by name, also those that open nothing any more."""
        return await self._tokens.listed()

    async def has_admin(self) -> bool:
        """Return whether somebody may administer the server."""
        return any(row.role == Role.ADMIN.word for row in await self._valid())

    async def _valid(self) -> list[TokenRow]:
        return [row for row in await self._tokens.listed() if is_valid(row, self._clock_ms())]

    async def _row(self, token_id: str) -> TokenRow:
        row = await self._tokens.get(token_id)
        if row is None or row.revoked_ms is not None:
            raise UnknownTokenError(token_id)
        return row

    async def _check_first(self, roles: Sequence[Role], days: int | None) -> None:
        if days is not None and not 1 <= days <= MAX_DAYS:
            raise TokenFieldError(f"a token is valid for 1 to {MAX_DAYS:,} days, not {days}")
        if Role.ADMIN not in roles and not await self.has_admin():
            raise TokenRuleError("with its first token a server demands one of everybody: issue one to an admin first")

    def _made(self, name: str, role: Role, days: int | None, note: str, line: int = 0) -> Issued:
        text, at_ms = new_token(), self._clock_ms()
        row = TokenRow(
            id=text.id,
            name=_line_of(name, "a name", 1, MAX_NAME, line),
            role=role.word,
            hash=secret_hash(text.secret),
            created_ms=at_ms,
            expires_ms=None if days is None else at_ms + days * _DAY_MS,
            note=_line_of(note, "a note", 0, MAX_NOTE, line),
        )
        return Issued(text, row)


def _line_of(text: str, what: str, least: int, most: int, line: int) -> str:
    found = " ".join(text.split())
    if not least <= len(found) <= most or not found.isprintable():
        raise TokenFieldError(f"{what} has {least} to {most} characters that can be printed, on one line", line)
    return found
