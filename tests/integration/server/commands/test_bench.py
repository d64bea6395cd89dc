"""`ggp bench`: figures in the order of the arguments, of the engine that really ran; it reports a failed game."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

import pytest

from tests.kit.server.commands.fixtures import Ggp
from tests.kit.server.processes import children_of

FIGURES: Final = {"game", "engine", "setup_s", "playouts_per_s", "states_per_s", "peak_memory_mb"}
QUICK: Final = ("--seconds", 0.02)
ENDLESS: Final = "(role robot) (init a) (legal robot stay) (<= (next a) (true a)) (<= terminal (true b)) (goal robot 0)"


@pytest.fixture(autouse=True)
def _no_child_is_left() -> object:
    before = children_of(os.getpid())
    yield
    assert children_of(os.getpid()) - before == set()  # one of another test may have ended meanwhile


@pytest.mark.exhaustive
def test_figures_are_in_the_order_of_the_arguments(ggp: Ggp, tmp_path: Path) -> None:
    path = tmp_path / "wrong.kif"
    path.write_text("(role x) (role")
    ended = ggp("bench", "nim", path, "tictactoe", *QUICK, "--json")
    found = json.loads(ended.output)
    assert (ended.exit_code, [each["game"] for each in found]) == (1, ["nim", "wrong", "tictactoe"])
    assert (set(found[0]), set(found[1]), set(found[2])) == (FIGURES, {"game", "error"}, FIGURES)
    assert found[1]["error"]["code"] == "rules_refused"


@pytest.mark.exhaustive
def test_the_engine_is_the_one_that_ran(ggp: Ggp) -> None:
    engines = [json.loads(ggp("bench", "nim", *QUICK, "--json", "--engine", engine).output)[0]["engine"]
               for engine in ("best", "compiled", "interpreter")]  # fmt: skip
    assert engines == ["compiled", "compiled", "interpreter"]


def test_the_compiled_engine_is_faster_by_far(ggp: Ggp) -> None:
    speeds = [json.loads(ggp("bench", "tictactoe", *QUICK, "--json", "--engine", engine).output)[0]["playouts_per_s"]
              for engine in ("compiled", "interpreter")]  # fmt: skip
    assert speeds[0] > 100 * speeds[1]


@pytest.mark.exhaustive
def test_a_table_is_printed_for_people(ggp: Ggp) -> None:
    ended = ggp("bench", "nim", *QUICK, "--threads", 2)
    lines = [line.split() for line in ended.output.splitlines()]
    assert (ended.exit_code, len(lines), lines[1][:2]) == (0, 2, ["nim", "compiled"])


@pytest.mark.exhaustive
def test_a_game_without_an_end_fails(ggp: Ggp, tmp_path: Path) -> None:
    path = tmp_path / "endless.kif"
    path.write_text(ENDLESS)
    ended = ggp("bench", path, *QUICK)
    assert (ended.exit_code, ended.output) == (1, "")
    assert "endless" in ended.errors


def test_a_name_that_is_misspelt_is_wrong_usage(ggp: Ggp) -> None:
    ended = ggp("bench", "nim", "tictactoo", *QUICK)
    assert (ended.exit_code, ended.output) == (2, "")
