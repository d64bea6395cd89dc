"""The sample players of docs/samples play whole matches as child processes, without a single error."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gdl.engines import make_game
from gdl.game import RANDOM
from gdl.games.library import find_game

SAMPLES = Path(__file__).resolve().parents[2] / "docs" / "samples"


def javascript(_folder: Path) -> str:
    if shutil.which("node") is None:
        pytest.skip("node is not installed: the JavaScript sample is not tried")
    return f"cmd+legal:node '{SAMPLES / 'random_player.js'}'"


def cpp(folder: Path) -> str:
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed: the C++ sample is not tried")
    program = folder / "random_player"
    warnings = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
    subprocess.run(["g++", "-std=c++17", *warnings, "-o", program, SAMPLES / "random_player.cpp"], check=True)
    return f"cmd+legal:'{program}'"


def kit(_folder: Path) -> str:
    return f"cmd:{sys.executable} -m server player legal --stdio"


@pytest.mark.parametrize("sample", [javascript, cpp, kit])
@pytest.mark.parametrize("game", ["tictactoe", "montyhall"])
def test_a_sample_plays_a_match_without_errors(sample: Callable[[Path], str], game: str, tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    roles = [role for role in make_game(find_game(game).read()).roles if role != RANDOM]
    player = sample(tmp_path)
    seats = [word for role in roles for word in ("--player", f"{role}={player}")]
    clocks = ("--start-clock", "10", "--play-clock", "5")
    subprocess.run(
        [sys.executable, "-m", "server", "match", game, *seats, *clocks, "--record", record],
        check=True, capture_output=True, timeout=100,
    )  # fmt: skip
    told = json.loads(record.read_text())
    assert told["isCompleted"]
    assert {error for errors in told["errors"] for error in errors} == {""}
