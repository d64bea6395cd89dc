"""A game played in a child process: plain data comes back, and every play is reported."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Final

import pytest

from gdl.diagnostics import Source
from gdl.errors import RuleFileError
from gdl.games.library import find_game
from gdl.language.kif import DEFAULT_LIMITS
from gdl.language.rules import Description
from gdl.simulation import SimulationBudget
from server.validating.trial_plays import SimulationRequest, play_trials

BUDGET: Final = SimulationBudget(plays=3, seconds=30, states=0)
STUCK: Final = """
(role robot) (init (at 1)) (legal robot wait)
(<= (next (at 1)) (true (at 1)) (does robot wait))
(<= terminal (true (at 1)))
(<= (goal robot 50) (true (at 2)))
"""


def order(text: str, folder: Path | None = None) -> SimulationRequest:
    return SimulationRequest("stuck", Source("stuck.kif", text), DEFAULT_LIMITS, BUDGET, 7, folder)


def test_what_comes_back_is_plain_data() -> None:
    reports: list[object] = []
    plays = play_trials(order(STUCK), reports.append)
    again = pickle.loads(pickle.dumps(plays))
    assert (again.figures, again.lines, again.limit) == (plays.figures, plays.lines, None)
    assert (plays.figures["plays"], plays.figures["seed"], reports) == (3, 7, [None] * 3)


def test_a_defect_has_its_play_where_a_folder_is_given(tmp_path: Path) -> None:
    without, with_play = (play_trials(order(STUCK, folder), print).shown for folder in (None, tmp_path / "plays"))
    (found,) = (one for one in without if one.diagnostic.code.name == "gdl/no-goal")
    assert found.evidence is None
    (found,) = (one for one in with_play if one.diagnostic.code.name == "gdl/no-goal")
    assert found.evidence is not None
    assert found.evidence.is_file()


def test_rules_without_a_meaning_are_refused() -> None:
    with pytest.raises(RuleFileError):
        play_trials(order("(role robot) (<= (legal robot ?x) (not wall))"), print)


@pytest.mark.parametrize(("plays", "is_slow"), [(1, False), (1_000_000, True)])
def test_the_compiled_engine_plays_where_the_interpreter_is_too_slow(
    monkeypatch: pytest.MonkeyPatch, plays: int, is_slow: bool
) -> None:
    def compiled(description: Description, _budget: SimulationBudget, seconds: float) -> Description:
        compiled_for.append(seconds)
        return description

    compiled_for = list[float]()
    monkeypatch.setattr("server.validating.trial_plays._compiled", compiled)
    budget = SimulationBudget(plays=plays, seconds=1.0, states=0)
    source = Source("tictactoe.kif", find_game("tictactoe").path.read_text("utf-8"))
    found = play_trials(SimulationRequest("tictactoe", source, DEFAULT_LIMITS, budget, is_compiled=None), ignored)
    assert (compiled_for, found.figures["plays"] > 0) == ([1.0] if is_slow else [], True)


def ignored(_report: object) -> None:
    pass
