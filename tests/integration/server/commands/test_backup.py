"""`ggp backup`, `ggp restore`, `ggp export`: what a server keeps, in files."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import zipfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from server.records.entries import Entry, StartedEntry, entry_of
from server.records.record import record_of
from server.storage import exporting
from server.storage.database import Database
from server.storage.games import GameStore
from server.storage.match_changes import summary_of
from server.storage.rows import NO_ORDER, GameVersion, MatchRow, SeatKind, SeatRow
from tests.kit.server.commands.fixtures import Ended, Ggp
from tests.kit.server.hosting.outages import read_only
from tests.kit.server.scripted import CIRCUMSTANCES, PLAIN, TURNS_MOVES, events, turns
from tests.kit.server.storage.finished import FinishedMatch, add_finished


def journal(match_id: str) -> list[Entry]:
    entries = [entry_of(event, CIRCUMSTANCES) for event in events(turns(), TURNS_MOVES, PLAIN)]
    return [replace(each, match_id=match_id) if isinstance(each, StartedEntry) else each for each in entries]


def record(match_id: str) -> dict[str, Any]:
    return record_of(journal(match_id)).as_json()


def finished(match_id: str, **changes: Any) -> FinishedMatch:
    rules = turns()
    row = MatchRow(**{"game": "turns", "sha256": rules.sha256, "order": NO_ORDER} | changes, id=match_id, created_ms=5)
    seat_rows = [SeatRow(match_id, role, place, f"{role}-player", SeatKind.HTTP) for place, role in enumerate("ab")]
    return FinishedMatch(row, seat_rows, journal(match_id)).ended(summary_of(journal(match_id)))


async def fill(address: str) -> None:
    database = await Database.open(address)
    rules = turns()
    version = GameVersion("turns", rules.sha256, rules.source.text, ("a", "b"), is_gdl2=False, created_ms=1)
    await GameStore(database).put(version)
    await add_finished(database, [finished("match.b", tournament="cup"), finished("match.a")])
    await database.close()


@pytest.fixture
def server(ggp: Ggp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ggp:
    """Return `ggp` where a database with two matches is."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GGP_DATABASE", "ggp.sqlite")
    asyncio.run(fill("ggp.sqlite"))
    return ggp


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_record_is_exported_as_the_server_shows_it(server: Ggp, tmp_path: Path) -> None:
    assert server("export", "all.jsonl") == Ended(0, "all.jsonl: 2 records written\n", "")
    assert lines(tmp_path / "all.jsonl") == [record("match.a"), record("match.b")]


def test_a_folder_gets_what_it_lacks(server: Ggp, tmp_path: Path) -> None:
    assert server("export", "all", "--tournament", "cup").output == "all: 1 records written\n"
    assert server("export", "all").output == "all: 1 records written, 1 were there\n"
    assert {path.name: json.loads(path.read_text()) for path in (tmp_path / "all").iterdir()} == {
        "match.a.json": record("match.a"),
        "match.b.json": record("match.b"),
    }


def test_an_archive_has_them_all(server: Ggp, tmp_path: Path) -> None:
    ended = server("export", "all.zip", "--json")
    assert json.loads(ended.output) == {"target": "all.zip", "written": 2, "present": 0, "unreadable": 0}
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        assert archive.namelist() == ["match.a.json", "match.b.json"]


def test_a_record_that_cannot_be_read_keeps_no_other_from_being_written(server: Ggp, tmp_path: Path) -> None:
    with closing(sqlite3.connect("ggp.sqlite")) as connection:
        connection.execute("UPDATE records SET body = x'00' WHERE match_id = 'match.a'")
        connection.commit()
    ended = server("export", "all.jsonl")
    assert ended.errors.startswith("ggp: the record of match match.a cannot be read: the record is damaged (Error -5")
    assert (ended.exit_code, ended.output) == (1, "all.jsonl: 1 records written\n")
    assert lines(tmp_path / "all.jsonl") == [record("match.b")]


def test_only_matches_of_a_tournament_are_exported(server: Ggp, tmp_path: Path) -> None:
    assert server("export", "cup.jsonl", "--tournament", "cup").output == "cup.jsonl: 1 records written\n"
    assert lines(tmp_path / "cup.jsonl") == [record("match.b")]


async def test_the_matches_of_a_game_are_looked_for_once_however_many_pages_they_fill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "_AT_ONCE", 1)
    await fill(str(tmp_path / "ggp.sqlite"))
    database, statements = await Database.open(str(tmp_path / "ggp.sqlite")), list[str]()
    sa.event.listen(database.engine.sync_engine, "before_cursor_execute", lambda *told: statements.append(told[2]))
    found = [each.match_id async for each in exporting.exported(database, exporting.ExportFilter(game="turns"))]
    await database.close()
    assert found == ["match.a", "match.b"]
    assert ["WHERE matches.game = ?" in each for each in statements if "FROM records" in each] == [True, False, False]


@pytest.mark.parametrize("target", ["none", "none.zip", "none.jsonl"])
def test_a_game_without_a_match_is_refused_and_nothing_written(server: Ggp, tmp_path: Path, target: str) -> None:
    ended = server("export", target, "--game", "chess")
    assert (ended.exit_code, ended.output, ended.errors.splitlines()[-1]) == (
        2,
        "",
        "Error: ggp.sqlite has no record of a match of game 'chess'",
    )
    assert not (tmp_path / target).exists()


def test_what_is_there_is_not_replaced_unasked(server: Ggp, tmp_path: Path) -> None:
    (tmp_path / "all.zip").write_text("precious")
    expected = "ggp: all.zip is there already, and not empty; name another one, or replace it with --force\n"
    assert server("export", "all.zip") == Ended(2, "", expected)


@pytest.mark.parametrize("target", ["all", "all.zip"])
def test_a_database_that_is_not_there_is_not_made(server: Ggp, tmp_path: Path, target: str) -> None:
    ended = server("export", target, "--database", "missing.sqlite")
    assert ended == Ended(2, "", "ggp: the database missing.sqlite: there is no such file\n")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(("missing", "all"))] == []


def test_a_backup_is_restored(server: Ggp, tmp_path: Path) -> None:
    ended = server("backup", "copy.sqlite")
    assert (ended.exit_code, ended.output.split(":")[0]) == (0, "copy.sqlite")
    assert (
        server("restore", "copy.sqlite", "--database", "new.sqlite").output
        == "new.sqlite holds what copy.sqlite holds\n"
    )
    assert server("export", "all.jsonl", "--database", "new.sqlite").exit_code == 0
    assert lines(tmp_path / "all.jsonl") == [record("match.a"), record("match.b")]


def restored(server: Ggp, backup: Path) -> list[Any]:
    """Restore *backup*, and return the names of the files beside it afterwards and the records that are there."""
    assert server("restore", str(backup), "--database", "new.sqlite").exit_code == 0
    server("export", "new.jsonl", "--database", "new.sqlite")
    return [sorted(path.name for path in backup.parent.iterdir()), lines(Path("new.jsonl"))]


def test_a_backup_where_nothing_can_be_written_is_restored(server: Ggp, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    server("backup", str(kept / "copy.sqlite"))
    with closing(sqlite3.connect(f"{(kept / 'copy.sqlite').as_uri()}?immutable=1", uri=True)) as backup:
        assert backup.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    (kept / "copy.sqlite").chmod(0o400)
    kept.chmod(0o500)
    try:
        assert restored(server, kept / "copy.sqlite") == [["copy.sqlite"], [record("match.a"), record("match.b")]]
    finally:
        kept.chmod(0o700)


def test_a_database_where_nothing_can_be_written_is_read(server: Ggp, tmp_path: Path) -> None:
    kept = tmp_path / "kept 100%?"
    kept.mkdir()
    (tmp_path / "ggp.sqlite").rename(kept / "ggp.sqlite")
    named = "--database", str(kept / "ggp.sqlite")
    with read_only(kept):
        ended = [
            server(*command, *named) for command in (("backup", "copy"), ("export", "all.jsonl"), ("token", "list"))
        ]
    assert [(one.exit_code, one.errors) for one in ended] == [(0, "")] * 3
    assert lines(tmp_path / "all.jsonl") == [record("match.a"), record("match.b")]
    assert restored(server, tmp_path / "copy")[1] == [record("match.a"), record("match.b")]


@pytest.mark.parametrize("command", [("backup", "copy"), ("export", "all.jsonl"), ("token", "list")])
def test_a_log_that_cannot_be_read_where_nothing_can_be_written_is_to_be_copied(
    server: Ggp, tmp_path: Path, command: tuple[str, ...]
) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    with closing(sqlite3.connect("ggp.sqlite")) as database:
        database.execute("DELETE FROM records WHERE match_id = 'match.b'")
        database.commit()
        for ending in ("", "-wal"):
            (kept / f"ggp.sqlite{ending}").write_bytes((tmp_path / f"ggp.sqlite{ending}").read_bytes())
    with read_only(kept):
        ended = server(*command, "--database", str(kept / "ggp.sqlite"))
    said = (
        f"ggp: the database {kept / 'ggp.sqlite'}: ggp.sqlite-wal holds changes, which cannot be read where nothing can"
        " be written; copy both files to another folder, and name the copy\n"
    )
    assert ended == Ended(2, "", said)


def test_an_older_backup_in_wal_mode_is_restored_with_its_log(server: Ggp, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    with closing(sqlite3.connect("ggp.sqlite")) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("DELETE FROM records WHERE match_id = 'match.b'")
        database.commit()
        for ending in ("", "-wal"):
            (kept / f"copy.sqlite{ending}").write_bytes((tmp_path / f"ggp.sqlite{ending}").read_bytes())
    assert restored(server, kept / "copy.sqlite")[1] == [record("match.a")]


def test_an_older_backup_in_wal_mode_gets_no_files_beside_it(server: Ggp, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "copy.sqlite").write_bytes((tmp_path / "ggp.sqlite").read_bytes())
    assert restored(server, kept / "copy.sqlite") == [["copy.sqlite"], [record("match.a"), record("match.b")]]


def test_a_database_is_restored_over_another_one_by_force_alone(server: Ggp) -> None:
    server("backup", "copy.sqlite")
    expected = "ggp: ggp.sqlite is there already, and not empty; name another one, or replace it with --force\n"
    assert server("restore", "copy.sqlite") == Ended(2, "", expected)
    assert server("restore", "copy.sqlite", "--force").exit_code == 0


def test_a_password_is_not_printed(server: Ggp) -> None:
    ended = server("backup", "copy.sqlite", "--database", "postgresql://me:secret@127.0.0.1:1/ggp")
    assert (ended.exit_code, "me:***@127.0.0.1" in ended.errors, "secret" in ended.errors) == (2, True, False)
