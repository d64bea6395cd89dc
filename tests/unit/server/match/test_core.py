"""The match core alone, against scripted players."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest

from gdl.engines import make_game
from gdl.errors import LimitExceeded
from gdl.game import RANDOM
from gdl.language.kif import read_term
from gdl.language.rules import read_rules
from gdl.language.terms import Term
from gdl.wire.insights import Insight, insight_text
from gdl.wire.messages import Dialect
from gdl.wire.replies import one_line
from server.errors import SeatsError
from server.match.chance import move_by_chance
from server.match.core import Match
from server.match.exchange import (
    Aborted,
    AbortRequest,
    Answer,
    Answered,
    Closed,
    Completed,
    EvaluationFailed,
    Failed,
    Message,
    MoveOrigin,
    ReplyEnding,
    Resume,
    ResumeState,
    Sent,
    Started,
    StateReached,
    StepFinished,
)
from server.match.phases import MatchPhase
from server.match.profiles import Case, Profile
from server.match.setup import Substitute
from tests.kit.server.plays import DEALT, LEFT, RIGHT, TWO_STEPS, Script, dealt, setup, two_steps

YES, NO = read_term("(say Yes)"), read_term("(say no)")


def started(script: Script) -> Script:
    script.begin()
    for role in [ask.role for ask in script.asks]:
        script.expect(role, None, "ready")
    return script


def finished_steps(script: Script) -> list[StepFinished]:
    return [event for event in script.events if isinstance(event, StepFinished)]


def errors(script: Script) -> list[tuple[str, ...]]:
    return [event.errors for event in finished_steps(script)]


def moves(script: Script) -> list[tuple[Term, ...] | None]:
    return [event.moves for event in finished_steps(script)]


def test_a_gdl1_match_says_exactly_this_to_its_players() -> None:
    script = Script(two_steps(), setup())
    script.begin()
    rules = one_line(TWO_STEPS)
    script.expect(LEFT, f"(START m.1 left ({rules}) 10 5)", "ready")
    script.expect(RIGHT, f"(START m.1 right ({rules}) 10 5)", "READY")
    script.expect(LEFT, "(PLAY m.1 NIL)", "(say Yes)")
    script.expect(RIGHT, "(PLAY m.1 NIL)", "(say no)")
    script.expect(LEFT, "(PLAY m.1 ((say Yes) (say no)))", "(say no)")
    script.expect(RIGHT, "(PLAY m.1 ((say Yes) (say no)))", "(say Yes)")
    script.expect(LEFT, "(STOP m.1 ((say no) (say Yes)))", "done")
    script.expect(RIGHT, "(STOP m.1 ((say no) (say Yes)))", "done")
    script.assert_done()
    assert script.match.phase is MatchPhase.CLOSED


def test_a_match_emits_these_events() -> None:
    game, terms = two_steps(), setup()
    script = Script(game, terms)
    script.begin()
    script.expect_both("ready", "ready")
    script.expect(RIGHT, None, "(say no)")
    script.expect(LEFT, None, "(say Yes)")
    assert script.events == [
        Started(1000, terms, game.description, (LEFT, RIGHT)),
        StateReached(1000, 0, "( ( at 0 ) )", None),
        *(Sent(1000, 0, ask.role, Message.START, ask.text) for ask in script.answered[:2]),
        Answered(1250, 0, LEFT, Message.START, "ready", 250, "", "", None),
        Answered(1500, 0, RIGHT, Message.START, "ready", 250, "", "", None),
        StepFinished(1500, 0, None, ("", ""), ("", ""), (250, 250), ()),
        Sent(1500, 0, LEFT, Message.PLAY, "(PLAY m.1 NIL)"),
        Sent(1500, 0, RIGHT, Message.PLAY, "(PLAY m.1 NIL)"),
        Answered(1750, 0, RIGHT, Message.PLAY, "(say no)", 250, "", "", NO),
        Answered(2000, 0, LEFT, Message.PLAY, "(say Yes)", 250, "", "", YES),
        StepFinished(2000, 0, (YES, NO), ("", ""), ("", ""), (250, 250), (MoveOrigin.PLAYER, MoveOrigin.PLAYER)),
        StateReached(2000, 1, "( ( at 1 ) ( last left Yes ) ( last right no ) )", None),
        Sent(2000, 1, LEFT, Message.PLAY, "(PLAY m.1 ((say Yes) (say no)))"),
        Sent(2000, 1, RIGHT, Message.PLAY, "(PLAY m.1 ((say Yes) (say no)))"),
    ]


def test_the_end_is_known_before_the_farewells_are_answered() -> None:
    script = started(Script(two_steps(), setup()))
    script.expect_both("(say Yes)", "(say no)")
    script.expect_both("(say Yes)", "(say no)")
    assert script.events[-3] == Completed(2500, 2, (100, 0))
    script.expect_both(ReplyEnding.TIMED_OUT, "whatever")
    assert script.events[-1] == Closed(3000)


@pytest.mark.parametrize(
    ("dialect", "texts"),
    [
        (Dialect.GDL2, ["(PLAY m.1 0 NIL NIL)", "(PLAY m.1 1 (guess ace) ({}))", "(STOP m.1 2 (guess king) ({}))"]),
        (Dialect.GDL2_PERCEPTS, ["(PLAY m.1 NIL)", "(PLAY m.1 ({}))", "(STOP m.1 ({}))"]),
    ],
)
def test_percepts_go_out_in_both_dialects_of_gdl2(dialect: Dialect, texts: list[str]) -> None:
    script = Script(dealt(), setup(Profile(dialect=dialect), roles=[LEFT]))
    script.begin()
    script.expect(LEFT, f"(START m.1 left ({one_line(DEALT)}) 10 5)", "ready")
    script.expect(LEFT, texts[0], "(guess ace)")
    script.expect(LEFT, None, "(guess king)")
    script.expect(LEFT, None, "done")
    dealt_cards = [str(joint[0]).replace("deal", "card") for joint in moves(script) if joint is not None]
    assert [ask.text for ask in script.answered[2:]] == [
        text.format(card) for text, card in zip(texts[1:], dealt_cards, strict=True)
    ]


def test_random_is_never_asked_and_perceives_for_itself() -> None:
    script = started(Script(dealt(), setup(roles=[LEFT])))
    script.expect(LEFT, None, "(guess ace)")
    script.expect(LEFT, None, "(guess king)")
    script.expect(LEFT, None, "done")
    script.assert_done()
    start, first, second = finished_steps(script)
    assert start.elapsed_ms == (None, 250)
    assert first.origins == second.origins == (MoveOrigin.CHANCE, MoveOrigin.PLAYER)
    assert first.moves is not None
    card = read_term(str(first.moves[0]).replace("deal", "card"))
    assert [event.percepts for event in script.events if isinstance(event, StateReached)][:2] == [None, ((), (card,))]
    completed = next(event for event in script.events if isinstance(event, Completed))
    assert completed.goals[0] is None


def test_a_match_without_players_plays_itself() -> None:
    game = make_game(
        read_rules(DEALT.replace("left", "random").replace("guess", "deal").replace("(goal random", "(goal x"))
    )
    script = Script(game, setup(roles=[]))
    script.begin()
    assert script.match.phase is MatchPhase.CLOSED
    assert isinstance(script.events[-2], Completed)


@pytest.mark.parametrize(
    ("reply", "detail", "error"),
    [
        (ReplyEnding.TIMED_OUT, "", "TO"),
        (ReplyEnding.FAILED, "connection refused", "CE"),
        ("(say maybe)", "", "IL (say maybe)"),
        ("(say YES no)", "", "IL (say YES no)"),
        ("aborted", "", "IL aborted"),
        ("", "", "IL"),
        ("(say", "", "IL (say"),
        (") (say no)", "", "IL ) (say no)"),
        (b"\xff\x00\xfe", "", "IL ÿ�þ"),
        ("(" * 400, "", "IL " + "(" * 300 + "…"),
    ],
)
def test_what_is_no_move_is_replaced_and_recorded(reply: str | bytes | ReplyEnding, detail: str, error: str) -> None:
    script = started(Script(two_steps(), setup(substitute=Substitute.FIRST)))
    script.expect(LEFT, None, reply, detail)
    script.expect(RIGHT, None, "(say no)")
    finished = finished_steps(script)[-1]
    assert (finished.moves, finished.errors, finished.origins) == (
        (YES, NO),
        (error, ""),
        (MoveOrigin.SUBSTITUTE, MoveOrigin.PLAYER),
    )
    assert finished.details[0] != ""
    assert script.match.phase is MatchPhase.PLAYING


def test_substitutes_and_chance_depend_on_seed_step_and_role_alone() -> None:
    seen = set()
    for order in permutations((LEFT, RIGHT)):
        for reply in (ReplyEnding.TIMED_OUT, "(say maybe)"):
            script = started(Script(two_steps(), setup()))
            for role in (*order, *reversed(order)):
                script.expect(role, None, reply)
            seen.add(tuple(moves(script)))
    assert len(seen) == 1


def test_other_seeds_choose_other_moves() -> None:
    seen = set()
    for seed in range(30):
        script = started(Script(two_steps(), replace(setup(), seed=seed)))
        script.expect_both("?", "?")
        seen.add(moves(script)[-1])
    assert len(seen) == 4


def test_substitutes_and_chance_are_drawn_for_each_step_and_role_anew() -> None:
    script = started(Script(dealt(), setup(roles=[LEFT])))
    script.expect(LEFT, None, "?")
    script.expect(LEFT, None, "?")
    deals, guesses = (
        [read_term(f"({word} {card})") for card in ("ace", "king", "queen")] for word in ("deal", "guess")
    )
    assert moves(script)[1:] == [
        (move_by_chance(deals, 7, step, RANDOM), move_by_chance(guesses, 7, step, LEFT)) for step in range(2)
    ]


def test_legal_moves_go_with_play_alone() -> None:
    script = Script(two_steps(), setup(Profile(case=Case.UPPER), Profile()))
    script.begin()
    assert [ask.legal_moves for ask in script.asks] == [(), ()]
    script.expect_both("ready", "ready")
    assert [tuple(map(str, ask.legal_moves)) for ask in script.asks] == [("(say Yes)", "(say no)")] * 2


def test_what_a_player_says_went_wrong_in_its_code_is_kept_with_its_step() -> None:
    script = started(Script(two_steps(), setup()))
    ask = script.asks[0]
    script.feed(Answer(2000, ask.question, LEFT, ReplyEnding.REPLIED, b"(say Yes)", 9, failure="ZeroDivisionError"))
    assert script.events[-1] == Answered(2000, 0, LEFT, Message.PLAY, "(say Yes)", 9, "", "", YES, "ZeroDivisionError")
    script.asks.remove(ask)
    script.expect(RIGHT, None, "(say no)")
    script.expect_both("(say Yes)", "(say no)")
    assert [event.failures for event in finished_steps(script)] == [(), ("ZeroDivisionError", ""), ()]


def thinking(script: Script, role: Term, insight: str) -> StepFinished:
    """Return how the step ends in which *role* says yes and tells *insight*, and the other player tells nothing."""
    for ask in list(script.asks):
        told = insight if ask.role == role else ""
        script.feed(Answer(2000, ask.question, ask.role, ReplyEnding.REPLIED, b"noop", 9, insight=told))
        script.asks.remove(ask)
    return finished_steps(script)[-1]


def test_what_a_player_thinks_is_kept_with_its_step_in_the_words_of_the_record() -> None:
    script = started(Script(two_steps(), setup()))
    told = insight_text(Insight(9, 8, 7.5, 60.0, ("(say   Yes)", "noop", "(say", "no")))
    assert thinking(script, LEFT, told).insights == (Insight(9, 8, 7.5, 60.0, ("( say Yes )", "noop")), None)
    script.expect_both("(say Yes)", "(say no)")
    assert [event.insights != () for event in finished_steps(script)] == [False, True, False]


def test_what_a_player_thinks_in_scrambled_names_is_kept_in_the_game_s_own() -> None:
    script = started(Script(two_steps(), setup(Profile(is_scrambled=True), Profile())))
    (scrambled,) = [str(ask.legal_moves[0]) for ask in script.asks if ask.role == LEFT]
    assert "Yes" not in scrambled
    (found, _) = thinking(script, LEFT, insight_text(Insight(1, 1, 1.0, None, (scrambled,)))).insights
    assert found == Insight(1, 1, 1.0, None, ("( say Yes )",))


@pytest.mark.parametrize("told", ["", "gibberish", "[]", '{"value": 101}', '{"line": 7}'])
def test_thoughts_that_cannot_be_understood_are_none(told: str) -> None:
    assert thinking(started(Script(two_steps(), setup())), LEFT, told).insights == ()


def test_a_line_that_grows_by_its_translation_can_still_be_read_back() -> None:
    deep = "(" * 66 + "a" + ")" * 66
    finished = thinking(started(Script(two_steps(), setup())), LEFT, insight_text(Insight(1, 1, 1.0, None, (deep,))))
    (found, _) = finished.insights
    assert found == Insight(1, 1, 1.0, None)


def test_an_insight_in_reply_to_start_is_no_thought_about_a_move() -> None:
    script = Script(two_steps(), setup())
    script.begin()
    assert thinking(script, LEFT, '{"value": 50}').insights == ()


def test_what_is_said_to_start_is_not_looked_at_but_silence_is_recorded() -> None:
    script = Script(two_steps(), setup())
    script.begin()
    script.expect(LEFT, None, ")) no idea ((")
    script.expect(RIGHT, None, ReplyEnding.TIMED_OUT)
    assert errors(script) == [("", "TO")]
    assert script.match.phase is MatchPhase.PLAYING


def test_what_had_come_at_the_deadline_counts_when_it_is_a_move() -> None:
    script = started(Script(two_steps(), setup()))
    ask = script.asks[0]
    script.feed(Answer(2000, ask.question, LEFT, ReplyEnding.TIMED_OUT, b"(say Yes)", 6000))
    assert script.events[-1] == Answered(2000, 0, LEFT, Message.PLAY, "(say Yes)", 6000, "", "", YES)


def test_answers_that_come_twice_or_for_another_round_change_nothing() -> None:
    script = started(Script(two_steps(), setup()))
    start = script.answered[0]
    script.expect(LEFT, None, "(say Yes)")
    before = list(script.events)
    script.feed(Answer(9000, start.question, RIGHT, ReplyEnding.REPLIED, b"(say no)", 1))
    script.feed(Answer(9000, script.answered[-1].question, LEFT, ReplyEnding.REPLIED, b"(say no)", 1))
    script.feed(Answer(9000, script.answered[-1].question, RANDOM, ReplyEnding.REPLIED, b"(say no)", 1))
    assert script.events == before


def test_case_profiles_change_all_but_the_match_id() -> None:
    script = Script(two_steps(), setup(Profile(case=Case.UPPER), Profile(case=Case.LOWER)))
    script.begin()
    rules = one_line(TWO_STEPS)
    script.expect(LEFT, f"(START m.1 LEFT ({rules.upper()}) 10 5)", "ready")
    script.expect(RIGHT, f"(START m.1 right ({rules.lower()}) 10 5)", "ready")
    script.expect_both("(SAY YES)", "(say yes)")
    script.expect(LEFT, "(PLAY m.1 ((SAY YES) (SAY YES)))", "(SAY NO)")
    assert errors(script)[-1] == ("", "")
    assert moves(script)[-1] == (YES, YES)


def test_a_move_that_fits_several_but_for_case_is_illegal() -> None:
    script = started(Script(make_game(read_rules(TWO_STEPS.replace("(word no)", "(word no) (word YES)"))), setup()))
    script.expect_both("(say yes)", "(say YES)")
    finished = finished_steps(script)[-1]
    assert finished.errors == ("IL (say yes)", "")
    assert finished.details[0] == ("no legal move: it names 2 legal moves that differ in upper and lower case alone")


def test_scrambled_players_know_no_name_of_the_game() -> None:
    script = Script(two_steps(), setup(Profile(is_scrambled=True), Profile()))
    script.begin()
    text = script.asks[0].text
    for name in ("left", "right", "say", "Yes", "word", "succ", "last", "?w"):
        assert f"({name} " not in text
        assert f" {name})" not in text
    script.expect_both("ready", "ready")
    script.expect_both("(say Yes)", "(say no)")
    finished = finished_steps(script)[-1]
    assert finished.errors == ("IL (say Yes)", "")
    assert finished.details[0] == "no legal move: it uses names that the player was not sent"
    assert finished.moves is not None
    told = script.asks[0].text.removeprefix("(PLAY m.1 (").removesuffix("))")
    assert [str(move) in told for move in finished.moves] == [False, False]
    own_move = told[: told.index(")") + 1]
    script.expect_both(own_move.upper(), "(say no)")
    assert (moves(script)[-1], errors(script)[-1]) == ((finished.moves[0], NO), ("", ""))


def test_a_profile_can_ask_for_the_legal_moves() -> None:
    script = started(Script(two_steps(), setup(Profile(gets_legal_moves=True, case=Case.UPPER), Profile())))
    assert [ask.text for ask in script.asks] == [
        "(LEGAL m.1 ((SAY YES) (SAY NO)))\n(PLAY m.1 NIL)",
        "(PLAY m.1 NIL)",
    ]


def test_preview_goes_before_start_where_it_is_wanted() -> None:
    script = Script(two_steps(), replace(setup(), preview_clock_s=3))
    script.begin()
    script.expect(LEFT, f"(PREVIEW ({one_line(TWO_STEPS)}) 3)", "ready")
    script.expect(RIGHT, None, ReplyEnding.TIMED_OUT)
    assert [ask.message for ask in script.asks] == [Message.START, Message.START]
    assert script.answered[0].limit_s == 4


def test_limits_are_clock_and_grace() -> None:
    script = Script(two_steps(), replace(setup(Profile(grace_s=0.5), Profile(grace_s=2.5)), play_clock_s=60))
    script.begin()
    script.expect_both("ready", "ready")
    script.expect_both("(say no)", "(say no)")
    script.expect_both("(say no)", "(say no)")
    script.expect_both("done", "done")
    assert [ask.limit_s for ask in script.answered] == [10.5, 12.5, 60.5, 62.5, 60.5, 62.5, 10.5, 12.5]


def test_an_abort_drops_the_questions_and_says_farewell() -> None:
    script = started(Script(two_steps(), setup()))
    script.expect(LEFT, None, "(say Yes)")
    script.abort("enough")
    assert script.dropped == [2]
    script.expect(LEFT, "(ABORT m.1)", "aborted")
    script.expect(RIGHT, "(ABORT m.1)", ReplyEnding.FAILED)
    script.assert_done()
    assert [event for event in script.events if not isinstance(event, Sent | Answered)][-2:] == [
        Aborted(1750, 0, "enough"),
        Closed(2250),
    ]


def test_an_abort_while_a_state_is_worked_out_does_not_wait_for_it() -> None:
    script = Script(two_steps(), setup(), is_slow=True)
    script.begin()
    script.evaluate()
    script.expect_both("ready", "ready")
    script.expect_both("(say Yes)", "(say no)")
    script.abort("enough")
    assert [ask.message for ask in script.asks] == [Message.ABORT, Message.ABORT]
    before = list(script.events)
    script.evaluate()
    assert script.events == before
    script.expect_both("aborted", "aborted")
    assert script.events[-1] == Closed(2500)


def test_a_player_that_got_nothing_gets_no_farewell() -> None:
    script = Script(two_steps(), setup(), is_slow=True)
    script.begin()
    script.abort("enough")
    assert (script.asks, script.events[1:]) == ([], [Aborted(1000, 0, "enough"), Closed(1000)])


@pytest.mark.parametrize("n_answers", [0, 1, 2])
def test_an_abort_after_the_end_changes_nothing(n_answers: int) -> None:
    script = started(Script(two_steps(), setup()))
    for _ in range(4):
        script.expect(script.asks[0].role, None, "(say no)")
    for _ in range(n_answers):
        script.expect(script.asks[0].role, None, "done")
    before = list(script.events)
    script.abort("too late")
    assert script.events == before


@pytest.mark.parametrize(
    ("late", "said"),
    [
        (AbortRequest(9, "the game manager shuts down"), ()),
        (EvaluationFailed(9, LimitExceeded("seconds for one state", 30)), (Closed(9),)),
    ],
)
def test_what_was_decided_before_a_match_broke_off_stays_whatever_comes_of_its_states(
    late: AbortRequest | EvaluationFailed, said: tuple[Closed, ...]
) -> None:
    match = Match(two_steps(), setup())
    over = ResumeState(((YES, NO), (YES, NO)), 3, Message.STOP, {}, Completed(7, 2, (100, 0)), was_anything_sent=True)
    match.receive(Resume(8, over))
    assert match.receive(late) == said


@pytest.mark.parametrize(
    ("old", "new", "failed"),
    [
        (
            "(<= (legal ?r (say ?w)) (role ?r)",
            "(<= (legal ?r (say ?w)) (role ?r) (true (at 0))",
            Failed(
                2000, 0, "NoLegalMoveError", "left has no legal move in the state of step 1, though it is not terminal"
            ),
        ),
        (
            "(<= terminal (true (at 2)))",
            "(<= terminal (true (at 1))) (<= (goal right 50) (true (at 1)))",
            Failed(2000, 0, "NoGoalError", "right has not exactly one goal value in the terminal state of step 1"),
        ),
    ],
)
def test_rules_that_end_in_nothing_end_their_match(old: str, new: str, failed: Failed) -> None:
    script = started(Script(make_game(read_rules(TWO_STEPS.replace(old, new))), setup()))
    script.expect_both("(say Yes)", "(say no)")
    assert [event for event in script.events if isinstance(event, Failed)] == [failed]
    script.expect(LEFT, "(ABORT m.1)", "aborted")
    script.expect(RIGHT, "(ABORT m.1)", "aborted")
    assert script.match.phase is MatchPhase.CLOSED


def test_rules_that_end_in_nothing_after_some_steps_end_their_match_there() -> None:
    late = TWO_STEPS.replace("(<= terminal (true (at 2)))", "(<= terminal (true (at 5)))").replace(
        "(role ?r) (word ?w))", "(role ?r) (word ?w) (true (at ?i)) (succ ?i ?j))"
    )
    script = started(Script(make_game(read_rules(late)), setup()))
    script.expect_both("(say Yes)", "(say no)")
    script.expect_both("(say no)", "(say Yes)")
    message = "left has no legal move in the state of step 2, though it is not terminal"
    assert [event for event in script.events if isinstance(event, Failed)] == [
        Failed(2500, 1, "NoLegalMoveError", message)
    ]
    script.expect(LEFT, "(ABORT m.1)", "aborted")
    script.expect(RIGHT, "(ABORT m.1)", "aborted")
    assert script.match.phase is MatchPhase.CLOSED


def test_an_evaluation_that_fails_late_ends_the_match_once_with_the_step_that_is_known() -> None:
    script = Script(two_steps(), setup(), is_slow=True)
    failure = EvaluationFailed(script.at_ms, LimitExceeded("seconds for one state", 30))
    script.begin()
    script.evaluate()
    script.expect_both("ready", "ready")
    script.feed(failure)  # no state is waited for
    script.expect_both("(say Yes)", "(say no)")
    script.evaluate()
    script.expect_both("(say Yes)", "(say no)")
    script.feed(failure)
    script.feed(failure)
    assert [event for event in script.events if isinstance(event, Failed)] == [
        Failed(1000, 1, "LimitExceeded", "limit reached: more than 30 seconds for one state")
    ]
    script.expect_both("aborted", "aborted")
    assert script.match.phase is MatchPhase.CLOSED


def test_a_first_state_that_is_terminal_is_started_and_stopped() -> None:
    rules = "(role left) (role right) terminal (goal left 30) (goal right 70) (legal left noop) (legal right noop)"
    script = Script(make_game(read_rules(rules)), setup())
    script.begin()
    script.expect_both("ready", "ready")
    script.expect(LEFT, "(STOP m.1 NIL)", "done")
    script.expect(RIGHT, "(STOP m.1 NIL)", "done")
    assert [event for event in script.events if isinstance(event, Completed)] == [Completed(1500, 0, (30, 70))]


@pytest.mark.parametrize("roles", [(), (LEFT,), (LEFT, LEFT), (LEFT, RANDOM)])
def test_seats_must_be_those_of_the_game(roles: tuple[Term, ...]) -> None:
    with pytest.raises(SeatsError):
        Script(two_steps(), setup(roles=[role for role in (LEFT, RIGHT, RANDOM) for _ in range(roles.count(role))]))


def test_a_match_with_a_busy_player_does_not_come_about() -> None:
    script = Script(two_steps(), setup())
    script.begin()
    script.expect_both("ready", "(BUSY)")
    script.expect(LEFT, "(ABORT m.1)", "aborted")
    script.assert_done()
    assert [event.errors for event in script.events if isinstance(event, StepFinished)] == [("", "IL busy")]
    assert [event for event in script.events if isinstance(event, Aborted | Completed)] == [
        Aborted(1500, 0, "did not come about: right's player was busy")
    ]
    assert script.match.phase is MatchPhase.CLOSED


def test_a_match_whose_players_were_all_busy_sends_nothing_more() -> None:
    script = Script(two_steps(), setup())
    script.begin()
    script.expect_both("busy", "busy")
    script.assert_done()
    assert script.match.phase is MatchPhase.CLOSED
    assert Aborted(1500, 0, "did not come about: left's player, right's player were busy") in script.events


@pytest.mark.parametrize("said", ["busybody", "(busy bee)", "aborted", "nil", ""])
def test_whatever_else_is_said_to_start_will_do(said: str) -> None:
    script = Script(two_steps(), setup())
    script.begin()
    script.expect_both(said, "ready")
    assert script.match.phase is MatchPhase.PLAYING
