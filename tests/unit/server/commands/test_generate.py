"""`ggp generate`: rules on the screen or in a file, with the description beside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gdl.games.chess import chess_metadata, chess_rules, read_fen
from gdl.games.connect import ConnectGame, connect_game
from gdl.games.library import GameFile
from gdl.games.sokoban import sokoban_game
from gdl.games.sokoban_level import read_level
from gdl.games.zion import ZionArena, default_turns, zion_metadata, zion_rules
from tests.kit.server.commands.fixtures import Ggp

SIZE = ("--rows", 3, "--columns", 5, "--robots", 4)
ARENA = ZionArena(rows=3, columns=5, robots=4, turns=default_turns(4), seed=0)

PUZZLE = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
FAMILIES = [
    ("hex", "--side", 5),
    ("breakthrough", "--columns", 5, "--rows", 6),
    ("connect", "--columns", 7, "--rows", 6, "--line", 4, "--gravity"),
    ("connect", "--columns", 4, "--rows", 4, "--line", 3),
    ("nim", 3, 5, 7),
    ("nim", 3, 5, 7, "--misere"),
    ("queens", "--queens", 5),
    ("hanoi", "--disks", 3),
    ("sudoku", PUZZLE),
]


def test_the_rules_are_printed(ggp: Ggp) -> None:
    assert ggp("generate", "zion", *SIZE) == (0, zion_rules(ARENA), "")


def test_a_name_that_is_empty_is_refused(ggp: Ggp) -> None:
    ended = ggp("generate", "zion", *SIZE, "-o", "")
    assert (ended.exit_code, ended.output, "--output is the rule file: name it .kif" in ended.errors) == (2, "", True)


def test_the_rules_are_written_with_the_description_beside_them(ggp: Ggp, tmp_path: Path) -> None:
    path = tmp_path / "arena.kif"
    assert ggp("generate", "zion", *SIZE, "-o", path) == (0, "", "")
    assert (path.read_text(), path.with_suffix(".toml").read_text()) == (zion_rules(ARENA), zion_metadata(ARENA))
    assert GameFile("arena", path).metadata() is not None


def test_a_dash_is_the_screen(ggp: Ggp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert ggp("generate", "zion", *SIZE, "-o", "-") == (0, zion_rules(ARENA), "")
    for words in ("show tictactoe --svg", "trace tictactoe"):
        assert ggp(*words.split(), "-o", "-") == ggp(*words.split())
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_takes_the_rules_alone(ggp: Ggp, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert ggp("generate", "zion", *SIZE, "-o", pipe) == (0, "", "")
    assert (os.read(reader, 65_536).decode(), list(tmp_path.iterdir())) == (zion_rules(ARENA), [pipe])
    os.close(reader)


def test_the_command_in_the_file_makes_the_file_again(ggp: Ggp) -> None:
    arena = ZionArena(rows=3, columns=5, robots=4, turns=9, seed=17)
    assert ggp(*arena.command.split()[1:]).output == zion_rules(arena)


def test_an_arena_without_a_cell_for_robots_is_wrong_usage(ggp: Ggp) -> None:
    ended = ggp("generate", "zion", "--rows", 1, "--columns", 1, "--robots", 1)
    assert (ended.exit_code, ended.output) == (2, "")
    assert "cells" in ended.errors


def test_the_rule_file_may_not_take_the_name_of_its_description(ggp: Ggp, tmp_path: Path) -> None:
    ended = ggp("generate", "zion", *SIZE, "-o", tmp_path / "arena.toml")
    assert (ended.exit_code, list(tmp_path.iterdir())) == (2, [])


@pytest.mark.parametrize("words", FAMILIES, ids=lambda words: words[0])
def test_what_a_family_has_made_is_valid_and_says_how_it_was_made(
    ggp: Ggp, tmp_path: Path, words: tuple[object, ...]
) -> None:
    path = tmp_path / "made.kif"
    assert ggp("generate", *words, "-o", path) == (0, "", "")
    assert ggp("validate", path).output == f"{path}: ok\n"
    about = GameFile("made", path).metadata()
    assert about is not None
    command = path.with_suffix(".toml").read_text().splitlines()[0].removeprefix("# Made by `").removesuffix("`.")
    assert ggp(*command.split()[1:]).output == path.read_text()


def test_chess_begins_at_the_position_that_is_given(ggp: Ggp, tmp_path: Path) -> None:
    fen, path = "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1", tmp_path / "ending.kif"
    assert ggp("generate", "chess", "--fen", fen, "-o", path) == (0, "", "")
    assert (path.read_text(), path.with_suffix(".toml").read_text()) == (
        chess_rules(read_fen(fen)), chess_metadata(read_fen(fen)),
    )  # fmt: skip
    assert GameFile("ending", path).metadata() is not None


def test_a_position_that_is_none_is_refused(ggp: Ggp) -> None:
    ended = ggp("generate", "chess", "--fen", "8/8/8")
    assert (ended.exit_code, ended.output) == (2, "")
    assert ended.errors.startswith("ggp: not a position of chess: ")


def test_a_level_comes_from_a_file(ggp: Ggp, tmp_path: Path) -> None:
    level, path = tmp_path / "level.txt", tmp_path / "made.kif"
    level.write_text("#####\n#@$.#\n# $.#\n#####\n")
    assert ggp("generate", "sokoban", level, "--steps", 50, "-o", path) == (0, "", "")
    assert path.read_text() == sokoban_game(read_level(level.read_text()), 50).rules
    assert ggp("validate", path).output == f"{path}: ok\n"


def test_a_file_that_is_no_level_is_refused(ggp: Ggp, tmp_path: Path) -> None:
    level = tmp_path / "level.txt"
    level.write_bytes(b"\xff\xfe\x00" * 100_000)
    ended = ggp("generate", "sokoban", level)
    assert (ended.exit_code, ended.output) == (2, "")
    assert "from 3 to 40 rows" in ended.errors


def test_gravity_is_off_where_it_is_not_asked_for(ggp: Ggp) -> None:
    made = ggp("generate", "connect", "--columns", 3, "--rows", 3, "--line", 3).output
    assert made == connect_game(ConnectGame(3, 3, 3)).rules


@pytest.mark.parametrize(
    "words",
    [("hex", "--side", 20), ("sudoku", "1" * 81), ("nim", 0), ("nim",), ("queens", "--queens", 3), ("checkers",)],
)
def test_what_no_family_has_is_wrong_usage(ggp: Ggp, words: tuple[object, ...]) -> None:
    ended = ggp("generate", *words)
    assert (ended.exit_code, ended.output) == (2, "")
    assert ended.errors
