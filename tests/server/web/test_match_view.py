"""A match as its page shows it, from its journal, and what of it is left out while it is played."""

from __future__ import annotations

from server.match.setup import Profile
from server.records.entries import Entry, entry_of
from server.web.match_view import (
    HiddenSteps,
    MatchView,
    MoveView,
    PendingRole,
    StepView,
    public_events,
    rows_of,
    view_of,
)
from tests.server.scripted import CIRCUMSTANCES, PLAIN, TURNS_MOVES, events, library, turns


def journal(profile: Profile = PLAIN) -> list[Entry]:
    return [entry_of(event, CIRCUMSTANCES) for event in events(turns(), TURNS_MOVES, profile)]


def test_a_match_that_is_over_is_told_whole() -> None:
    view = view_of(public_events(journal(), has_ended=True))
    assert (view.end, view.goals, view.n_steps, view.asked) == ("completed", [100, 0], 2, {})
    assert [state.text for state in view.states] == [
        "( ( at 0 ) ( control a ) )",
        "( ( at 1 ) ( control b ) )",
        "( ( at 2 ) ( control a ) )",
    ]
    first, second = view.steps
    assert first.moves == (MoveView("go", "too late", 5, "substitute"), MoveView("noop", "", 5, "player"))
    assert (second.number, second.moves[1].move, second.moves[1].is_plain) == (2, "(jump 1)", False)
    assert [(view.n_errors(seat), view.thinking_ms(seat)) for seat in (0, 1)] == [(1, 10), (0, 10)]


def test_who_is_asked_has_the_clock_without_grace_until_the_answer() -> None:
    entries = journal()
    last = max(n for n, entry in enumerate(entries) if entry["event"] == "sent" and entry["message"] == "PLAY")
    view = view_of(public_events(entries[: last + 1], has_ended=False))
    at_ms = entries[last]["at"]
    assert view.asked == {1: PendingRole(1, "PLAY", at_ms + 5_000)}
    assert PLAIN.grace_s > 0
    assert view_of(public_events(entries[: last + 2], has_ended=False)).asked == {}


def test_steps_are_found_by_the_state_that_they_led_to() -> None:
    view = view_of(public_events(journal(), has_ended=True))
    assert [view.step_to(n) for n in (0, 1, 2, 3)] == [None, *view.steps, None]
    assert [view.state(n) is None for n in (-1, 0, 2, 3)] == [True, False, False, True]


def test_of_a_scrambled_match_no_move_and_no_state_is_known_before_the_end() -> None:
    entries = [each for each in journal(Profile(is_scrambled=True)) if each["event"] not in ("completed", "closed")]
    view = view_of(public_events(entries, has_ended=False))
    assert view.is_hidden
    assert [state.text for state in view.states] == [None, None, None]
    assert [move.move for step in view.steps for move in step.moves] == [None] * 4
    assert view.steps[0].moves[0].error == "too late"


def test_percepts_of_each_role_are_told_after_the_end() -> None:
    rules = library("montyhall")
    moves = (("(choose 1)", "(hide_car 3)"), ("noop", "(open 2)"), ("stay", "noop"))
    entries = [entry_of(event, CIRCUMSTANCES) for event in events(rules, moves)]
    view = view_of(public_events(entries, has_ended=True))
    seen = [state.percepts and state.percepts[0] for state in view.states]
    assert seen == [None, ("(you_chose 1)",), ("(opened_door 2)",), ("(car_behind 3)",)]


def test_before_the_first_entry_there_is_nothing() -> None:
    view = view_of(public_events([], has_ended=False))
    assert (view.n_steps, view.last, view.end, view.state(0)) == (0, -1, "", None)


def test_steps_of_which_no_move_may_be_known_are_one_row() -> None:
    hidden = [
        StepView(n, (MoveView(None, "too late" * (n == 2), 100 * n, ""), MoveView(None, "", None, "")))
        for n in (1, 2, 3)
    ]
    known = StepView(4, (MoveView("(go 1)", "", 5, "player"), MoveView(None, "", 5, "")))
    assert rows_of(MatchView(steps=[*hidden, known])) == [HiddenSteps(1, 3, (600, 0), (1, 0)), known]
    assert rows_of(MatchView()) == []
