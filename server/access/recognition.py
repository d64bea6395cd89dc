"""Who sends a request: the token in its header, or the session that its cookie names, looked up in the database."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, Generic, TypeVar

from cachetools import TTLCache

from server.access.role import Principal, role_named
from server.access.token_text import is_secret_of, new_secret, read_token, secret_hash
from server.match.clock import now_ms
from server.storage.rows import TokenRow
from server.storage.tokens import SessionRow, TokenStore

REMEMBERED_S: Final = 2.0
"""How long an answer of the database counts: after this a token that was revoked elsewhere opens nothing more."""
TOUCHED_MS: Final = 60_000
"""How often it is written down that a token is used."""
_N_REMEMBERED: Final = 10_000
_NOBODY_S_HASH: Final = secret_hash(new_secret())

Value = TypeVar("Value")


class Recognition:
    """Finds out who has a token or a session; *clock_ms* tells the time."""

    def __init__(self, tokens: TokenStore, clock_ms: Callable[[], int] = now_ms) -> None:
        self._tokens, self._clock_ms = tokens, clock_ms
        self._rows = _Recent[TokenRow | None](clock_ms)
        self._sessions = _Recent[SessionRow | None](clock_ms)
        self._any = _Recent[bool](clock_ms)
        self._touched: dict[str, int] = {}

    async def by_token(self, text: str) -> Principal | None:
        """Return who has the token *text*; None where it is none, or opens nothing any more."""
        token = read_token(text)
        if token is None:
            return None
        row = await self._row(token.id)
        # The comparison is made in any case, so that its time does not tell which ids there are.
        is_right = is_secret_of(token.secret, row.hash if row else _NOBODY_S_HASH)
        return await self._principal(row) if row and is_right else None

    async def by_session(self, secret: str) -> Principal | None:
        """Return who logged in and was given *secret* as a cookie."""
        named = secret_hash(secret)
        session = await self._sessions.get(named, lambda: self._tokens.session(named))
        if session is None or session.expires_ms <= self._clock_ms():
            return None
        row = await self._row(session.token_id)
        return await self._principal(row) if row else None

    async def begin_session(self, token_id: str, life_s: int) -> str:
        """Begin a session for who has a token, and return the secret for its cookie."""
        secret, at_ms = new_secret(), self._clock_ms()
        await self._tokens.open_session(SessionRow(secret_hash(secret), token_id, at_ms, at_ms + 1000 * life_s))
        return secret

    async def end_session(self, secret: str) -> None:
        """End a session, if it is one."""
        await self._tokens.close_session(secret_hash(secret))
        self.forget()

    async def has_any_token(self) -> bool:
        """Return whether a token was ever issued; once it was, it stays so."""
        return await self._any.get("", self._tokens.has_any)

    def forget(self) -> None:
        """Look everything up anew: something was changed."""
        for memory in (self._rows, self._sessions, self._any):
            memory.clear()

    async def _row(self, token_id: str) -> TokenRow | None:
        return await self._rows.get(token_id, lambda: self._tokens.get(token_id))

    async def _principal(self, row: TokenRow) -> Principal | None:
        at_ms = self._clock_ms()
        if not is_valid(row, at_ms):
            return None
        if at_ms - max(row.used_ms or 0, self._touched.get(row.id, 0)) >= TOUCHED_MS:
            self._touched[row.id] = at_ms
            await self._tokens.touch(row.id, at_ms)
        return Principal(row.name, role_named(row.role), row.id)


def is_valid(row: TokenRow, at_ms: int) -> bool:
    """Return whether a token opens anything at *at_ms*."""
    return row.revoked_ms is None and (row.expires_ms is None or row.expires_ms > at_ms)


class _Recent(Generic[Value]):
    """Answers that were had within `REMEMBERED_S`."""

    def __init__(self, clock_ms: Callable[[], int]) -> None:
        self._found: TTLCache[str, Value] = TTLCache(_N_REMEMBERED, round(1000 * REMEMBERED_S), clock_ms)

    async def get(self, key: str, ask: Callable[[], Awaitable[Value]]) -> Value:
        """Return the answer for *key*, which *ask* gives where none is remembered."""
        with suppress(KeyError):
            return self._found[key]
        found = self._found[key] = await ask()
        return found

    def clear(self) -> None:
        """Remember nothing."""
        self._found.clear()
