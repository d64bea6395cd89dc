"""The records of all matches that are over, in a folder, a ZIP archive or a file of JSON lines."""

import asyncio
import json
import zipfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import quote

import sqlalchemy as sa

from gdl.files import replacing
from server.records.entries import StartedEntry
from server.records.errors import MatchRecordError
from server.records.record import record_of, understood
from server.storage import integrity, journals, rows
from server.storage.database import Database
from server.storage.errors import DamagedRowError, TargetExistsError
from server.storage.match_queries import IS_OPEN
from server.storage.schema import matches, records, versions

_AT_ONCE: Final = 50
_EMPTY: Final = journals.packed([])
"""What is kept of a match that ended before it began."""


@dataclass(frozen=True, slots=True)
class ExportFilter:
    """Which matches are meant: all, those of a game, those of a tournament; or those alone that are public."""

    game: str | None = None
    tournament: str | None = None
    is_public: bool = False

    @property
    def named(self) -> dict[str, str]:
        """The game or the tournament that is named, by the name of its column."""
        given = {"game": self.game, "tournament": self.tournament}
        return {column: value for column, value in given.items() if value is not None}

    def conditions(self) -> list[sa.ColumnElement[bool]]:
        """Return what must hold of a match that has a record; where none is named, also of one whose row is damaged."""
        found = [matches.c[column] == value for column, value in self.named.items()]
        found += [IS_OPEN] if self.is_public else []
        return found or [sa.or_(matches.c.status.not_in(rows.LIVE_STATUSES), matches.c.id.is_(None))]


@dataclass(frozen=True, slots=True)
class Exported:
    """The record of a match, signed if it was; or why it cannot be made; the others are exported."""

    match_id: str
    record: dict[str, Any]
    error: str


async def count(database: Database, choice: ExportFilter) -> int:
    """Return how many records `exported` yields, but for those that begin or end meanwhile."""
    query = sa.select(sa.func.count()).select_from(records.outerjoin(matches)).where(*choice.conditions())
    async with database.reading() as connection:
        return await connection.scalar(query) or 0


async def exported(database: Database, choice: ExportFilter) -> AsyncIterator[Exported]:
    """Yield the record of each match that was begun and is over, in the order of their ids.

    Raises:
        StorageError: the database failed.
    """
    rules: dict[str, str] = {}
    match_ids = await _match_ids(database, choice)
    for begin in range(0, len(match_ids), _AT_ONCE):
        page = await _page(database, match_ids[begin : begin + _AT_ONCE])
        await _learn(database, {row["sha256"] for row in page} - rules.keys(), rules)
        for found in await asyncio.to_thread(_read, page, rules):
            yield found


async def _match_ids(database: Database, choice: ExportFilter) -> Sequence[str]:
    """Return the ids of all that is chosen, in order: each page would look through all matches of a game again."""
    query = sa.select(records.c.match_id).select_from(records.outerjoin(matches)).where(*choice.conditions())
    async with database.reading() as connection:
        return (await connection.scalars(query.order_by(records.c.match_id))).all()


async def _page(database: Database, match_ids: Sequence[str]) -> Sequence[sa.RowMapping]:
    query = sa.select(records, matches.c.sha256).select_from(records.outerjoin(matches))
    query = query.where(records.c.match_id.in_(match_ids)).order_by(records.c.match_id)
    async with database.reading() as connection:
        return (await connection.execute(query)).mappings().all()


async def _learn(database: Database, unknown: set[str], rules: dict[str, str]) -> None:
    query = sa.select(versions.c.sha256, versions.c.rules).where(versions.c.sha256.in_(unknown))
    if unknown:
        async with database.reading() as connection:
            rules |= dict((await connection.execute(query)).all())


def _read(page: Sequence[sa.RowMapping], rules: Mapping[str, str]) -> list[Exported]:
    return [Exported(row["match_id"], *_record(row, rules)) for row in page if row["body"] != _EMPTY]


def _record(row: sa.RowMapping, rules: Mapping[str, str]) -> tuple[dict[str, Any], str]:
    """Return the record of a row, or nothing and why it cannot be made."""
    try:
        entries = list(map(journals.read_line, journals.unpacked(row["body"])))
        with understood(row["match_id"]):
            first = entries[0]
            if isinstance(first, StartedEntry):
                entries[0] = replace(first, rules=rules[first.rules_sha256])
        found = record_of(entries).as_json() | (integrity.sound("", records, row)["signature"] or {})
    except MatchRecordError as error:
        return {}, str(error)
    except DamagedRowError as error:
        return {}, error.what
    return found, ""


Add: TypeAlias = Callable[[dict[str, Any]], bool]
"""Adds a record, and returns False where it was there already."""
_SUFFIX: Final = ".json"


def collection(target: Path, *, may_replace: bool = False) -> AbstractContextManager[Add]:
    """Return a context that yields what adds records to *target*: `.zip` an archive, `.jsonl` lines, else a folder.

    An archive and a file of lines take their place when the context is left without an error. A folder keeps the
    files that it has, so that only new records are added; with *may_replace* they are written again.

    Raises:
        TargetExistsError: a file is there, and *may_replace* is false.
        OSError: it cannot be written.
    """
    if target.suffix == ".zip":
        return _archive(target, may_replace=may_replace)
    if target.suffix == ".jsonl":
        return _lines(target, may_replace=may_replace)
    return _folder(target, may_replace=may_replace)


def file_name(record: dict[str, Any]) -> str:
    """Return the name of the file of a record: its match's id, with what no file may be called escaped."""
    return quote(str(record["matchId"]), safe="") + _SUFFIX


def _text(record: dict[str, Any], indent: int | None = None) -> str:
    return json.dumps(record, indent=indent, separators=None if indent else (",", ":")) + "\n"


@contextmanager
def _folder(target: Path, *, may_replace: bool) -> Iterator[Add]:
    """Yield what adds a record as a file of the folder *target*."""
    target.mkdir(exist_ok=True)

    def add(record: dict[str, Any]) -> bool:
        path = target / file_name(record)
        if path.exists() and not may_replace:
            return False
        with replacing(path, is_durable=False) as temporary:
            temporary.write_text(_text(record, 1), encoding="ascii")
        return True

    yield add


@contextmanager
def _archive(target: Path, *, may_replace: bool) -> Iterator[Add]:
    _refuse_to_replace(target, may_replace=may_replace)
    with replacing(target) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:

        def add(record: dict[str, Any]) -> bool:
            archive.writestr(file_name(record), _text(record, 1))
            return True

        yield add


@contextmanager
def _lines(target: Path, *, may_replace: bool) -> Iterator[Add]:
    _refuse_to_replace(target, may_replace=may_replace)
    with replacing(target) as temporary, temporary.open("w", encoding="ascii") as file:

        def add(record: dict[str, Any]) -> bool:
            file.write(_text(record))
            return True

        yield add


def _refuse_to_replace(target: Path, *, may_replace: bool) -> None:
    if target.exists() and not may_replace:
        raise TargetExistsError(str(target))
