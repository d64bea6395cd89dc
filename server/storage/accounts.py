"""Registered players, tokens, and the sessions of browsers, in the database."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, TypeAlias

import sqlalchemy as sa

from server.errors import TooManyPlayersError
from server.storage.database import Database, upsert
from server.storage.integrity import Found, each_sound, sound
from server.storage.rows import CLOCK_SLACK_MS, PlayerRow, PlayerStatus, SeatKind, TokenRow
from server.storage.schema import players, sessions, tokens

ReasonToPause: TypeAlias = Callable[[str, int], str]
"""Tells by name, and by its failures in a row, why a player is to be paused; empty where it is not."""
_REGISTERING: Final = 7_171_005
"""The number of the lock under which players are registered, among those of PostgreSQL."""
_ISSUING: Final = 7_171_006
"""The number of the lock under which tokens are issued to those who have none."""


def _take_turn(database: Database, connection: sa.Connection, lock: int) -> None:
    """Wait for the transactions that have taken this turn before; on SQLite one that writes is the only one."""
    if not database.is_sqlite:
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(lock)))


class PlayerStore:
    """The registered players of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, player: PlayerRow, max_players: int) -> bool:
        """Keep a new player; return False, and change nothing, where there is one of that name, in whatever case.

        Raises:
            TooManyPlayersError: its owner has *max_players* already.
        """
        of_name = sa.select(players.c.name).where(sa.func.lower(players.c.name) == player.name.lower())
        n_owned = sa.select(sa.func.count()).select_from(players).where(players.c.owner == player.owner)

        def added(connection: sa.Connection) -> bool:
            _take_turn(self._database, connection, _REGISTERING)
            if connection.scalar(of_name) is not None:
                return False
            if (connection.scalar(n_owned) or 0) >= max_players:
                raise TooManyPlayersError(player.owner, max_players)
            connection.execute(sa.insert(players).values(asdict(player)))
            return True

        return await self._database.write(added)

    async def put(self, player: PlayerRow) -> None:
        """Keep *player*, in place of another of that name."""
        await self._database.change(upsert(self._database, players).values(asdict(player)))

    async def get(self, name: str) -> PlayerRow | None:
        """Return the player *name*.

        Raises:
            DamagedRowError: its row is damaged.
        """
        found = await self._database.rows(sa.select(players).where(players.c.name == name))
        return _player_row(sound(self._database.name, players, found[0])) if found else None

    async def listed(self, owner: str | None = None) -> list[PlayerRow]:
        """Return the players by name, only those of *owner* if one is named."""
        return await self._all(sa.true() if owner is None else players.c.owner == owner)

    async def change(self, name: str, still: PlayerRow | None = None, **values: Any) -> bool:
        """Change columns of a player; return whether there is one, and *still* that one if it is given."""
        return await self._update(name, values, _is(still))

    async def set_status(self, name: str, status: str, reason: str = "", still: PlayerRow | None = None) -> bool:
        """Pause a player for *reason*, or let it play again; return whether that was done.

        It is not where there is no such player, nor where its address, status and reason are not *still* those.
        """
        values: dict[str, Any] = {"status": status, "pause_reason": reason}
        values |= {"n_failures": 0} if status == "ok" else {}
        if still is None:
            return await self._update(name, values)
        is_as_before = players.c.status == still.status, players.c.pause_reason == still.pause_reason
        return await self._update(name, values, _is_where(still), *is_as_before)

    async def count_match(
        self, ordered_ms: int, has_failed: Mapping[str, bool], reason_to_pause: ReasonToPause
    ) -> None:
        """Count one more failure in a row of each player that *has_failed*, and forget those of the others.

        A player for which *reason_to_pause* has a reason is paused. All of it is one transaction, so that it can be
        tried again where the database fails. Names of players that were not there at *ordered_ms*, when the match was
        ordered, are passed over.
        """
        failed = [name for name, it_has in has_failed.items() if it_has]
        n_failures = sa.case((players.c.name.in_(failed), players.c.n_failures + 1), else_=0)
        was_registered = players.c.created_ms <= ordered_ms + CLOCK_SLACK_MS  # as `PlayerRow.was_registered`
        is_counted = sa.and_(players.c.name.in_(list(has_failed)), was_registered)
        counting = sa.update(players).where(is_counted).values(n_failures=n_failures)
        # Two matches of the same players may end at once, and their transactions must not wait for each other.
        in_order = sa.select(players.c.name).where(is_counted).order_by(players.c.name).with_for_update(key_share=True)

        def counted(connection: sa.Connection) -> None:
            connection.execute(in_order)
            for name, n in connection.execute(counting.returning(players.c.name, players.c.n_failures)).all():
                if n and (reason := reason_to_pause(name, n)):
                    paused = {"status": PlayerStatus.PAUSED, "pause_reason": reason}
                    connection.execute(sa.update(players).where(players.c.name == name).values(paused))

        await self._database.write(counted)

    async def set_info(self, player: PlayerRow, info: Any, seen_ms: int | None, version: str | None = None) -> bool:
        """Keep what *player* answered to INFO, its *version*, if it told one, and when it was last there.

        Return whether that was done; it is not where the player is not registered, or has another address by now.
        """
        values = {"info": info, "seen_ms": seen_ms} | ({"version": version} if version else {})
        return await self._update(player.name, values, _is_where(player))

    async def delete(self, name: str, still: PlayerRow | None = None) -> bool:
        """Forget a player, *still* that one if it is given; return whether it was there. Its matches keep its name."""
        return await self._database.change(sa.delete(players).where(players.c.name == name, _is(still))) > 0

    async def _update(self, name: str, values: dict[str, Any], *conditions: sa.ColumnElement[bool]) -> bool:
        changing = sa.update(players).where(players.c.name == name, *conditions).values(values)
        return await self._database.change(changing) > 0

    async def _all(self, condition: sa.ColumnElement[bool]) -> list[PlayerRow]:
        query = sa.select(players).where(condition).order_by(players.c.name)
        return each_sound(self._database.name, players, await self._database.rows(query), _player_row)


def _is(player: PlayerRow | None) -> sa.ColumnElement[bool]:
    """Return whether a row is that of *player*, and not of one that got its name later, as a condition."""
    if player is None:
        return sa.true()
    return sa.and_(players.c.created_ms == player.created_ms, players.c.owner == player.owner)


def _is_where(player: PlayerRow) -> sa.ColumnElement[bool]:
    """Return whether *player* is still registered, and has the same address, as a condition."""
    return sa.and_(players.c.created_ms == player.created_ms, players.c.url.is_not_distinct_from(player.url))


def _player_row(row: Found) -> PlayerRow:
    return PlayerRow(**{**row, "kind": SeatKind(row["kind"]), "status": PlayerStatus(row["status"])})


def _is_valid(at_ms: int) -> sa.ColumnElement[bool]:
    """Return whether a token opens anything at *at_ms*, as a condition."""
    return sa.and_(tokens.c.revoked_ms.is_(None), sa.or_(tokens.c.expires_ms.is_(None), tokens.c.expires_ms > at_ms))


_USED: Final = sa.bindparam("at", type_=sa.BigInteger)
_TOUCH: Final = sa.update(tokens).where(tokens.c.id == sa.bindparam("token")).values(used_ms=_USED)


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A browser in which a token was used to log in; the SHA-256 of its cookie's secret names it."""

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

    async def put_missing(self, rows: Sequence[TokenRow], at_ms: int) -> set[str]:
        """Keep those of the new tokens whose names have no valid one at *at_ms*, and return their ids."""

        def kept(connection: sa.Connection) -> set[str]:
            _take_turn(self._database, connection, _ISSUING)
            valid = connection.execute(sa.select(tokens).where(_is_valid(at_ms))).mappings()
            have = {row.name for row in self._tokens([dict(row) for row in valid])}
            missing = [row for row in rows if row.name not in have]
            if missing:
                connection.execute(sa.insert(tokens), [asdict(row) for row in missing])
            return {row.id for row in missing}

        return await self._database.write(kept)

    async def delete(self, token_ids: Sequence[str]) -> None:
        """Forget tokens that are not used yet."""
        await self._write(sa.delete(tokens).where(tokens.c.id.in_(token_ids)))

    async def get(self, token_id: str) -> TokenRow | None:
        """Return the token of that public id; None also where its row is damaged: it opens nothing then."""
        found = self._tokens(await self._rows(sa.select(tokens).where(tokens.c.id == token_id)))
        return found[0] if found else None

    async def listed(self) -> list[TokenRow]:
        """Return all tokens, by name and then the oldest first."""
        query = sa.select(tokens).order_by(tokens.c.name, tokens.c.created_ms, tokens.c.id)
        return self._tokens(await self._rows(query))

    async def has_any(self) -> bool:
        """Return whether a token was ever issued."""
        return bool(await self._rows(sa.select(tokens.c.id).limit(1)))

    async def renew(self, row: TokenRow) -> bool:
        """Give the token of the id of *row* the secret and the times of *row*; sessions of the old secret end.

        Return False, and change nothing, where there is no such token, or it was revoked.
        """
        renewing = sa.update(tokens).where(tokens.c.id == row.id, tokens.c.revoked_ms.is_(None))
        renewing = renewing.values(hash=row.hash, created_ms=row.created_ms, expires_ms=row.expires_ms)
        ending = sa.delete(sessions).where(sessions.c.token_id == row.id)

        def renewed(connection: sa.Connection) -> bool:
            if not connection.execute(renewing).rowcount:
                return False
            connection.execute(ending)
            return True

        return await self._database.write(renewed)

    async def revoke(self, token_id: str, at_ms: int, kept_role: str | None = None) -> bool:
        """Revoke a token, whose sessions end; return False where it is the last valid one of *kept_role*, and stays."""
        # The rows are locked, so that of two servers that revoke at once the second one sees what the first has left.
        valid = (
            sa.select(tokens)
            .where(tokens.c.role == kept_role, _is_valid(at_ms))
            .order_by(tokens.c.id)
            .with_for_update()
        )
        revoking = sa.update(tokens).where(tokens.c.id == token_id).values(revoked_ms=at_ms)
        ending = sa.delete(sessions).where(sessions.c.token_id == token_id)

        def revoked(connection: sa.Connection) -> bool:
            left = self._tokens([dict(row) for row in connection.execute(valid).mappings()])
            if [row.id for row in left] == [token_id]:
                return False
            connection.execute(revoking)
            connection.execute(ending)
            return True

        return await self._database.write(revoked)

    async def touch(self, used_ms: Mapping[str, int]) -> None:
        """Note when tokens were last used, by id."""
        changes = [{"token": token_id, "at": at_ms} for token_id, at_ms in used_ms.items()]
        if changes:
            await self._database.write(lambda connection: connection.execute(_TOUCH, changes))

    async def open_session(self, row: SessionRow) -> None:
        """Keep a new session, and forget those that were over when it began."""
        old = sa.delete(sessions).where(sessions.c.expires_ms < row.created_ms)
        await self._write(old, sa.insert(sessions).values(asdict(row)))

    async def session(self, secret_hash: str) -> SessionRow | None:
        """Return the session that *secret_hash* names."""
        found = await self._rows(sa.select(sessions).where(sessions.c.hash == secret_hash))
        sounds = each_sound(self._database.name, sessions, found, lambda row: SessionRow(**row))
        return sounds[0] if sounds else None

    async def close_session(self, secret_hash: str) -> None:
        """Forget a session, if it is there."""
        await self._write(sa.delete(sessions).where(sessions.c.hash == secret_hash))

    def _tokens(self, found: Sequence[Found]) -> list[TokenRow]:
        return each_sound(self._database.name, tokens, found, lambda row: TokenRow(**row))

    async def _rows(self, query: sa.Select[Any]) -> list[dict[str, Any]]:
        return [dict(row) for row in await self._database.rows(query)]

    async def _write(self, *statements: sa.Executable) -> None:
        await self._database.change(*statements)
