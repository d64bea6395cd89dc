"""`ggp ratings`: each match counts once, and what is no record is named."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.kit.server.commands.fixtures import Ggp


def record(match_id: str) -> dict[str, Any]:
    return {
        "matchId": match_id,
        "isCompleted": True,
        "x-game": "nim",
        "playerNamesFromHost": ["ada", "bob"],
        "goalValues": [100, 0],
        "errors": [["", ""]],
        "moves": [],
        "states": [],
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the records of two matches."""
    for name in ("one", "two"):
        (tmp_path / f"{name}.json").write_text(json.dumps(record(name)))
    return tmp_path


def n_matches(text: str) -> int:
    return int(json.loads(text)["matches"])


def test_a_match_that_comes_again_counts_once(ggp: Ggp, folder: Path) -> None:
    ended = ggp("ratings", folder, folder / "one.json", "--json")
    told = "ggp: 1 record of matches that came before; each match counts once\n"
    assert (ended.exit_code, n_matches(ended.output), ended.errors) == (0, 2, told)


def test_of_a_tournament_s_folder_the_records_count(ggp: Ggp, folder: Path) -> None:
    cup = folder / "cup"
    (cup / "records").mkdir(parents=True)
    (cup / "plan.json").write_text("{}")
    (cup / "records" / "3.json").write_text(json.dumps(record("three")))
    ended = ggp("ratings", cup, "--json")
    assert (ended.exit_code, n_matches(ended.output), ended.errors) == (0, 1, "")


@pytest.mark.parametrize("n_bytes", [0, 5, 60])
def test_an_archive_that_is_broken_is_named_and_the_others_count(ggp: Ggp, folder: Path, n_bytes: int) -> None:
    path = folder / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("three.json", json.dumps(record("three")))
    path.write_bytes(path.read_bytes()[:n_bytes])
    ended = ggp("ratings", path, folder / "one.json", "--json")
    assert (ended.exit_code, n_matches(ended.output)) == (1, 1)
    assert ended.errors.startswith(f"ggp: {path}: no ZIP archive that can be read (")


def test_without_a_match_that_counts_it_is_said(ggp: Ggp, folder: Path) -> None:
    ended = ggp("ratings", folder, "--game", "chess")
    told = "ggp: no record of a completed match of two players or more of that game\n"
    assert (ended.exit_code, ended.errors) == (0, told)
