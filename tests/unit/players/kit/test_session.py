"""The session: which question a message asks, and what is answered to it."""

import math

import pytest

from gdl.language.kif import read_term
from gdl.language.terms import Constant
from gdl.wire.messages import Play, Start, Stop
from players.kit.session import MAX_LOSSES, OpenRequest, Session, Timing
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
    PlayerFailed,
    Ready,
    Refused,
    Report,
    Thought,
    read_instruction,
    read_report,
    to_line,
)

START = Start("m", Constant("x"), "(role x) (role o)", 10, 4)


def play(told: str | None = None, turn: int | None = None, own_move: str | None = None) -> Play:
    terms = None if told is None else tuple(read_term(move) for move in told.split(","))
    return Play("m", terms, turn, None if own_move is None else read_term(own_move))


def session_after(*exchanges: tuple[Play, str]) -> Session:
    """Return a session in which each message had that answer, all of them delivered."""
    session = Session(START, 7, 0.0, Timing(1.0))
    session.take_report(Joined(("x", "o")))
    session.take_report(Ready())
    for message, answer in exchanges:
        session.ask(message, 100.0)
        session.take_report(Done(session.question.step, answer))
        session.question.is_delivered = True
    return session


def test_the_first_order_is_to_join_and_stop_before_the_clock() -> None:
    session = Session(START, 7, 100.0, Timing(1.0))
    assert session.join() == Join("(role x) (role o)", "x", 7, 109.0, 109.25, 1.0)
    assert session.question.answer_by_s == 109.5


@pytest.mark.parametrize(("clock_s", "ends"), [(4, (3, 3.25, 3.5)), (1, (0.5, 0.625, 0.75)), (0, (0, 0, 0))])
def test_the_margin_is_at_most_half_of_the_clock(clock_s: int, ends: tuple[float, float, float]) -> None:
    assert Timing(1.0).ends(0.0, clock_s) == ends


@pytest.mark.parametrize("margin_s", [-0.1, math.nan])
def test_a_margin_is_no_less_than_nothing(margin_s: float) -> None:
    assert Timing(0.0).ends(0.0, 4.0) == (4.0, 4.0, 4.0)
    with pytest.raises(ValueError, match=f"^a margin is 0 or more seconds, not {margin_s}$"):
        Timing(margin_s)


def test_the_player_stops_well_before_the_clock_unless_it_is_told_otherwise() -> None:
    assert Timing() == Timing(0.6)


@pytest.mark.parametrize(("play_clock_s", "follow_s"), [(2, 0.5), (8, 2.0), (60, 2.0)])
def test_a_step_is_followed_for_a_quarter_of_the_play_clock_or_two_seconds(play_clock_s: int, follow_s: float) -> None:
    start = Start("m", Constant("x"), "(role x) (role o)", 10, play_clock_s)
    assert Session(start, 7, 0.0, Timing(1.0)).join().follow_s == follow_s


def test_start_is_answered_when_the_player_is_ready_or_the_clock_ends() -> None:
    session = Session(START, 7, 0.0, Timing())
    before = session.question.answer
    session.take_report(Ready())
    assert (before, session.question.answer) == (None, "ready")
    assert Session(START, 7, 0.0, Timing()).question.close() == "ready"


def test_rules_that_are_refused_are_answered_with_nil() -> None:
    session = Session(START, 7, 0.0, Timing())
    assert not session.is_refused
    session.take_report(Refused("no roles"))
    assert (session.question.answer, session.is_refused) == ("nil", True)


def test_a_start_that_was_answered_before_keeps_its_answer() -> None:
    session = Session(START, 7, 0.0, Timing(), answered="nil")
    session.take_report(Ready())
    assert session.question.answer == "nil"


def test_no_answer_is_contradicted_before_the_roles_are_known() -> None:
    session = Session(START, 7, 0.0, Timing())
    session.ask(play("a,noop"), 100.0)
    session.question.is_delivered = True
    assert not session.is_repeated(play("a,noop"))


@pytest.mark.parametrize(
    ("what", "failure"),
    [
        ("KeyError: 'é'", "KeyError: 'é'"),
        ("(mark 1 3)\n", r"(mark 1 3)\n"),
        ("\x1b[31mcaf\udce9", r"\x1b[31mcaf\udce9"),
        ("\0" * 1000, r"\x00" * 250),
    ],
)
def test_a_failure_is_told_as_text_that_every_reply_can_carry(what: str, failure: str) -> None:
    session = Session(START, 7, 0.0, Timing())
    session.take_report(PlayerFailed(what))
    session.take_report(PlayerFailed("another"))
    assert session.question.failure == failure


def test_the_first_play_asks_without_a_step_before_it() -> None:
    assert session_after().ask(play(), 100.0) == [Ask(0, 103.0, 103.25)]


def test_a_question_is_answered_for_by_the_end_of_its_clock() -> None:
    session = session_after()
    session.ask(play(), 100.0)
    assert session.question == OpenRequest(0, 103.5, play())


def test_the_turn_that_the_message_tells_counts_more_than_how_many_came_before() -> None:
    assert session_after().ask(play("seen", 5, "a"), 100.0) == [Follow("a", ("seen",)), Ask(5, 103.0, 103.25)]


@pytest.mark.parametrize("first", [Play("m", ()), play("NIL"), Play("m", (), 0), play("seen", 0)])
def test_whatever_stands_for_nil_before_the_first_move_is_no_step(first: Play) -> None:
    session = session_after()
    assert session.ask(first, 100.0) == [Ask(0, 103.0, 103.25)]


def test_a_later_play_without_percepts_tells_a_step() -> None:
    session = session_after((Play("m", ()), "a"))
    assert session.ask(Play("m", ()), 100.0)[0] == Follow("a", ())


def test_a_later_play_tells_the_step_first() -> None:
    session = session_after((play(), "a"))
    assert session.ask(play("a,noop"), 100.0) == [Follow("a", ("a", "noop")), Ask(1, 103.0, 103.25)]


def test_the_own_move_that_the_message_tells_counts_more_than_the_answer() -> None:
    session = session_after((play(turn=0), "a"))
    assert session.ask(play("seen", 1, "b"), 100.0)[0] == Follow("b", ("seen",))


def test_the_best_so_far_is_answered_and_nothing_later() -> None:
    session = session_after()
    session.ask(play(), 100.0)
    session.take_report(Best(0, "a"))
    session.take_report(Best(0, "b"))
    answer = session.question.close()
    session.take_report(Done(0, "c"))
    assert (answer, session.question.answer) == ("b", "b")


def test_a_report_about_an_earlier_question_does_not_answer_this_one() -> None:
    session = session_after((play(), "a"))
    session.ask(play("a,noop"), 100.0)
    session.take_report(Best(0, "late"))
    session.take_report(Done(0, "late"))
    assert session.question.close() == "nil"


@pytest.mark.parametrize(
    ("reports", "end"),
    [
        ((), ("nil", "its process had found no legal move when the clock ended")),
        ((PlayerFailed("KeyError"),), ("nil", "KeyError")),
        ((Best(0, "a"),), ("a", "")),
        ((Done(0, "a"),), ("a", "")),
    ],
)
def test_a_clock_that_ends_before_a_move_is_known_is_a_failure(
    reports: tuple[Report, ...], end: tuple[str, str]
) -> None:
    session = session_after()
    session.ask(play(), 100.0)
    for report in reports:
        session.take_report(report)
    assert (session.question.end_clock(), session.question.failure) == end


def test_what_the_player_thinks_belongs_to_the_question_that_it_was_asked() -> None:
    session = session_after((play(), "a"))
    session.ask(play("a,noop"), 100.0)
    session.take_report(Thought(0, "late"))
    assert session.question.insight == ""
    session.take_report(Thought(1, "{}"))
    assert session.question.insight == "{}"


REPEATED: list[tuple[tuple[tuple[Play, str], ...], Play, int | None, bool]] = [
    ((), play(), None, False),
    (((play(), "a"),), play(), None, True),
    (((play(), "a"),), play("a,noop"), None, False),
    (((play(), "a"), (play("a,noop"), "noop")), play("A,NOOP"), None, True),
    (((play(), "a"), (play("a,noop"), "noop")), play("noop,b"), None, False),
    (((play(), "rock"), (play("rock,rock"), "rock")), play("rock,rock"), None, False),
    (((play(), "rock"), (play("rock,rock"), "rock")), play("rock,rock"), 1, True),
    (((play(), "rock"), (play("rock,rock"), "rock")), play("rock,rock"), 2, False),
    (((play(turn=0), "a"),), play(turn=0), None, True),
    (((play(turn=0), "a"),), play("seen", 1, "a"), None, False),
    (((play(turn=0), "a"), (play("seen", 1, "a"), "b")), play("seen", 1, "a"), None, True),
    (((play(turn=0), "a"), (play("seen", 1, "a"), "a")), play("seen", 2, "a"), None, False),
]


@pytest.mark.parametrize(("exchanges", "message", "step", "is_repeated"), REPEATED)
def test_which_message_asks_the_same_question_again(
    exchanges: tuple[tuple[Play, str], ...], message: Play, step: int | None, is_repeated: bool
) -> None:
    assert session_after(*exchanges).is_repeated(message, step) is is_repeated


@pytest.mark.parametrize(("told", "is_repeated"), [("rock,rock", True), ("rock,paper", False)])
def test_the_same_joint_move_is_the_same_question_until_its_answer_is_delivered(told: str, is_repeated: bool) -> None:
    session = session_after((play(), "rock"))
    session.ask(play("rock,rock"), 100.0)
    session.take_report(Done(1, "rock"))
    assert session.is_repeated(play(told)) is is_repeated


def test_percepts_that_come_again_are_another_question_whatever_the_seat_of_the_role() -> None:
    session = Session(Start("m", Constant("o"), "(role x) (role o)", 10, 4), 7, 0.0, Timing(1.0))
    session.take_report(Joined(("x", "o")))
    session.ask(play("seen"), 100.0)
    session.question.is_delivered = True
    assert not session.is_repeated(play("seen"))


def test_a_step_that_was_answered_before_is_followed_and_not_thought_about() -> None:
    session = Session(START, 7, 100.0, Timing(1.0), answered="ready")
    joined = session.join()
    instructions = [session.catch_up(play(), 100.0, "a"), session.catch_up(play("a,noop"), 100.0, "noop")]
    asked = session.ask(play("noop,b"), 100.0)
    assert joined == Join("(role x) (role o)", "x", 7, 100.5, 100.625, 1.0)
    assert (instructions, asked) == (
        [[], [Follow("a", ("a", "noop"))]],
        [Follow("noop", ("noop", "b")), Ask(2, 103.0, 103.25)],
    )


@pytest.mark.parametrize(
    ("answered", "own_move"), [("(mark 1 1) because", "(mark 1 1)"), ("", None), (")((", None), ("nil", "nil")]
)
def test_the_own_move_is_what_an_earlier_answer_begins_with(answered: str, own_move: str | None) -> None:
    session = Session(START, 7, 100.0, Timing(1.0), answered="ready")
    session.catch_up(play(), 100.0, answered)
    assert (session.question.answer, session.ask(play("seen"), 100.0)[0]) == (answered, Follow(own_move, ("seen",)))


def test_a_question_that_was_not_answered_yet_tells_no_own_move() -> None:
    session = session_after()
    session.ask(play(), 100.0)
    assert session.ask(play("seen"), 100.0) == [Follow(None, ("seen",)), Ask(1, 103.0, 103.25)]


def test_the_worker_gets_the_last_step_before_the_end() -> None:
    assert session_after((play(), "a")).stop(Stop("m", (Constant("a"),))) == [Follow("a", ("a",))]


def test_a_new_worker_gets_all_steps_and_is_only_asked_for_a_legal_move() -> None:
    session = session_after((play(), "a"))
    session.ask(play("a,noop"), 100.0)
    assert list(session.replace(200.0)) == [
        Join("(role x) (role o)", "x", 7, 201.0, 201.25, 1.0),
        Follow("a", ("a", "noop")),
        Ask(1, 200.0, 200.0, thinks=False),
    ]


def test_a_new_worker_confirms_what_the_lost_one_had_not_confirmed() -> None:
    session = session_after((play(), "a"))
    unasked = [type(instruction) for instruction in session.replace(200.0)]
    assert session.confirm() == Confirm()
    unconfirmed = [type(instruction) for instruction in session.replace(200.0)]
    session.take_report(Confirmed())
    assert (unasked, unconfirmed, session.is_caught_up) == ([Join], [Join, Confirm], True)


def test_the_best_so_far_is_answered_when_a_worker_is_lost() -> None:
    session = session_after()
    session.ask(play(), 100.0)
    session.take_report(Best(0, "a"))
    instructions = list(session.replace(200.0))
    assert (session.question.answer, [type(instruction) for instruction in instructions]) == ("a", [Join])
    assert session.question.failure == "its process ended"


def test_code_that_loses_worker_after_worker_is_no_longer_run() -> None:
    session = session_after()
    joins = [next(iter(session.replace(200.0))) for _ in range(MAX_LOSSES)]
    assert [isinstance(join, Join) and join.thinks for join in joins] == [True, True, False]


@pytest.mark.parametrize(
    "instruction", [Join("(role x)", "x", 1, 2.0, 3.0, 0.5), Follow(None, ("a",)), Ask(1, 2.0, 3.0), Confirm()]
)
def test_an_instruction_is_read_back(instruction: Instruction) -> None:
    assert read_instruction(to_line(instruction)) == instruction


@pytest.mark.parametrize(
    "report", [Joined(("x",)), Ready(), Refused("é\n"), Best(1, "a"), Done(1, None), Thought(1, "{}"), Confirmed()]
)
def test_a_report_is_read_back(report: Report) -> None:
    assert read_report(to_line(report)) == report
