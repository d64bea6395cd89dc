"""The records of all matches that are over, in the public format."""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa

from server.records.record import record_of
from server.storage.database import Database
from server.storage.rows import ENDED
from server.storage.schema import matches, records, versions

_AT_ONCE: Final = 50


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


async def count(database: Database, choice: Choice) -> int:
    """Return how many records `exported` yields, but for those that begin or end meanwhile."""
    query = sa.select(sa.func.count()).select_from(matches.join(records)).where(*choice.conditions())
    async with database.reading() as connection:
        return await connection.scalar(query) or 0


async def exported(database: Database, choice: Choice) -> AsyncIterator[dict[str, Any]]:
    """Yield the record of each match that was begun and is over, signed if it was, in the order of their ids.

    Raises:
        StorageError: the database failed.
        MatchRecordError: a record cannot be understood.
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


def _read(page: Sequence[sa.RowMapping], rules: Mapping[str, str]) -> list[dict[str, Any]]:
    found = []
    for row in page:
        entries = [json.loads(line) for line in zlib.decompress(row["body"]).splitlines()]
        if entries:
            entries[0]["rules"] = rules.get(entries[0]["rulesSha256"])
            found.append(record_of(entries).as_json() | (row["signature"] or {}))
    return found
