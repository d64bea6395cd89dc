"""`ggp ratings`: each match counts once, and what is no record is named."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from server.arena import record_files
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


def elos(told: Any) -> dict[str, float]:
    return {each["player"]: each["elo"] for each in told["players"]}


def n_matches(text: str) -> int:
    return int(json.loads(text)["matches"])


def test_a_match_that_comes_again_counts_once(ggp: Ggp, folder: Path) -> None:
    ended = ggp("ratings", folder, folder / "one.json", "--json")
    told = "ggp: 1 record of matches that came before; each match counts once\n"
    assert (ended.exit_code, n_matches(ended.output), ended.errors) == (0, 2, told)


@pytest.mark.parametrize("names", [["", ""], ["ada", None], [], None])
def test_a_match_of_players_without_names_does_not_count(ggp: Ggp, folder: Path, names: object) -> None:
    (folder / "three.json").write_text(json.dumps(record("three") | {"playerNamesFromHost": names}))
    ended = ggp("ratings", folder, "--json")
    told = "ggp: 1 record not counted: players have no names\n"
    assert (ended.exit_code, n_matches(ended.output), ended.errors) == (0, 2, told)


def test_of_a_tournament_s_folder_the_records_count(ggp: Ggp, folder: Path) -> None:
    cup = folder / "cup"
    (cup / "records").mkdir(parents=True)
    (cup / "plan.json").write_text("{}")
    (cup / "records" / "3.json").write_text(json.dumps(record("three")))
    ended = ggp("ratings", cup, "--json")
    assert (ended.exit_code, n_matches(ended.output), ended.errors) == (0, 1, "")


def test_files_that_cannot_be_opened_or_are_too_large_are_named_and_the_others_count(
    ggp: Ggp, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_files, "MAX_RECORD_BYTES", 1_000)
    (folder / "a.json").symlink_to(folder / "absent")
    (folder / "b.json").mkdir()
    (folder / "c.json").write_bytes(b" " * 1_001)
    with zipfile.ZipFile(folder / "d.zip", "w") as archive:
        archive.writestr("three.json", json.dumps(record("three")))
        archive.writestr("e.json", " " * 1_001)
    ended = ggp("ratings", folder, folder / "d.zip", "--json")
    assert (ended.exit_code, n_matches(ended.output), ended.errors.splitlines()) == (
        1,
        3,
        [
            f"ggp: {folder}/a.json: No such file or directory",
            f"ggp: {folder}/c.json: no match record (more than 200,000,000 bytes)",
            f"ggp: {folder}/d.zip:e.json: no match record (more than 200,000,000 bytes)",
        ],
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{}", "there is no 'matchId'"),
        ('{"matchId": "a"}', "there is no 'isCompleted'"),
        ("[]", "a match record is a JSON object"),
        ("", "Expecting value: line 1 column 1 (char 0)"),
    ],
)
def test_it_says_why_a_file_is_no_record(ggp: Ggp, folder: Path, text: str, reason: str) -> None:
    (folder / "a.json").write_text(text)
    ended = ggp("ratings", folder, "--json")
    assert (ended.exit_code, ended.errors) == (1, f"ggp: {folder}/a.json: no match record ({reason})\n")


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
    assert ended == (0, "", told)


def test_matches_of_one_player_are_none_that_count(ggp: Ggp, folder: Path) -> None:
    alone = {"x-game": "lightsout", "playerNamesFromHost": ["ada"], "goalValues": [100], "errors": [[""]]}
    (folder / "one.json").write_text(json.dumps(record("one") | alone))
    ended = ggp("ratings", folder / "one.json")
    assert ended == (0, "", "ggp: no record of a completed match of two players or more\n")


def test_a_record_with_an_infinite_goal_is_named_and_the_others_count(ggp: Ggp, folder: Path) -> None:
    text = json.dumps(record("three")).replace("[100, 0]", "[1e999, 0]")
    (folder / "three.json").write_text(text)
    ended = ggp("ratings", folder, "--json")
    told = f"ggp: {folder}/three.json: no match record (cannot convert float infinity to integer)\n"
    assert (ended.exit_code, n_matches(ended.output), ended.errors) == (1, 2, told)


@pytest.mark.parametrize("anchor", ["ada=nan", "ada=inf", "ada="])
def test_an_anchor_without_a_finite_elo_is_wrong_usage(ggp: Ggp, folder: Path, anchor: str) -> None:
    ended = ggp("ratings", folder, "--anchor", anchor)
    told = f"Error: --anchor wants a player and its Elo, as in mcts=1500; {anchor!r} given"
    assert (ended.exit_code, ended.output, ended.errors.splitlines()[-1]) == (2, "", told)


def test_the_anchor_holds_in_each_game_that_it_has_played(ggp: Ggp, folder: Path) -> None:
    others = {"x-game": "chess", "playerNamesFromHost": ["bob", "cat"], "goalValues": [50, 50]}
    (folder / "three.json").write_text(json.dumps(record("three") | others))
    found = json.loads(ggp("ratings", folder, "--by-game", "--anchor", "ada=2000", "--json").output)
    alone = {game: elos(each) for game, each in found["games"].items()}
    assert (elos(found)["ada"], alone["nim"]["ada"], alone["chess"]) == (2000, 2000, {"bob": 1500, "cat": 1500})


def test_errors_are_counted_and_lose_a_match_where_it_is_said_how_many_do(ggp: Ggp, folder: Path) -> None:
    late = {"playerNamesFromHost": ["cat", "bob"], "errors": [["timed out 1", ""], ["illegal 1", ""]]}
    (folder / "three.json").write_text(json.dumps(record("three") | late))

    def players(*options: str) -> list[tuple[object, ...]]:
        told = json.loads(ggp("ratings", folder, "--json", *options).output)["players"]
        return [(each["player"], each["errors"], each["forfeits"]) for each in told]

    assert players() == [("ada", 0, 0), ("cat", 2, 0), ("bob", 0, 0)]
    assert players("--forfeit-errors", "2") == [("ada", 0, 0), ("bob", 0, 0), ("cat", 2, 1)]
    assert ggp("ratings", folder, "--forfeit-errors", "2").output.splitlines()[0].split()[-2:] == ["errors", "forfeits"]
