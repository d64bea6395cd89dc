"""What an older version has left in its database is the same, and goes on, in this one.

`revision_0005.sql` is what a server of 22 November 2026 wrote: matches that were completed, aborted, scrambled, of
hidden information or waited, one tournament that was over and one within a round; most rows were taken out of it.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gdl.engines import make_game
from server.hosting.tournament_progress import progress_of
from server.records.replay import replay
from server.records.signature import has_valid_signature
from server.records.stored_record import StoredRecord
from server.storage.backup import restore
from server.storage.database import Database
from server.storage.exporting import ExportFilter, exported
from server.storage.revisions import REVISION
from server.storage.schema import METADATA
from server.storage.tournaments import TournamentStore
from server.tournament.table import table_of
from tests.kit.server.storage import samples

OLD = Path(samples.__file__).with_name("revision_0005.sql")


@pytest.fixture
def old_file(tmp_path: Path) -> Path:
    """Return a database of the older version."""
    path = tmp_path / "old.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(OLD.read_text("utf-8"))
    return path


@pytest.fixture
async def upgraded(old_file: Path, database_address: str) -> AsyncIterator[Database]:
    """Yield the database of the older version, restored to one of this version."""
    await restore(old_file, database_address, may_replace=True)
    database = await Database.open(database_address)
    yield database
    await database.close()


def rows_of(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each table that the file at *path* has of ours, in the order of their keys."""
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        there = {row["name"] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        names = [table.name for table in METADATA.sorted_tables if table.name in there]
        rows = {name: connection.execute(f"SELECT * FROM {name} ORDER BY 1, 2") for name in names}
        return {name: [dict(row) for row in found] for name, found in rows.items()}


def within(rows: list[dict[str, Any]], like: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return *rows* with the columns alone that those of *like* have."""
    return [{name: row[name] for name in other} for row, other in zip(rows, like, strict=True)]


async def test_all_rows_are_kept(old_file: Path, tmp_path: Path) -> None:
    before = rows_of(old_file)
    await restore(old_file, str(tmp_path / "new.sqlite"))
    after = rows_of(tmp_path / "new.sqlite")
    assert {name: within(after[name], rows) for name, rows in before.items()} == before


@pytest.mark.sampled(2)
async def test_each_record_agrees_with_its_rules_and_its_signature(upgraded: Database) -> None:
    found = {one.match_id: verdict(one.record) async for one in exported(upgraded, ExportFilter())}
    assert found == dict.fromkeys(found, "agrees, signed")
    assert len(found) == 11


def verdict(raw: Mapping[str, Any]) -> str:
    """Return what the rules and the signature of the record *raw* say of it; raises where it differs from the rules."""
    record = StoredRecord.model_validate(raw)
    description = record.description()
    assert description is not None
    list(replay(make_game(description), record.model_copy(update={"raw": raw})))
    return "agrees, signed" if has_valid_signature(raw) else "agrees"


async def test_a_tournament_that_is_over_has_the_standings_that_it_had(upgraded: Database) -> None:
    found = await TournamentStore(upgraded).read("ended-rr")
    assert found is not None
    assert [(row.rank, row.player, row.score, row.moves) for row in table_of(progress_of(found))] == [
        (1, "legal", 3, 25), (2, "greedy", 2, 24), (3, "random", 1, 29),
    ]  # fmt: skip


async def test_a_tournament_within_a_round_is_given_no_match_twice(upgraded: Database) -> None:
    found = await TournamentStore(upgraded).read("mid-rounds")
    assert found is not None
    assert [one.match.match_id for one in found.fixtures if one.is_live] == ["t66c90f6d84edd422.2"]
    assert progress_of(found).next_matches() == ()


async def test_the_log_says_from_which_revision_to_which_tables_are_brought(
    old_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "server.storage.database"):
        await (await Database.open(str(old_file))).close()
        await (await Database.open(str(old_file))).close()
    assert caplog.messages == [f"the tables of {old_file} are brought from revision 0005 to {REVISION}"]
