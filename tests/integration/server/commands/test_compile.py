"""`ggp compile`: every stage is printed, no longer than asked for; figures for people and programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from tests.kit.server.commands.fixtures import Ggp

COSTLY: Final = """
(role robot) (init (at 1)) (<= (legal robot stay) (true (at 1))) (<= terminal (true (at 2))) (<= (goal robot 0) lost)
(<= lost (true (at ?a)) (pair ?a ?b) (not (true (at ?b))))
(<= (pair (f ?x ?y) (f ?y ?x)) (true (at ?x)) (true (at ?y)))
(<= (next (at (f ?x ?y))) (true (at ?x)) (true (at ?y)))
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("stage", "line"),
    [
        ("rules", "(<= (next (control x)) (true (control o)))"),
        ("ground", "(<= (next (control x)) (true (control o)))"),
        ("circuit", "1 fluent (cell 1 1 empty) at first"),
    ],
)
def test_every_stage_is_printed(ggp: Ggp, stage: str, line: str) -> None:
    ended = ggp("compile", "tictactoe", "--show", stage)
    assert (ended.exit_code, ended.errors) == (0, "")
    assert line in ended.output.splitlines()


def test_no_more_lines_are_printed_than_asked_for(ggp: Ggp) -> None:
    ended = ggp("compile", "tictactoe", "--show", "circuit", "--lines", 3)
    assert (ended.exit_code, len(ended.output.splitlines())) == (0, 3)
    assert "--lines N" in ended.errors


def test_figures_are_printed_for_people(ggp: Ggp) -> None:
    ended = ggp("compile", "tictactoe")
    assert ended.exit_code == 0
    assert ["fluents", "29"] in [line.split() for line in ended.output.splitlines()]


def test_figures_are_printed_as_json(ggp: Ggp) -> None:
    ended = ggp("compile", "tictactoe", "--json")
    figures = json.loads(ended.output)
    assert (ended.exit_code, figures["n_fluents"], figures["n_moves"]) == (0, 29, {"x": 10, "o": 10})
    assert [phase["n_choices"] for phase in figures["phases"]] == [[9], [9]]
    assert set(figures["seconds"]) == {"check", "clauses", "ground", "build", "phases", "tables"}


def test_json_is_for_figures_alone(ggp: Ggp) -> None:
    assert ggp("compile", "tictactoe", "--show", "rules", "--json").exit_code == 2


@pytest.mark.exhaustive
def test_rules_that_do_not_compile_in_time_are_reported(ggp: Ggp, tmp_path: Path) -> None:
    path = tmp_path / "costly.kif"
    path.write_text(COSTLY)
    ended = ggp("compile", path, "--seconds", 3, "--json")
    assert (ended.exit_code, json.loads(ended.output)["error"]["code"]) == (1, "rules_too_costly")


def test_a_game_that_is_not_there_is_wrong_usage(ggp: Ggp) -> None:
    assert ggp("compile", "tictactoo").exit_code == 2
