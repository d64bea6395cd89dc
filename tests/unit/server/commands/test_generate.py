"""`ggp generate`: rules on the screen or in a file, with the description beside it."""

from __future__ import annotations

from pathlib import Path

from gdl.games.library import GameFile
from gdl.games.zion import ZionArena, default_turns, zion_about, zion_rules
from tests.kit.server.commands.fixtures import Ggp

SIZE = ("--rows", 3, "--columns", 5, "--robots", 4)
ARENA = ZionArena(rows=3, columns=5, robots=4, turns=default_turns(4), seed=0)


def test_the_rules_are_printed(ggp: Ggp) -> None:
    assert ggp("generate", "zion", *SIZE) == (0, zion_rules(ARENA), "")


def test_the_rules_are_written_with_the_description_beside_them(ggp: Ggp, tmp_path: Path) -> None:
    path = tmp_path / "arena.kif"
    assert ggp("generate", "zion", *SIZE, "-o", path) == (0, "", "")
    assert (path.read_text(), path.with_suffix(".toml").read_text()) == (zion_rules(ARENA), zion_about(ARENA))
    assert GameFile("arena", path).about() is not None


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
