"""The records of all matches that are over, in the public format."""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa

from server.errors import MatchRecordError
from server.records.record import record_of
from server.storage.database import Database
from server.storage.journals import packed, unpacked
from server.storage.rows import ENDED
from server.storage.schema import matches, records, versions

_AT_ONCE: Final = 50
_EMPTY: Final = packed([])
"""What is kept of a match that ended before it began."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which matches are meant: all, those of a game, those of a tournament."""

    game: str | None = None
    tournament: str | None = None

    def conditions(self) -> list[sa.ColumnElement[bool]]:
        """Return what must hold of a match that is over."""
        named = {"game": self.game, "tournament": self.tournament}
        found = [matches.c[name] == value for name, value in named.items() if value is not None]
        return [matches.c.status.in_(ENDED), *found]


@dataclass(frozen=True, slots=True)
class Exported:
    """The record of a match, signed if it was; or why it cannot be told, which is no reason to tell none."""

    match_id: str
    record: dict[str, Any]
    error: str


async def count(database: Database, choice: Choice) -> int:
    """Return how many records `exported` yields, but for those that begin or end meanwhile."""
    query = sa.select(sa.func.count()).select_from(matches.join(records)).where(*choice.conditions())
    async with database.reading() as connection:
        return await connection.scalar(query) or 0


async def exported(database: Database, choice: Choice) -> AsyncIterator[Exported]:
    """Yield the record of each match that was begun and is over, in the order of their ids.

    Raises:
        StorageError: the database failed.
    """
    rules: dict[str, str] = {}
    last = ""
    while page := await _page(database, choice, last):
        last = page[-1]["id"]
        await _learn(database, {row["sha256"] for row in page} - rules.keys(), rules)
        for found in await asyncio.to_thread(_read, page, rules):
            yield found


async def _page(database: Database, choice: Choice, last: str) -> Sequence[sa.RowMapping]:
    query = sa.select(matches.c.id, matches.c.sha256, records.c.body, records.c.signature)
    query = query.select_from(matches.join(records)).where(*choice.conditions(), matches.c.id > last)
    async with database.reading() as connection:
        return (await connection.execute(query.order_by(matches.c.id).limit(_AT_ONCE))).mappings().all()


async def _learn(database: Database, unknown: set[str], rules: dict[str, str]) -> None:
    query = sa.select(versions.c.sha256, versions.c.rules).where(versions.c.sha256.in_(unknown))
    if unknown:
        async with database.reading() as connection:
            rules |= dict((await connection.execute(query)).all())


def _read(page: Sequence[sa.RowMapping], rules: Mapping[str, str]) -> list[Exported]:
    return [Exported(row["id"], *_record(row, rules)) for row in page if row["body"] != _EMPTY]


def _record(row: sa.RowMapping, rules: Mapping[str, str]) -> tuple[dict[str, Any], str]:
    try:
        entries = [json.loads(line) for line in unpacked(row["body"])]
        entries[0]["rules"] = rules[entries[0]["rulesSha256"]]
        return record_of(entries).as_json() | (row["signature"] or {}), ""
    except (MatchRecordError, zlib.error, ValueError, LookupError, TypeError) as error:
        return {}, f"{type(error).__name__}: {error}"
