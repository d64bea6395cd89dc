"""`ggp` itself: its version, its help, and what it says to a misspelt command."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

from server.commands.main import COMMANDS
from tests.server.commands.conftest import Ggp


def test_the_version_is_that_of_the_package(ggp: Ggp) -> None:
    assert ggp("--version") == (0, f"ggp, version {version('ggp')}\n", "")


def test_help_lists_every_command_with_what_it_does(ggp: Ggp) -> None:
    listed = re.findall(r"^  (\S+)  +(\S.*)", ggp("--help").output.partition("Commands:")[2], re.MULTILINE)
    assert [name for name, _ in listed] == list(COMMANDS)


def test_a_misspelt_command_gets_a_suggestion_and_the_code_of_wrong_usage(ggp: Ggp) -> None:
    ended = ggp("vaildate", "tictactoe")
    assert ended.exit_code == 2
    assert "did you mean validate?" in ended.errors


def test_a_name_that_resembles_none_gets_a_way_to_find_the_right_one(ggp: Ggp) -> None:
    ended = ggp("show", "qqqq")
    assert (ended.exit_code, ended.output) == (2, "")
    assert "`ggp games` lists" in ended.errors


def test_a_file_that_cannot_be_written_is_told_in_one_line(ggp: Ggp, tmp_path: Path) -> None:
    ended = ggp("trace", "tictactoe", "-o", tmp_path / "absent" / "trace.json")
    assert (ended.exit_code, ended.errors.count("\n")) == (2, 1)
