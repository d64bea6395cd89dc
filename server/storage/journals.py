"""Journals in the database: entries as ASCII JSON lines, in `events` while a match is played and in `records` after.

The rules, which are kept with the game's versions, are left out of the lines and put back when they are read.
"""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import Iterable, Sequence
from typing import Final

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from server.records.entries import Entry
from server.storage.schema import events, records, versions

_LONG: Final = 100_000
"""From so many characters on, lines are read and compressed beside the event loop."""


def line_of(entry: Entry) -> str:
    """Return *entry* as a line; lone surrogates and zero characters, which players may send, are escaped."""
    kept = entry | {"rules": None} if "rules" in entry else entry
    return json.dumps(kept, separators=(",", ":"))


def packed(lines: Sequence[str]) -> bytes:
    """Return what `records.body` holds."""
    return zlib.compress("\n".join(lines).encode("ascii"))


def unpacked(body: bytes) -> list[str]:
    """Return the lines of what `records.body` holds."""
    return zlib.decompress(body).decode("ascii").splitlines()


async def entries(connection: AsyncConnection, match_id: str, after: int = -1) -> list[Entry]:
    """Return the entries of a match behind number *after*, be it over or not."""
    query = sa.select(events.c.body).where(events.c.match_id == match_id, events.c.number > after)
    lines = list(await connection.scalars(query.order_by(events.c.number)))
    if not lines:
        lines = (await _record_lines(connection, match_id))[after + 1 :]
    is_long = sum(map(len, lines)) > _LONG
    found = await asyncio.to_thread(_read, lines) if is_long else _read(lines)
    for entry in found:
        if entry.get("rules", "") is None:
            entry["rules"] = await _rules(connection, entry["rulesSha256"])
    return found


async def _record_lines(connection: AsyncConnection, match_id: str) -> list[str]:
    body = await connection.scalar(sa.select(records.c.body).where(records.c.match_id == match_id))
    if body is None:
        return []
    return await asyncio.to_thread(unpacked, body) if len(body) > _LONG else unpacked(body)


def _read(lines: Iterable[str]) -> list[Entry]:
    return [json.loads(line) for line in lines]


async def _rules(connection: AsyncConnection, sha256: str) -> str | None:
    found: str | None = await connection.scalar(sa.select(versions.c.rules).where(versions.c.sha256 == sha256).limit(1))
    return found


async def signature(connection: AsyncConnection, match_id: str) -> dict[str, str] | None:
    """Return the keys that sign the record of a match, if it is over and was signed."""
    query = sa.select(records.c.signature).where(records.c.match_id == match_id)
    found: dict[str, str] | None = await connection.scalar(query)
    return found
