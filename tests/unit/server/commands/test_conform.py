"""`ggp conform` and `ggp trace`: what one writes the other agrees with, and says where it does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.kit.server.commands.fixtures import Ggp

COUNTING = """
(role robot) (init (at 0)) (succ 0 1) (succ 1 2) (succ 2 3)
(legal robot up)
(legal robot stay)
(<= (next (at ?y)) (true (at ?x)) (succ ?x ?y) (does robot up))
(<= (next (at ?x)) (true (at ?x)) (does robot stay))
(<= terminal (true (at 3)))
(<= (goal robot 100) terminal)
(<= (goal robot 0) (not terminal))
"""


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "counting.kif"
    path.write_text(COUNTING, encoding="utf-8")
    return path


@pytest.fixture
def trace(ggp: Ggp, rules: Path, tmp_path: Path) -> Path:
    path = tmp_path / "trace.json"
    assert ggp("trace", rules, "--plays", 3, "--seed", 7, "-o", path) == (0, "", "")
    return path


def changed(trace: Path, step: int, **fields: object) -> Path:
    """Return a copy of *trace* in which a step of the second play says something else."""
    read: dict[str, Any] = json.loads(trace.read_text(encoding="utf-8"))
    read["matches"][1][step] |= fields
    path = trace.with_name("changed.json")
    path.write_text(json.dumps(read), encoding="utf-8")
    return path


def test_our_own_trace_agrees(ggp: Ggp, rules: Path, trace: Path) -> None:
    ended = ggp("conform", rules, trace)
    assert ended.exit_code == 0
    assert ended.output.startswith("agreement: 3 plays, ")


def test_one_play_of_one_state_is_told_in_the_singular(ggp: Ggp, tmp_path: Path) -> None:
    (tmp_path / "ended.kif").write_text("(role robot) (legal robot stay) terminal (goal robot 100)", encoding="utf-8")
    ggp("trace", tmp_path / "ended.kif", "-o", tmp_path / "ended.json")
    assert ggp("conform", tmp_path / "ended.kif", tmp_path / "ended.json") == (0, "agreement: 1 play, 1 state\n", "")


def test_agreement_as_json_counts_plays_and_steps(ggp: Ggp, rules: Path, trace: Path) -> None:
    n_steps = sum(map(len, json.loads(trace.read_text(encoding="utf-8"))["matches"]))
    ended = ggp("conform", rules, trace, "--json")
    assert (ended.exit_code, json.loads(ended.output)) == (0, {"agrees": True, "plays": 3, "steps": n_steps})


def test_the_first_difference_is_reported_with_our_full_set(ggp: Ggp, rules: Path, trace: Path) -> None:
    other = changed(trace, 0, legal=[[3, "0123456789abcdef"]])
    ended = ggp("conform", rules, other, "--json")
    assert ended.exit_code == 1
    assert json.loads(ended.output) == {
        "agrees": False,
        "play": 1,
        "step": 0,
        "role": "robot",
        "kind": "legal",
        "ours": ["stay", "up"],
        "reference": None,
        "n_reference": 3,
        "digest_reference": "0123456789abcdef",
    }


def test_a_difference_is_readable_as_text(ggp: Ggp, rules: Path, trace: Path) -> None:
    ended = ggp("conform", rules, changed(trace, 0, legal=[[3, "0123456789abcdef"]]))
    place = "play 2, step 1, role robot: legal differs"
    told = f"{place}\nreference: 3 with digest 0123456789abcdef\nours (2):\n  stay\n  up\n"
    assert ended == (1, told, "")


def test_a_state_that_differs_is_that_of_the_step_that_led_to_it(ggp: Ggp, rules: Path, trace: Path) -> None:
    other = changed(trace, 1, state=[9, "0123456789abcdef"])
    assert ggp("conform", rules, other).output.startswith("play 2, step 1: state differs\n")
    assert ggp("conform", rules, changed(trace, 0, state=[9, "0123456789abcdef"])).output.startswith(
        "play 2, step 0: state differs\n"
    )


def test_other_roles_differ_wherever_one_looks(ggp: Ggp, trace: Path) -> None:
    assert ggp("conform", "tictactoe", trace).output == "roles differ\nreference: robot\nours (2):\n  x\n  o\n"


def test_moves_only_compares_no_states_and_no_goals_on_the_way(ggp: Ggp, rules: Path, trace: Path) -> None:
    other = changed(trace, 0, state=[9, "0123456789abcdef"], goals=[50])
    assert ggp("conform", rules, other).exit_code == 1
    assert ggp("conform", rules, other, "--moves-only").exit_code == 0


def test_moves_only_still_compares_goals_at_the_end(ggp: Ggp, rules: Path, trace: Path) -> None:
    assert ggp("conform", rules, changed(trace, -1, goals=[50]), "--moves-only").exit_code == 1


def test_rules_that_are_refused_are_a_difference(ggp: Ggp, trace: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.kif"
    broken.write_text(COUNTING + "(<= (next (at ?z)) terminal)", encoding="utf-8")
    assert ggp("conform", broken, trace).exit_code == 1
    ended = ggp("conform", broken, trace, "--json")
    assert (ended.exit_code, json.loads(ended.output)["error"]["kind"]) == (1, "unsafe_rule")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"roles": ["robot"]}', '{"roles": [1], "matches": []}', "\udcff"])
def test_a_malformed_trace_is_wrong_usage(ggp: Ggp, rules: Path, tmp_path: Path, text: str) -> None:
    path = tmp_path / "malformed.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    ended = ggp("conform", rules, path)
    assert (ended.exit_code, ended.output, ended.errors.startswith(f"ggp: {path}: this is no trace: ")) == (2, "", True)


def test_an_engine_that_does_not_exist_is_wrong_usage(ggp: Ggp, rules: Path, trace: Path) -> None:
    ended = ggp("conform", rules, trace, "--engine", "interpeter")
    assert ended.exit_code == 2
    assert "interpreter" in ended.errors


def test_the_same_seed_writes_the_same_trace(ggp: Ggp, rules: Path, trace: Path) -> None:
    assert ggp("trace", rules, "--plays", 3, "--seed", 7).output == trace.read_text(encoding="utf-8")
    assert ggp("trace", rules, "--plays", 3, "--seed", 8).output != trace.read_text(encoding="utf-8")


def test_plays_are_cut_off_after_the_steps_that_were_asked_for(ggp: Ggp, rules: Path) -> None:
    ended = ggp("trace", rules, "--plays", 5, "--max-steps", 1)
    assert max(len(play) for play in json.loads(ended.output)["matches"]) <= 2


def test_zero_plays_are_wrong_usage(ggp: Ggp, rules: Path) -> None:
    assert ggp("trace", rules, "--plays", 0).exit_code == 2
