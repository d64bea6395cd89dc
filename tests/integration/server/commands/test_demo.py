"""`ggp demo`: the match over HTTP that a newcomer watches, here with a shorter game."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from server.commands import demo
from tests.kit.server.commands.fixtures import Ggp
from tests.kit.server.processes import children_of


@pytest.fixture(autouse=True)
def short_game(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(demo, "GAME", "tictactoe")
    monkeypatch.setattr(demo, "PLAYERS", {"x": "legal", "o": "greedy"})
    monkeypatch.setattr(demo, "PLAY_CLOCK_S", 10)
    monkeypatch.chdir(tmp_path)


@pytest.mark.exhaustive
def test_the_board_move_by_move_then_result_and_record_and_no_process_left(ggp: Ggp, tmp_path: Path) -> None:
    before = children_of(os.getpid())
    ended = ggp("demo")
    lines = ended.output.splitlines()
    record = json.loads((tmp_path / lines[-1].removeprefix("record: ")).read_text())
    assert (ended.exit_code, ended.errors) == (0, "")
    assert lines[0] == "starting a game manager and two players"
    assert re.fullmatch(r"game manager: http://127\.0\.0\.1:[0-9]+", lines[1])
    assert lines[-2] == f"result: x={record['goalValues'][0]} o={record['goalValues'][1]}"
    assert lines.count("  1 2 3") == len(record["states"])
    assert "step 1  x: (mark 1 1)  o: noop" in lines
    assert "request" not in ended.output
    assert children_of(os.getpid()) <= before


def test_a_match_that_takes_too_long_is_given_up(ggp: Ggp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "LIMIT_S", 0)
    before = children_of(os.getpid())
    ended = ggp("demo")
    assert (ended.exit_code, "is this machine very busy?" in ended.errors) == (1, True)
    assert children_of(os.getpid()) <= before
