"""The plays of a simulation's findings as match records."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from gdl.engines import make_game
from gdl.language.rules import read_rules
from gdl.simulation import SimulationBudget, SimulationReport, simulate
from server.commands.replay import command
from server.records.replay import replay
from server.records.stored_record import read_stored
from server.validating.evidence import write_evidence

BUDGET: Final = SimulationBudget(plays=5, seconds=20, states=100, steps=50)

DEAD_END: Final = """
(role robot) (init (at a)) (way a b) (way b c)
(<= (legal robot (go ?to)) (true (at ?from)) (way ?from ?to))
(<= (next (at ?to)) (does robot (go ?to)))
(<= terminal (true over))
(goal robot 100)
"""
NO_GOAL_IN_GDL2: Final = """
(role robot) (role random) (init on)
(legal robot wait) (legal random head) (legal random tail)
(<= (next (side ?side)) (does random ?side))
(<= (sees robot ?side) (does random ?side))
(<= terminal (not (true on)))
(<= (goal robot 100) (true on))
"""


def report_on(rules: str) -> SimulationReport:
    return simulate(read_rules(rules), BUDGET)


def written(rules: str, folder: Path) -> list[Path]:
    return [path for _, path in write_evidence(report_on(rules), folder, "my game!")]


@pytest.mark.parametrize(
    ("rules", "name", "n_steps"),
    [(DEAD_END, "my-game--1-no-legal-move.json", 2), (NO_GOAL_IN_GDL2, "my-game--1-no-goal.json", 1)],
)
def test_the_record_of_a_finding_agrees_with_the_rules_to_its_last_step(
    rules: str, name: str, n_steps: int, tmp_path: Path
) -> None:
    (path,) = written(rules, tmp_path / "evidence")
    stored = read_stored(path)
    assert stored.rules is not None
    steps = list(replay(make_game(read_rules(stored.rules)), stored))
    assert (path.name, len(steps) - 1, stored.is_aborted) == (name, n_steps, True)


def test_the_record_says_what_it_shows(tmp_path: Path) -> None:
    (path,) = written(DEAD_END, tmp_path)
    message = "after 2 joint moves `robot` has no legal move, yet the state is not terminal"
    assert read_stored(path).raw["x-end"]["reason"] == f"gdl/no-legal-move: {message}"


def test_percepts_are_in_the_record_of_a_game_with_imperfect_information(tmp_path: Path) -> None:
    (path,) = written(NO_GOAL_IN_GDL2, tmp_path)
    stored = read_stored(path)
    assert stored.percepts == (((stored.moves[0][1],), ()),)


def test_the_replay_command_steps_through_the_record(tmp_path: Path) -> None:
    (path,) = written(DEAD_END, tmp_path)
    result = CliRunner().invoke(command, [str(path)])
    assert (result.exit_code, "at: c" in result.stdout) == (0, True)


def test_a_game_without_defects_leaves_no_record(tmp_path: Path) -> None:
    right = DEAD_END.replace("(true over)", "(true (at c))")
    assert (written(right, tmp_path), list(tmp_path.iterdir())) == ([], [])
