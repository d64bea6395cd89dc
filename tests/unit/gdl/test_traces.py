"""Traces are written, read back, and agree with the game that they were taken from; garbage is refused."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.engines import make_game
from gdl.games.library import find_game, game_names
from gdl.language.rules import read_rules
from gdl.traces import Discrepancy, Step, Trace, TraceError, conform, digest, read_trace, to_json, trace_game

ONE_STEP = '{"roles": ["r"], "matches": [[{"state": [0, "da39a3ee5e6b4b0d"], "terminal": false, "goals": [null]%s}]]}'


def test_a_digest_is_a_count_and_the_beginning_of_a_sha1_of_sorted_lines() -> None:
    assert [digest(()), digest(["b", "a"]), digest(["a", "b"])] == [
        (0, "da39a3ee5e6b4b0d"),
        (2, hashlib.sha1(b"a\nb").hexdigest()[:16]),
        (2, hashlib.sha1(b"a\nb").hexdigest()[:16]),
    ]


@pytest.mark.parametrize("name", [name for name in game_names() if name in ("tictactoe", "montyhall", "kuhnpoker")])
def test_a_trace_is_read_back_as_it_was_written_and_agrees(name: str) -> None:
    game = make_game(find_game(name).read())
    trace = trace_game(game, n_plays=3, seed=7)
    assert read_trace(to_json(trace)) == trace
    assert conform(game, trace) is None


def test_equal_seeds_give_equal_traces() -> None:
    game = make_game(find_game("tictactoe").read())
    assert [trace_game(game, 2, 5) == trace_game(game, 2, seed) for seed in (5, 6)] == [True, False]


def test_a_play_without_an_end_is_cut_off() -> None:
    game = make_game(read_rules("(role r) (legal r go) (init a) (next a)"))
    (play,) = trace_game(game, 1, 0, max_steps=3).matches
    assert [step.moves for step in play] == [("go",), ("go",), ("go",), None]


@given(st.text() | st.sampled_from([
    "", "{", "[]", "null", '{"roles": []}', '{"roles": ["r"], "matches": [[{}]]}', "[" * 5_000,
    ONE_STEP % ', "moves": []', ONE_STEP % ', "legal": [[1, "0123456789abcdef"], [1, "0123456789abcdef"]]',
    ONE_STEP % ', "more": 1', ONE_STEP.replace("0,", "-1,") % "", ONE_STEP.replace("null", '"100"') % "",
]))  # fmt: skip
def test_what_is_no_trace_is_refused(text: str) -> None:
    with pytest.raises(TraceError, match="this is no trace: "):
        read_trace(text)


RULES = """(role white) (role black) (init (at 1)) (succ 1 2) (succ 2 3)
(<= (legal white (go ?y)) (true (at ?x)) (succ ?x ?y)) (legal black noop)
(<= (next (at ?y)) (does white (go ?y))) (<= terminal (true (at 3))) (<= (goal white 100) (true (at 3))) (goal black 0)
"""


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (("(init (at 1))", "(init (at 1)) (init (at 9))"), (0, 0, None, "state", ("(at 1)", "(at 9)"))),
        (("(legal black noop)", "(legal black noop) (legal black no)"), (0, 0, "black", "legal", ("no", "noop"))),
        (("(true (at 3))) (<= (goal", "(true (at 2))) (<= (goal"), (0, 1, None, "terminal", ("terminal",))),
        (("(goal black 0)", "(goal black 1)"), (0, 0, "black", "goal", ("1",))),
        (("(role black)", "(role grey) (role black)"), (0, 0, None, "roles", ("white", "grey", "black"))),
    ],
)
def test_the_first_difference_is_named_with_our_answer(
    change: tuple[str, str], place: tuple[int, int, str | None, str, tuple[str, ...]]
) -> None:
    trace = trace_game(make_game(read_rules(RULES)), 1, 0)
    found = conform(make_game(read_rules(RULES.replace(*change))), trace)
    assert isinstance(found, Discrepancy)
    assert (found.play, found.step, found.role, found.kind, found.ours) == place


def test_roles_are_matched_by_name_in_any_order() -> None:
    trace = trace_game(make_game(read_rules(RULES)), 1, 0)
    swapped = RULES.replace("(role white) (role black)", "(role black) (role white)")
    assert conform(make_game(read_rules(swapped)), trace) is None


def test_two_encodings_of_one_game_agree_in_moves_only() -> None:
    trace = trace_game(make_game(read_rules(RULES)), 1, 0)
    other = make_game(read_rules(RULES.replace("(at ", "(stands ")))
    assert conform(other, trace, moves_only=True) is None
    assert conform(other, trace) is not None


def test_a_trace_has_one_entry_for_each_role() -> None:
    step = Step(state=digest(()), terminal=True, goals=(None, None))
    with pytest.raises(TraceError, match=r"matches\.0\.0\.goals: 2 entries for 1 roles"):
        read_trace(to_json(Trace(roles=("r",), matches=((step,),))))
