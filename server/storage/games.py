"""Games and the versions of their rules, kept for as long as there is a record of a match by them."""

from collections.abc import Collection, Sequence
from dataclasses import asdict
from functools import lru_cache, partial
from typing import Any, Final

import sqlalchemy as sa

from gdl.boards.metadata import GameMetadata, metadata_of
from gdl.errors import MetadataError
from server.storage.database import Database, upsert
from server.storage.integrity import Found, each_sound, report_of, sound
from server.storage.rows import GameVersion
from server.storage.schema import games, versions

_N_KEPT = 1_024


def version_metadata(version: GameVersion) -> GameMetadata | None:
    """Return what the description of *version* tells; None where there is none, or one of another time."""
    try:
        return None if version.about is None else described(version.about)
    except MetadataError:  # of another version of this program
        return None


def title_of(version: GameVersion) -> str:
    """Return what people call the game: its title, else its name."""
    metadata = version_metadata(version)
    return version.name if metadata is None else metadata.title


@lru_cache(maxsize=_N_KEPT)
def described(text: str) -> GameMetadata:
    """Return what the description *text* says; the last ones are kept, so that a caller never changes what it gets.

    Raises:
        MetadataError: it is no TOML, too large, or says something that a description may not say.
    """
    return metadata_of(text.encode())


_COLUMNS: Final = (*versions.columns, games.c.is_library)
_CURRENT: Final = sa.and_(versions.c.name == games.c.name, versions.c.sha256 == games.c.sha256)
UNNAMED: Final = "unnamed"
"""What the game of rules is called that came with an order. They may be a secret of their match, so that they
are not found or listed by this name, but by the hash alone."""
_NAMED: Final = games.c.name != UNNAMED
_HASH: Final = sa.select(games.c.sha256).where(games.c.name == sa.bindparam("game"), _NAMED)
_OWNER: Final = sa.select(games.c.is_library, versions.c.uploaded_by).where(
    games.c.name == sa.bindparam("game"), _CURRENT
)
_KEEPING: Final = 7_171_004
"""The number of the locks under which games are kept by their owners, among those of PostgreSQL."""
_OF_GAME: Final = ("name", "sha256", "created_ms", "is_library")
"""What the row of a game takes over from its current version."""
_FIRST: Final = ("created_ms",)
"""What stays as it was when the same rules come again."""


class GameStore:
    """The games of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, *kept: GameVersion) -> None:
        """Keep *kept*, in one transaction, and make each the current version of its game.

        What was said of the same rules before is replaced.
        """
        if kept:
            await self._database.write(partial(self._put, kept))

    async def put_as_owner(self, version: GameVersion, *, may_replace_any: bool = False) -> bool:
        """Keep *version* as `put` does, if its uploader `owns` the name of the game; return whether that was done."""

        def kept(connection: sa.Connection) -> bool:
            if not self._database.is_sqlite:  # there a transaction that writes is the only one
                locking = sa.select(sa.func.pg_advisory_xact_lock(_KEEPING, sa.func.hashtext(version.name)))
                connection.execute(locking)
            if not _owns(connection, version.name, version.uploaded_by, may_replace_any=may_replace_any):
                return False
            self._put((version,), connection)
            return True

        return await self._database.write(kept)

    async def owns(self, name: str, owner: str, *, may_replace_any: bool = False) -> bool:
        """Return whether *owner* may keep a game as *name*: there is none, or the current version is *owner*'s.

        A game of the library is never replaced; those of other owners are with *may_replace_any*.
        """
        return await self._database.read(lambda it: _owns(it, name, owner, may_replace_any=may_replace_any))

    def _put(self, kept: Sequence[GameVersion], connection: sa.Connection) -> None:
        rows = [asdict(version) for version in kept]
        current = [{name: row[name] for name in _OF_GAME} for row in rows]
        saved = [{name: value for name, value in row.items() if name != "is_library"} for row in rows]
        connection.execute(upsert(self._database, versions, _FIRST), saved)
        connection.execute(upsert(self._database, games, _FIRST), current)

    async def judge(self, sha256: str, verdict: str, report: dict[str, Any]) -> None:
        """Replace what the validator says of the version with that hash; nothing happens where there is none."""
        query = sa.update(versions).where(versions.c.sha256 == sha256).values(verdict=verdict, report=report)
        await self._database.change(query)

    async def find(self, name: str) -> GameVersion | None:
        """Return the current version of the game *name*; raises `DamagedRowError` where its row is damaged."""
        return await self._one(games.c.name == name, _CURRENT, _NAMED)

    async def current_sha256(self, name: str) -> str | None:
        """Return the hash of the current version of the game *name*, which is found much sooner than the version."""
        found: str | None = await self._database.read(lambda connection: connection.scalar(_HASH, {"game": name}))
        return found

    async def version(self, name_or_sha256: str) -> GameVersion | None:
        """Return the version with that hash, or the current one of the game with that name; raises as `find`."""
        found = await self._one(versions.c.sha256 == name_or_sha256, versions.c.name == games.c.name)
        return found or await self.find(name_or_sha256)

    async def played(self, name: str, sha256: str) -> GameVersion | None:
        """Return the rules with that hash as a version of the game *name*, or where it has none, of another game.

        Raises: as `find`.
        """
        here = versions.c.sha256 == sha256, versions.c.name == games.c.name
        return await self._one(*here, games.c.name == name) or await self._one(*here)

    async def names(self) -> list[str]:
        """Return the names of all games, in order."""
        return list(await self._database.scalars(sa.select(games.c.name).where(_NAMED).order_by(games.c.name)))

    async def listed(self) -> list[GameVersion]:
        """Return the current versions of all games, by name."""
        return await self._all(_CURRENT, _NAMED)

    async def titles(self, names: Collection[str]) -> dict[str, str]:
        """Return what people call the games *names*; where there is none, or its row is damaged, it is the name."""
        found = await self._all(_CURRENT, _NAMED, games.c.name.in_(names))
        return dict(zip(names, names, strict=True)) | {version.name: title_of(version) for version in found}

    async def versions(self, name: str) -> list[GameVersion]:
        """Return every version of the game *name*, the latest first."""
        found = await self._all(versions.c.name == games.c.name, games.c.name == name, _NAMED)
        return sorted(found, key=lambda version: version.created_ms, reverse=True)

    async def _one(self, *conditions: sa.ColumnElement[bool]) -> GameVersion | None:
        found = await self._rows(*conditions)
        sounds = each_sound(self._database.name, versions, found, _version)
        if found and not sounds:
            sound(self._database.name, versions, found[0])
        return sounds[0] if sounds else None

    async def _all(self, *conditions: sa.ColumnElement[bool]) -> list[GameVersion]:
        return each_sound(self._database.name, versions, await self._rows(*conditions), _version)

    async def _rows(self, *conditions: sa.ColumnElement[bool]) -> Sequence[sa.RowMapping]:
        query = sa.select(*_COLUMNS).where(*conditions).order_by(games.c.name)
        return await self._database.rows(query)


def _owns(connection: sa.Connection, name: str, owner: str, *, may_replace_any: bool) -> bool:
    there = connection.execute(_OWNER, {"game": name}).one_or_none()
    return there is None or (not there.is_library and (may_replace_any or there.uploaded_by == owner))


def _version(row: Found) -> GameVersion:
    return GameVersion(**{**row, "roles": tuple(row["roles"]), "report": report_of(row["report"])})
