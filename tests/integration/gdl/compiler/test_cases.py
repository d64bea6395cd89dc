"""Rule files on which plays were once wrong: all tables that are made of them play exactly as the interpreter does.

`cases/*.kif` are the rule files; `cases/exact.toml` says what random plays come to.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from gdl.compiler.compiled import CompiledGame
from gdl.compiler.registers import Accesses
from gdl.compiler.tables import Tables
from gdl.game import State
from gdl.interpreter import InterpretedGame
from gdl.language.rules import read_file
from tests.kit.gdl.compiler.engines import both, packed, play_on_both
from tests.kit.gdl.compiler.replays import replayed

FOLDER: Final = Path(__file__).parent / "cases"
EXACT: Final[Mapping[str, dict[str, Any]]] = tomllib.loads((FOLDER / "exact.toml").read_text(encoding="utf-8"))
N_PLAYS: Final = 20_480
NEGLIGIBLE: Final = 1e-12
"""The chance of being still at play below which all plays are taken to be over."""


def _goal_values(goals: Sequence[int | None]) -> list[list[float]]:
    """Return goals, their squares, and 1 for each that is there."""
    return [[goal or 0 for goal in goals], [(goal or 0) ** 2 for goal in goals], [goal is not None for goal in goals]]


def played_by_chance(game: InterpretedGame) -> dict[str, Any]:
    """Return what random plays from the first state come to, by the chances of all states, step by step."""
    reached: dict[State, float] = {game.initial_state: 1.0}
    goals = np.zeros((3, len(game.roles)))
    length, n_steps = np.zeros(2), 0
    while sum(reached.values()) > NEGLIGIBLE:
        following: defaultdict[State, float] = defaultdict(float)
        for state, chance in reached.items():
            if state.is_terminal:
                found = [state.goal(role) for role in game.roles]
                goals += [[chance * value for value in values] for values in _goal_values(found)]
                length += chance * n_steps, chance * n_steps**2
                continue
            joint = list(product(*(state.legal_moves(role) for role in game.roles)))
            for moves in joint:
                following[state.next_state(moves)] += chance / len(joint)
        reached, n_steps = following, n_steps + 1
    means, squares, scored = goals.tolist()
    return {
        "goals": means,
        "goal_squares": squares,
        "scored": scored,
        "length": float(length[0]),
        "length_square": float(length[1]),
    }


def test_every_rule_file_has_its_exact_results() -> None:
    assert sorted(EXACT) == sorted(path.stem for path in FOLDER.glob("*.kif"))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", EXACT)
def test_what_is_taken_to_be_exact_is_what_the_interpreter_says(name: str) -> None:
    found = played_by_chance(InterpretedGame(read_file(FOLDER / f"{name}.kif")))
    assert found == {key: pytest.approx(value, abs=1e-7) for key, value in EXACT[name].items()}


def one_row_each(tables: Tables, _found: Sequence[Accesses]) -> Tables:
    return tables


@pytest.fixture(
    params=["rows reused", "rows not reused", "one circuit for all phases", "don't-care arguments split off"]
)
def variant(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let the compiler make its tables in one of its ways."""
    if request.param == "rows not reused":
        monkeypatch.setattr("gdl.compiler.pipeline.reuse", one_row_each)
    if request.param == "don't-care arguments split off":
        monkeypatch.setattr("gdl.compiler.pipeline._MANY_RULES", 0)
    return str(request.param)


def compiled_as(variant: str, name: str) -> tuple[InterpretedGame, CompiledGame]:
    interpreted, compiled = both(read_file(FOLDER / f"{name}.kif"))
    if variant == "one circuit for all phases":
        compiled = CompiledGame(interpreted, replace(compiled.rules, phases=()))
    return interpreted, compiled


@pytest.mark.parametrize("name", EXACT)
def test_plays_come_to_what_is_exact(name: str, variant: str) -> None:
    """Every mean is within six standard deviations; what does not vary is as it must be."""
    _, compiled = compiled_as(variant, name)
    found = compiled.playouts(compiled.initial_state, N_PLAYS, 1)
    exact = EXACT[name]
    means = np.array([*exact["goals"], *exact["scored"], exact["length"]])
    squares = np.array([*exact["goal_squares"], *exact["scored"], exact["length_square"]])
    sums = np.array([*found.goal_sums, *found.n_scored, found.n_steps])
    deviations = np.sqrt(np.maximum(0, squares - means**2) / N_PLAYS)
    assert (np.abs(sums / found.n_plays - means) <= 6 * deviations + 1e-6).all(), (found, exact)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", EXACT)
def test_lanes_and_states_go_as_the_interpreter_does_step_by_step(name: str, variant: str) -> None:
    interpreted, compiled = compiled_as(variant, name)
    assert replayed(interpreted, compiled, interpreted.initial_state, 40, 60)
    for seed in range(5):
        met = play_on_both(interpreted, compiled, seed, 40)
        answers = compiled.batch.goals(packed(compiled, met)).tolist()
        assert answers == [[-1 if (n := state.goal(r)) is None else n for r in interpreted.roles] for state in met]
