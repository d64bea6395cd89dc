"""`ggp lint`: what it tells, what it mends, and the exit code."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from tests.kit.server.commands.fixtures import Ggp

GAME = """(role x)
(init (at 1))
(<= (legal x Stop)
    (true (at 1)))
(<= (next (at 2))
    (does x Stop))
(<= terminal
    (true (at 2)))
(goal x 100)
"""
LOOSE = GAME.replace("(goal x 100)", "(<=   (goal x 100)) ; always").replace("(does x Stop)", "(does x stop)")
MENDED = GAME.replace("(goal x 100)", "(goal x 100) ; always")


@pytest.fixture
def loose(tmp_path: Path) -> Path:
    path = tmp_path / "loose.kif"
    path.write_text(LOOSE, encoding="utf-8")
    return path


def test_without_fix_defects_are_reported_and_the_file_stays(ggp: Ggp, loose: Path) -> None:
    ended = ggp("lint", loose)
    assert (ended.exit_code, ended.errors, loose.read_text(encoding="utf-8")) == (1, "", LOOSE)
    assert [line for line in ended.output.splitlines() if str(loose) in line] == [
        f"{loose}:6:13: error: stop and Stop differ only in upper and lower case [gdl/capitalisation]",
        f"{loose}:9:1: warning: this rule has no condition [gdl/empty-body]",
        f"{loose}: 1 error, 1 warning",
        f"{loose}: --fix mends 2 of 2; --diff shows how",
    ]


def test_fix_mends_the_file_and_nothing_else_in_it(ggp: Ggp, loose: Path) -> None:
    assert ggp("lint", "--fix", loose) == (0, f"{loose}: ok\n{loose}: 2 mended\n", "")
    assert loose.read_text(encoding="utf-8") == MENDED
    assert ggp("lint", loose) == (0, f"{loose}: ok\n", "")


def test_a_defect_that_cannot_be_mended_is_reported_after_the_rest_is_mended(ggp: Ggp, loose: Path) -> None:
    loose.write_text(LOOSE + "(<= (legal x (go ?y))\n    (true (at 1)))\n", encoding="utf-8")
    ended = ggp("lint", "--fix", loose)
    lines = ended.output.splitlines()
    assert ended.exit_code == 1
    assert "[gdl/unsafe-variable]" in lines[0]
    assert lines[-2:] == [f"{loose}: 1 error", f"{loose}: 2 mended"]


def test_diff_shows_what_fix_would_change_and_writes_nothing(ggp: Ggp, loose: Path) -> None:
    ended = ggp("lint", "--diff", loose)
    changed = [line for line in ended.output.splitlines() if line[0] in "+-"]
    assert changed == [
        f"--- {loose}", f"+++ {loose}", "-    (does x stop))", "+    (does x Stop))",
        "-(<=   (goal x 100)) ; always", "+(goal x 100) ; always",
    ]  # fmt: skip
    assert (ended.exit_code, ended.errors, loose.read_text(encoding="utf-8")) == (1, "", LOOSE)


def test_diff_says_how_much_is_left_that_nothing_mends(ggp: Ggp, loose: Path) -> None:
    loose.write_text(GAME.replace("stop", "Stop").replace("(true (at 2))", "(true (at ?x)) (won ?x)"), encoding="utf-8")
    assert ggp("lint", "--diff", loose) == (1, "", f"{loose}: --fix leaves 1; without --diff it is shown\n")


def test_standard_input_is_mended_to_standard_output(ggp: Ggp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LOOSE.encode()), encoding="utf-8"))
    assert ggp("lint", "--fix", "-") == (0, MENDED, "<stdin>: ok\n<stdin>: 2 mended\n")


def test_a_file_that_cannot_be_read_as_rules_stays_as_it_is(ggp: Ggp, loose: Path) -> None:
    loose.write_text(LOOSE + "(p", encoding="utf-8")
    ended = ggp("lint", "--fix", loose)
    assert (ended.exit_code, loose.read_text(encoding="utf-8")) == (1, LOOSE + "(p")
    assert "[gdl/unclosed-parenthesis]" in ended.output
