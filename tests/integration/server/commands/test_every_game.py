"""Every game of the library is played over HTTP, from start to end, by player processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.kit.rules.sample import sampled_games
from tests.kit.server.commands.fixtures import Ggp


@pytest.mark.sampled(11)
@pytest.mark.parametrize("name", sampled_games())
def test_a_match_of_each_game_is_played_and_its_record_agrees(ggp: Ggp, tmp_path: Path, name: str) -> None:
    path = tmp_path / "m.json"
    ended = ggp("match", name, "--play-clock", 20, "--start-clock", 20, "--seed", 1, "--record", path, "--scramble")
    assert (ended.exit_code, ended.output.splitlines()[-1]) == (0, f"record: {path}")
    record = json.loads(path.read_text())
    assert {error for step in record["errors"] for error in step} == {""}
    assert ggp("replay", path).exit_code == 0
