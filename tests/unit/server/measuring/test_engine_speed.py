"""What is measured of the interpreter: steps, and the share of a play that they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from server.measuring import engine_speed
from server.measuring.engine_speed import BenchOptions

OPTIONS = BenchOptions(seconds=0.02, engine="interpreter")
ENDLESS = "(role robot) (init a) (legal robot stay) (<= (next a) (true a)) (<= terminal (true b)) (goal robot 0)"
THREE_STEPS = """
(role robot) (init (at 0)) (legal robot go) (goal robot 0) (<= terminal (true (at 3)))
(succ 0 1) (succ 1 2) (succ 2 3)
(<= (next (at ?y)) (true (at ?x)) (succ ?x ?y))
"""


def test_a_play_that_does_not_end_is_measured_by_its_states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "endless.kif"
    path.write_text(ENDLESS)
    monkeypatch.setattr(engine_speed, "_FIRST_PLAY_S", 0.02)
    notes: list[str] = []
    figures, _ = engine_speed.measured("endless", path, OPTIONS, notes.append)
    assert (figures.engine, figures.playouts_per_s, figures.states_per_s > 0) == ("interpreter", 0, True)
    assert notes == ["no play came to an end, so plays per second are 0"]


def test_plays_a_second_are_states_a_second_by_the_length_of_a_play(tmp_path: Path) -> None:
    path = tmp_path / "three.kif"
    path.write_text(THREE_STEPS)
    figures, _ = engine_speed.measured("three", path, OPTIONS, pytest.fail)
    assert figures.states_per_s == pytest.approx(3 * figures.playouts_per_s)


def test_a_play_without_a_step_counts_as_one(tmp_path: Path) -> None:
    path = tmp_path / "over.kif"
    path.write_text("(role robot) (init a) (legal robot go) terminal (<= (next a) (true a)) (goal robot 7)")
    figures, _ = engine_speed.measured("over", path, OPTIONS, pytest.fail)
    assert (figures.playouts_per_s > 0, figures.states_per_s) == (True, 0)
