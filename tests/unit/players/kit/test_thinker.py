"""The thinker: it follows the state, asks the player, and always reports a legal move."""

import logging
import sys
import time
from functools import partial
from pathlib import Path
from unittest.mock import ANY

import numpy as np
import pytest

from gdl.games.library import find_game
from gdl.wire.insights import Insight, insight_text
from players import Player
from players.kit.thinker import Thinker
from players.kit.worker_protocol import (
    Ask,
    Best,
    Confirm,
    Confirmed,
    Done,
    Follow,
    Instruction,
    Join,
    Joined,
    Leave,
    PlayerFailed,
    Ready,
    Refused,
    Report,
    Thought,
)
from players.player import MakePlayer
from tests.kit.players import odd_players

TICTACTOE = find_game("tictactoe").path.read_text()
FAR_S = 60.0


def reports_of(make_player: MakePlayer, *instructions: Instruction) -> list[Report]:
    reports: list[Report] = []
    thinker = Thinker(make_player, reports.append)
    for instruction in instructions:
        thinker.execute(instruction)
    return reports


def join(role: str = "x", rules: str = TICTACTOE, *, start_s: float = FAR_S, thinks: bool = True) -> Join:
    now_s = time.monotonic()
    return Join(rules, role, 1, now_s + start_s, now_s + start_s, 1.0, thinks)


def ask(step: int = 0, clock_s: float = FAR_S, *, thinks: bool = True) -> Ask:
    now_s = time.monotonic()
    return Ask(step, now_s + clock_s, now_s + clock_s, thinks)


SEATED: list[Report] = [Joined(("x", "o")), Ready()]


def test_a_legal_move_is_reported_before_the_player_thinks() -> None:
    assert reports_of(odd_players.First, join(), ask()) == [*SEATED, Best(0, "(mark 1 1)"), Done(0, "(mark 1 1)")]


def test_the_state_follows_the_joint_moves() -> None:
    followed = Follow("(mark 1 1)", ("(mark 1 1)", "noop")), Follow("noop", ("noop", "(mark 1 2)"))
    assert reports_of(odd_players.First, join(), *followed, ask(2))[-1] == Done(2, "(mark 1 3)")


def test_what_was_ordered_is_confirmed_after_it_is_carried_out() -> None:
    followed = Follow("(mark 1 1)", ("(mark 1 1)", "noop"))
    assert reports_of(odd_players.First, join(), followed, Confirm()) == [*SEATED, Confirmed()]


def test_moves_and_role_may_be_told_in_another_case() -> None:
    followed = Follow(None, ("(MARK 1 1)", "NOOP"))
    assert reports_of(odd_players.First, join("O"), followed, ask(1))[-1] == Done(1, "(mark 1 2)")


def test_a_step_that_cannot_be_is_the_same_question_again(caplog: pytest.LogCaptureFixture) -> None:
    step = Follow("(mark 1 1)", ("(mark 1 1)", "noop"))
    with caplog.at_level(logging.WARNING):
        reports = reports_of(odd_players.First, join(), step, ask(1), step, ask(2))
    assert (reports[-1], caplog.messages) == (Done(2, "noop"), [])


@pytest.mark.parametrize("role", ["x", "o"])
@pytest.mark.parametrize("told", [(), ("jump",), ("jump", "jump"), ("(mark 1 1)", "noop", "noop")])
def test_a_step_that_makes_no_sense_is_logged_and_a_legal_move_found(
    role: str, told: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    reports = reports_of(odd_players.First, join(role), Follow(None, told), ask(1))
    assert reports[-1] == Done(1, {"x": "(mark 1 1)", "o": "noop"}[role])
    assert f"cannot follow the step {' '.join(told)}" in caplog.text


def test_an_endless_search_is_interrupted_and_its_suggestion_played() -> None:
    assert reports_of(odd_players.Endless, join(), ask(0, 1.0))[-2:] == [Best(0, "(mark 3 3)"), Done(0, "(mark 3 3)")]


def test_a_search_that_is_interrupted_without_a_suggestion_has_failed(caplog: pytest.LogCaptureFixture) -> None:
    late = "`move` went on until the end of the clock, and had suggested nothing"
    assert reports_of(odd_players.Silent, join(), ask(0, 0.1))[2:] == [
        Best(0, "(mark 1 1)"), PlayerFailed(late), Done(0, "(mark 1 1)")
    ]  # fmt: skip
    assert f"{late}; a legal move of x is played" in caplog.text


def test_a_role_that_can_only_wait_needs_no_suggestion() -> None:
    assert reports_of(odd_players.Silent, join("o"), ask(0, 0.1))[2:] == [Best(0, "noop"), Done(0, "noop")]


def test_what_the_player_thinks_is_reported_with_its_move(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        reports = reports_of(odd_players.Telling, join(), ask())
    assert reports[-2:] == [Thought(0, insight_text(odd_players.THOUGHT)), Done(0, "(mark 1 1)")]
    assert "x: value 62.5, 120 leaves, 80 plays, depth 2.5, line (mark 1 1) (mark 2 2)" in caplog.messages


def test_thoughts_may_list_moves_as_the_engine_has_them(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        reports = reports_of(odd_players.Musing, join(), ask())
    told = Insight(120, 80, 2.5, None, ("(mark 1 1)",))
    assert reports[-2:] == [Thought(0, insight_text(told)), Done(0, "(mark 1 1)")]
    assert "x: value unknown, 120 leaves, 80 plays, depth 2.5, line (mark 1 1)" in caplog.messages


def test_a_move_is_safe_before_the_player_is_asked_what_it_thinks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("players.kit.thinker.HOOK_S", 0.01)
    assert reports_of(odd_players.Brooding, join(), ask())[-2:] == [Best(0, "(mark 3 3)"), Done(0, "(mark 3 3)")]


def test_thoughts_that_cannot_be_told_are_a_failure_of_the_player() -> None:
    _, _, _, failed, done = reports_of(odd_players.Boasting, join(), ask())
    assert isinstance(failed, PlayerFailed)
    assert (failed.what.partition(" [")[0], done) == (
        "MessageError: an insight whose value is not from 0 to 100", Done(0, "(mark 1 1)"),
    )  # fmt: skip


def test_endless_preparations_are_interrupted() -> None:
    assert reports_of(odd_players.EndlessStart, join(start_s=0.1), ask())[-1] == Done(0, "(mark 1 1)")


@pytest.mark.parametrize("make_player", [odd_players.Failing, odd_players.Illegal, odd_players.Unmakeable, Player])
def test_a_faulty_player_plays_a_legal_move_and_says_why(
    make_player: MakePlayer, caplog: pytest.LogCaptureFixture
) -> None:
    step = Follow(None, ("(mark 1 1)", "noop"))
    assert reports_of(make_player, join(), step, ask(1))[-1] == Done(1, "noop")
    assert caplog.records


def test_without_thinking_no_code_of_the_author_is_run() -> None:
    assert reports_of(odd_players.Crashing, join(thinks=False), ask())[-1] == Done(0, "(mark 1 1)")
    assert reports_of(odd_players.Crashing, join(), ask(thinks=False))[-1] == Done(0, "(mark 1 1)")


@pytest.mark.parametrize(
    "instruction", [join("nobody"), join(rules="(role x"), join(rules=""), join(rules="(role x) (<= (p ?y) (q x))")]
)
def test_rules_that_cannot_be_played_are_refused(instruction: Join) -> None:
    assert [type(report) for report in reports_of(odd_players.First, instruction)] == [Refused]


def test_a_role_without_legal_moves_has_no_answer() -> None:
    rules = "(role x) (init a) (<= (legal x go) (true b)) (<= terminal (true c)) (goal x 100)"
    assert reports_of(odd_players.First, join(rules=rules), ask())[-1] == Done(0, None)


def test_hooks_are_called_in_order(tmp_path: Path) -> None:
    log = tmp_path / "diary"
    diary = partial(odd_players.Diary, str(log))
    step = Follow(None, ("(MARK 1 1)", "noop"))
    reports_of(diary, join(), ask(), step, Leave(is_abort=False))
    reports_of(diary, join("o"), Leave(is_abort=True))
    assert log.read_text().splitlines() == [
        "start x", "perceive (mark 1 1) (mark 1 1) noop", "stop", "start o", "abort",
    ]  # fmt: skip


def test_percepts_are_followed_in_imperfect_information() -> None:
    game = find_game("montyhall")
    roles = [str(role) for role in _roles(game.path.read_text())]
    candidate = next(role for role in roles if role != "random")
    reports = reports_of(odd_players.First, join(candidate, game.path.read_text()), ask(), Follow(None, ()), ask(1))
    assert isinstance(reports[-1], Done)
    assert reports[-1].move is not None


def _roles(rules: str) -> tuple[str, ...]:
    joined = reports_of(odd_players.First, join("random", rules))[0]
    assert isinstance(joined, Joined)
    return joined.roles


def test_failures_of_the_author_are_reported_in_one_line_with_where_they_are() -> None:
    followed = Follow("(mark 1 1)", ("(mark 1 1)", "noop"))
    failed = [
        report
        for report in reports_of(odd_players.Failing, join(), followed, ask(1))
        if isinstance(report, PlayerFailed)
    ]
    assert [report.what.partition(" [")[0] for report in failed] == [
        "KeyError: 'start'", "KeyError: 'perceive'", "KeyError: 'move'"
    ]  # fmt: skip
    assert all(report.what.partition(" [")[2].startswith("odd_players.py:") for report in failed)


def test_a_move_that_is_not_legal_is_reported() -> None:
    assert PlayerFailed("nonsense is not a legal move of x") in reports_of(odd_players.Illegal, join(), ask())


def test_the_log_of_a_move_that_is_not_legal_shows_one_that_is(caplog: pytest.LogCaptureFixture) -> None:
    reports_of(partial(odd_players.Answering, "mark 1 1"), join(), ask())
    told = "mark 1 1 is not a legal move of x, as (mark 1 1) is; the best so far is played"
    assert [record.getMessage() for record in caplog.records] == [told]


def test_what_is_equal_to_a_legal_move_is_reported_as_that() -> None:
    assert reports_of(partial(odd_players.Answering, ANY), join(), ask())[-1] == Done(0, "(mark 1 1)")


@pytest.mark.parametrize("answer", [3, "jump", "", ["(mark 1 1)"]])
def test_what_is_no_move_is_reported_whatever_it_is(answer: object) -> None:
    reports = reports_of(partial(odd_players.Answering, answer), join(), ask())
    shown = str(answer) or "''"
    assert reports[-2:] == [PlayerFailed(f"{shown} is not a legal move of x"), Done(0, "(mark 1 1)")]


def test_a_move_that_returns_nothing_is_reported_as_that() -> None:
    assert reports_of(partial(odd_players.Answering, None), join(), ask())[-2:] == [
        PlayerFailed("None (`move` ended without `return`?) is not a legal move of x"), Done(0, "(mark 1 1)"),
    ]  # fmt: skip


def test_a_player_that_ends_the_program_has_failed_and_its_process_goes_on() -> None:
    reports = reports_of(odd_players.Exiting, join(), ask())
    assert isinstance(failed := reports[-2], PlayerFailed)
    assert (failed.what.partition(" [")[0], reports[-1]) == ("SystemExit: no way", Done(0, "(mark 1 1)"))


def test_a_maker_that_ends_the_program_has_failed() -> None:
    failed = reports_of(sys.exit, join(), ask())[0]
    assert isinstance(failed, PlayerFailed)
    assert failed.what.startswith("SystemExit")


def test_a_match_goes_on_whatever_the_attributes_of_its_player_mean() -> None:
    step = Follow("(mark 1 1)", ("(mark 1 1)", "noop"))
    reports = reports_of(odd_players.Renaming, join(), ask(), step, ask(1))
    failed = PlayerFailed("None (`move` ended without `return`?) is not a legal move of x")
    assert reports == [
        *SEATED, Best(0, "(mark 1 1)"), failed, Done(0, "(mark 1 1)"), Best(1, "noop"), failed, Done(1, "noop"),
    ]  # fmt: skip


def test_an_answer_that_cannot_be_compared_is_a_failure_of_the_player() -> None:
    reports = reports_of(partial(odd_players.Answering, np.zeros(9)), join(), ask())
    assert [type(report) for report in reports[-2:]] == [PlayerFailed, Done]


def test_a_player_that_cannot_be_made_is_reported() -> None:
    def make() -> Player:
        raise ValueError("no\nway")

    found = [report for report in reports_of(make, join(), ask()) if isinstance(report, PlayerFailed)]
    told = [report.what.partition(" [")[0] for report in found]
    assert told == ["ValueError: no way", "it was not made at the start of the match"]


def test_every_move_of_a_player_that_is_given_up_has_the_reason() -> None:
    step = Follow("(mark 1 1)", ("(mark 1 1)", "noop"))
    found = reports_of(odd_players.First, join(thinks=False), ask(), step, ask(1))
    failed = PlayerFailed("it is given up after 3 lost processes")
    moves = [Best(0, "(mark 1 1)"), failed, Done(0, "(mark 1 1)"), Best(1, "noop"), failed, Done(1, "noop")]
    assert found == [*SEATED, *moves]


def test_a_player_that_is_never_made_is_interrupted_and_legal_moves_are_played(monkeypatch: pytest.MonkeyPatch) -> None:
    def make() -> Player:
        while True:
            pass

    monkeypatch.setattr("players.kit.thinker.MAKING_S", 0.1)
    failed = PlayerFailed("it is not made within 0.1 s or the start clock")
    again = PlayerFailed("it was not made at the start of the match")
    expected = [failed, *SEATED, Best(0, "(mark 1 1)"), again, Done(0, "(mark 1 1)")]
    assert reports_of(make, join(start_s=0.05), ask()) == expected


def test_a_failure_has_its_calls_in_the_log_once(caplog: pytest.LogCaptureFixture) -> None:
    steps = [Follow("(mark 1 1)", ("(mark 1 1)", "noop")), Follow("noop", ("noop", "(mark 1 2)"))]
    reports_of(odd_players.Failing, join(), ask(), steps[0], ask(1), steps[1], ask(2))
    failures = [record for record in caplog.records if "failed as x" in record.getMessage()]
    told = [(record.getMessage().split()[-1], record.exc_info is not None) for record in failures]
    first = [("start]", True), ("move]", True), ("perceive]", True)]
    assert told == [*first, ("move]", False), ("perceive]", False), ("move]", False)]
