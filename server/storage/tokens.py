"""Tokens and the sessions of browsers that were opened with them, in the database."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sa

from server.storage.database import Database
from server.storage.rows import TokenRow
from server.storage.schema import sessions, tokens


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A browser that somebody logged in with; the SHA-256 of its cookie's secret names it."""

    hash: str
    token_id: str
    created_ms: int
    expires_ms: int


class TokenStore:
    """The tokens of *database*, and the sessions opened with them.

    Every method raises `StorageError` where the database fails.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, row: TokenRow) -> None:
        """Keep a new token."""
        await self._write(sa.insert(tokens).values(asdict(row)))

    async def put_all(self, rows: list[TokenRow]) -> None:
        """Keep new tokens: all of them, or none."""
        async with self._database.begin() as connection:
            if rows:
                await connection.execute(sa.insert(tokens), [asdict(row) for row in rows])

    async def get(self, token_id: str) -> TokenRow | None:
        """Return the token of that public id."""
        found = await self._rows(sa.select(tokens).where(tokens.c.id == token_id))
        return TokenRow(**found[0]) if found else None

    async def listed(self) -> list[TokenRow]:
        """Return all tokens, by name and then the oldest first."""
        query = sa.select(tokens).order_by(tokens.c.name, tokens.c.created_ms, tokens.c.id)
        return [TokenRow(**row) for row in await self._rows(query)]

    async def has_any(self) -> bool:
        """Return whether a token was ever issued."""
        return bool(await self._rows(sa.select(tokens.c.id).limit(1)))

    async def renew(self, token_id: str, secret_hash: str, expires_ms: int | None) -> None:
        """Give a token another secret; who is logged in with the old one is not any more."""
        change = sa.update(tokens).where(tokens.c.id == token_id).values(hash=secret_hash, expires_ms=expires_ms)
        await self._write(change, sa.delete(sessions).where(sessions.c.token_id == token_id))

    async def revoke(self, token_id: str, at_ms: int) -> None:
        """Let a token open nothing any more, nor who is logged in with it."""
        change = sa.update(tokens).where(tokens.c.id == token_id).values(revoked_ms=at_ms)
        await self._write(change, sa.delete(sessions).where(sessions.c.token_id == token_id))

    async def touch(self, token_id: str, at_ms: int) -> None:
        """Note when a token was last used."""
        await self._write(sa.update(tokens).where(tokens.c.id == token_id).values(used_ms=at_ms))

    async def open_session(self, row: SessionRow) -> None:
        """Keep a new session, and forget those that were over when it began."""
        old = sa.delete(sessions).where(sessions.c.expires_ms < row.created_ms)
        await self._write(old, sa.insert(sessions).values(asdict(row)))

    async def session(self, secret_hash: str) -> SessionRow | None:
        """Return the session that *secret_hash* names."""
        found = await self._rows(sa.select(sessions).where(sessions.c.hash == secret_hash))
        return SessionRow(**found[0]) if found else None

    async def close_session(self, secret_hash: str) -> None:
        """Forget a session, if it is there."""
        await self._write(sa.delete(sessions).where(sessions.c.hash == secret_hash))

    async def _rows(self, query: sa.Select[Any]) -> list[dict[str, Any]]:
        async with self._database.reading() as connection:
            return [dict(row) for row in (await connection.execute(query)).mappings()]

    async def _write(self, *statements: sa.Executable) -> None:
        async with self._database.begin() as connection:
            for statement in statements:
                await connection.execute(statement)
