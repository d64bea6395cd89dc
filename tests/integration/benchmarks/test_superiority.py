"""A search against the one before it: points, figures, and a run that goes on from its file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.superiority import Comparison, PlayedMatch, figures_of, main
from players.search.positions import points


@pytest.mark.parametrize(
    ("goals", "place", "worth"),
    [((100, 0), 0, 1.0), ((100, 0), 1, 0.0), ((50, 50), 1, 0.5), ((50, 100, 50), 0, 0.25), ((100, 100, 0), 1, 0.75)],
)
def test_points_compare_a_goal_with_each_of_the_others(goals: tuple[int, ...], place: int, worth: float) -> None:
    assert points(goals, place) == worth


def test_figures_are_those_of_whole_sets() -> None:
    played = [PlayedMatch("nim", number, place, 1.0 - place / 2, 10) for number in range(3) for place in range(2)]
    (found,) = figures_of(played)
    assert found.figures() == {
        "game": "nim", "matches": 6, "won": 3, "lost": 0, "drawn": 3, "share": 0.75,
        "interval": [0.3648, 0.94], "llr": round(found.llr or 0, 2), "steps": 10.0,
    }  # fmt: skip
    assert found.pairs == (1.5, 1.5, 1.5)


def test_a_set_has_a_match_for_each_role_and_its_opening_follows_from_the_seed() -> None:
    comparison = Comparison("legal", "random", 0.01, seed=1, start_s=0.0, n_opening=2)
    played = comparison.play("tictactoe", 3)
    assert [(match.number, match.place) for match in played] == [(3, 0), (3, 1)]
    assert comparison.play("tictactoe", 3) == played


@pytest.mark.parametrize(("n_opening", "n_lengths"), [(0, 1), (2, 3)])
def test_without_an_opening_matches_begin_as_the_game_does(n_opening: int, n_lengths: int) -> None:
    comparison = Comparison("legal", "legal", 0.01, seed=1, start_s=0.0, n_opening=n_opening)
    assert len({comparison.play("tictactoe", number)[0].n_steps for number in range(8)}) == n_lengths


@pytest.mark.exhaustive
def test_a_run_goes_on_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    words = ["tictactoe", "--player", "legal", "--against", "random", "--seconds", "0.01", "--processes", "1", "--json"]
    for n_matches, n_lines in ((2, 3), (4, 5)):
        ended = CliRunner().invoke(main, [*words, "--matches", str(n_matches), "--results", str(path)])
        assert ended.exit_code == 0, ended.output
        assert len(path.read_text().splitlines()) == n_lines
        assert json.loads(ended.stdout)[0]["matches"] == n_matches


def test_results_of_another_comparison_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(json.dumps({"player": "mcts", "other": "legal", "seconds": 1.0, "seed": 0}) + "\n")
    ended = CliRunner().invoke(main, ["tictactoe", "--player", "legal", "--results", str(path)])
    assert (ended.exit_code, "results of another comparison" in ended.output) == (2, True)
