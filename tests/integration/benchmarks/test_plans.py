"""The benchmark of plans: games of one role are played to their end, and counted."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from benchmarks.plans import Result, main, play
from tests.kit.players.puzzles import LIGHTS, TWO_ENDS


def test_a_game_is_played_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "ends.kif"
    path.write_text(TWO_ENDS)
    result = play(str(path), "planner:playouts=100", seconds=10, move_s=1)
    assert (result.game, result.goal, result.n_steps) == ("ends", 60, 3)


def test_the_games_brought_to_goal_100_are_counted(tmp_path: Path) -> None:
    for name, text in (("ends", TWO_ENDS), ("lights", LIGHTS)):
        (tmp_path / f"{name}.kif").write_text(text)
    files = [str(path) for path in sorted(tmp_path.iterdir())]
    done = CliRunner().invoke(main, [*files, "--seconds", "20", "--move-seconds", "5"])
    assert done.output.splitlines()[-1] == "1 of 2 brought to goal 100 by planner"


def test_a_game_of_two_roles_is_refused() -> None:
    done = CliRunner().invoke(main, ["tictactoe"])
    assert (done.exit_code, "no game of one role" in done.output) == (2, True)


def test_a_line_is_a_row_of_a_table() -> None:
    assert Result("ends", None, 3, 1.0, 0.5, "why").line == "| ends | none | 1.0 | 0.50 | 3 | why |"
