"""The share of solved positions whose value a player keeps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from gdl.errors import GdlError
from players.registry import find_player
from server.errors import PositionFileError
from server.measuring.accuracy import Accuracy, AccuracyOptions, accuracy, wilson
from server.measuring.solved_positions import FORMAT

X_THREATENS: Final = [["(mark 1 1)", "noop"], ["noop", "(mark 2 2)"], ["(mark 1 2)", "noop"]]
"""O has to answer at (1 3)."""
FREE: Final = ("(mark 1 3)", "(mark 2 1)", "(mark 2 3)", "(mark 3 1)", "(mark 3 2)", "(mark 3 3)")
OPTIONS: Final = AccuracyOptions(0.01, engine="interpreter")
UNHURRIED: Final = AccuracyOptions(600, engine="interpreter")


def position(best: str, half: str = "tuning") -> str:
    values = {move: 50 if move == best else 0 for move in FREE}
    return json.dumps({"half": half, "role": "o", "moves": X_THREATENS, "values": values})


def written(folder: Path, *lines: str) -> Path:
    path = folder / "t.jsonl"
    path.write_text("\n".join((json.dumps({"format": FORMAT, "game": "tictactoe"}), *lines)))
    return path


def measured(path: Path, spec: str, options: AccuracyOptions = OPTIONS) -> Accuracy:
    return accuracy(path, find_player(spec), options, lambda _: None)


def test_the_moves_of_a_player_are_held_against_the_values(tmp_path: Path) -> None:
    path = written(tmp_path, position(FREE[0]), position(FREE[1], "test"), position(FREE[0], "test"))
    found = measured(path, "legal")
    assert (found.n_positions, found.n_kept, found.missed, found.share) == (3, 2, (3,), 2 / 3)
    assert measured(path, "legal", AccuracyOptions(0.01, "test", "interpreter")).missed == (3,)
    assert measured(path, "legal", AccuracyOptions(0.01, "tuning", "interpreter")).n_positions == 1


def test_a_player_that_looks_ahead_keeps_the_value(tmp_path: Path) -> None:
    assert measured(written(tmp_path, position(FREE[0])), "minimax:positions=500", UNHURRIED).share == 1.0


def test_every_position_is_reported(tmp_path: Path) -> None:
    told: list[None] = []
    accuracy(written(tmp_path, position(FREE[0]), position(FREE[1])), find_player("legal"), OPTIONS, told.append)
    assert len(told) == 2


def test_a_player_follows_the_match_and_has_a_clock_that_counts_its_work(tmp_path: Path) -> None:
    (tmp_path / "witness.py").write_text(
        "from players import Player\n"
        "class Witness(Player):\n"
        "    steps = 0\n"
        "    def perceive(self, own_move, percepts):\n"
        "        self.steps += 1\n"
        "    def move(self, state, role, deadline):\n"
        "        assert self.steps == 3 and state == self.worlds.state\n"
        "        while not deadline.has_passed:\n"
        "            pass\n"
        "        return state.legal_moves(role)[0]\n"
    )
    found = measured(written(tmp_path, position(FREE[0])), f"{tmp_path}/witness.py:Witness")
    assert found.share == 1.0
    assert found.mean_used_s >= 0.01


def test_a_move_that_is_not_legal_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "wild.py").write_text(
        "from players import Player\n"
        "class Wild(Player):\n"
        "    def move(self, state, role, deadline):\n"
        "        return role\n"
    )
    assert measured(written(tmp_path, position(FREE[0])), f"{tmp_path}/wild.py").missed == (2,)


def test_faulty_positions_are_found_before_any_is_played(tmp_path: Path) -> None:
    told: list[None] = []
    path = written(tmp_path, position(FREE[0]), position(FREE[0]).replace("(mark 3 3)", "(mark 4 4)"))
    with pytest.raises(PositionFileError, match="line 3"):
        accuracy(path, find_player("legal"), OPTIONS, told.append)
    assert told == []


def test_nothing_is_kept_of_no_positions(tmp_path: Path) -> None:
    found = measured(written(tmp_path), "legal")
    assert (found.n_positions, found.share, found.interval) == (0, 0.0, (0.0, 1.0))


def test_the_interval_holds_the_share_and_narrows() -> None:
    assert wilson(0, 10)[0] == pytest.approx(0.0)
    assert wilson(10, 10)[1] == pytest.approx(1.0)
    widths = [high - low for low, high in (wilson(n // 2, n) for n in (10, 100, 1000))]
    assert widths == sorted(widths, reverse=True)
    assert [round(bound, 3) for bound in wilson(50, 100)] == [0.404, 0.596]


def test_the_error_of_a_file_is_one_of_ours() -> None:
    assert str(PositionFileError(Path("a"), "b", 3)) == "a, line 3: b"
    assert str(PositionFileError(Path("a"), "b")) == "a: b"
    assert issubclass(PositionFileError, GdlError)
