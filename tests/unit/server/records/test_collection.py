"""Records are collected in a folder, an archive, or lines, whole or not at all."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from server.storage.errors import TargetExistsError
from server.storage.exporting import collection

RECORDS = [{"matchId": "match.a", "states": ["( é )"]}, {"matchId": "../b", "moves": []}]


def collect(target: Path, *, may_replace: bool = False) -> list[bool]:
    with collection(target, may_replace=may_replace) as add:
        return [add(record) for record in RECORDS]


def test_a_folder_has_a_file_for_each(tmp_path: Path) -> None:
    assert collect(tmp_path / "all") == [True, True]
    found = {path.name: json.loads(path.read_text()) for path in (tmp_path / "all").iterdir()}
    assert found == {"match.a.json": RECORDS[0], "..%2Fb.json": RECORDS[1]}


def test_a_folder_is_added_to(tmp_path: Path) -> None:
    (tmp_path / "match.a.json").write_text("{}")
    assert (collect(tmp_path), (tmp_path / "match.a.json").read_text()) == ([False, True], "{}")
    assert (collect(tmp_path, may_replace=True), json.loads((tmp_path / "match.a.json").read_text())) == (
        [True, True],
        RECORDS[0],
    )


def test_an_archive_has_a_file_for_each(tmp_path: Path) -> None:
    assert collect(tmp_path / "all.zip") == [True, True]
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        found = {name: json.loads(archive.read(name)) for name in archive.namelist()}
    assert found == {"match.a.json": RECORDS[0], "..%2Fb.json": RECORDS[1]}


def test_lines_have_a_record_each(tmp_path: Path) -> None:
    assert collect(tmp_path / "all.jsonl") == [True, True]
    assert [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()] == RECORDS


@pytest.mark.parametrize("name", ["all.zip", "all.jsonl"])
def test_a_file_is_not_replaced_unasked(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("precious")
    with pytest.raises(TargetExistsError):
        collect(tmp_path / name)
    assert (tmp_path / name).read_text() == "precious"
    assert collect(tmp_path / name, may_replace=True) == [True, True]


@pytest.mark.parametrize("name", ["all.zip", "all.jsonl"])
def test_a_file_that_was_not_written_to_its_end_is_not_there(tmp_path: Path, name: str) -> None:
    def stop() -> None:
        with collection(tmp_path / name) as add:
            add(RECORDS[0])
            raise KeyError

    with pytest.raises(KeyError):
        stop()
    assert list(tmp_path.iterdir()) == []
