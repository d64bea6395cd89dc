"""A match as its page shows it, from its journal, and what of it is left out while it is played."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from server.match.exchange import Message
from server.match.profiles import Profile
from server.records.entries import ClosedEntry, CompletedEntry, Entry, SentEntry, StartedEntry, StepEntry, entry_of
from server.records.record import secrecy_of_journal
from server.spectating.events import PublicEvent
from server.spectating.public_journal import public_events
from server.web.match_view import (
    HiddenSteps,
    MatchView,
    MoveView,
    PendingRole,
    StepView,
    rows_of,
    view_of,
)
from tests.kit.server.scripted import CIRCUMSTANCES, PLAIN, TURNS_MOVES, events, library, turns


def seen(entries: Sequence[Entry], *, has_ended: bool) -> Iterable[PublicEvent]:
    """Return what viewers see of *entries*, with the secrecy of the journal."""
    secrecies = [secrecy_of_journal(each, has_ended=has_ended) for each in entries if isinstance(each, StartedEntry)]
    return public_events(entries, secrecies[0]) if secrecies else ()


def journal(profile: Profile = PLAIN) -> list[Entry]:
    return [entry_of(event, CIRCUMSTANCES) for event in events(turns(), TURNS_MOVES, profile)]


def test_a_match_that_is_over_is_shown_whole() -> None:
    view = view_of(seen(journal(), has_ended=True))
    assert (view.end, view.goals, view.n_steps, view.asked) == ("completed", [100, 0], 2, {})
    assert [state.text for state in view.states] == [
        "( ( at 0 ) ( control a ) )",
        "( ( at 1 ) ( control b ) )",
        "( ( at 2 ) ( control a ) )",
    ]
    first, second = view.steps
    assert first.moves == (MoveView("go", "too late", 5, "substitute"), MoveView("noop", "", 5, "player"))
    assert (second.number, second.moves[1].move, second.moves[1].waits) == (2, "(jump 1)", False)
    assert [(view.n_errors(seat), view.thinking_ms(seat)) for seat in (0, 1)] == [(1, 10), (0, 10)]


def test_who_is_asked_has_the_clock_without_grace_until_the_answer() -> None:
    entries = journal()
    last = max(n for n, entry in enumerate(entries) if isinstance(entry, SentEntry) and entry.message is Message.PLAY)
    view = view_of(seen(entries[: last + 1], has_ended=False))
    at_ms = entries[last].at_ms
    assert view.asked == {1: PendingRole(1, "PLAY", at_ms + 5_000)}
    assert PLAIN.grace_s > 0
    assert view_of(seen(entries[: last + 2], has_ended=False)).asked == {}


def test_steps_are_found_by_the_state_that_they_led_to() -> None:
    view = view_of(seen(journal(), has_ended=True))
    assert [view.step_to(n) for n in (0, 1, 2, 3)] == [None, *view.steps, None]
    assert [view.state(n) is None for n in (-1, 0, 2, 3)] == [True, False, False, True]


def test_of_a_scrambled_match_no_move_and_no_state_is_known_before_the_end() -> None:
    whole = journal(Profile(is_scrambled=True))
    entries = [each for each in whole if not isinstance(each, CompletedEntry | ClosedEntry)]
    view = view_of(seen(entries, has_ended=False))
    assert view.is_hidden
    assert [state.text for state in view.states] == [None, None, None]
    assert [move.move for step in view.steps for move in step.moves] == [None] * 4
    assert view.steps[0].moves[0].error == "too late"


def test_percepts_of_each_role_are_shown_after_the_end() -> None:
    rules = library("montyhall")
    moves = (("(choose 1)", "(hide_car 3)"), ("noop", "(open 2)"), ("stay", "noop"))
    entries = [entry_of(event, CIRCUMSTANCES) for event in events(rules, moves)]
    view = view_of(seen(entries, has_ended=True))
    perceived = [state.percepts and state.percepts[0] for state in view.states]
    assert perceived == [None, ("(you_chose 1)",), ("(opened_door 2)",), ("(car_behind 3)",)]


def test_a_failure_that_a_player_tells_is_an_error_of_its_seat() -> None:
    entries = [
        replace(each, failures=("ValueError: no idea", "")) if isinstance(each, StepEntry) and each.step == 0 else each
        for each in journal()
    ]
    view = view_of(seen(entries, has_ended=True))
    failed = "the player failed: ValueError: no idea"
    assert [move.trouble for move in view.steps[0].moves] == [f"too late; {failed}", ""]
    assert (view.start_errors, view.n_errors(0)) == ((failed, ""), 2)


def test_before_the_first_entry_there_is_nothing() -> None:
    view = view_of(seen([], has_ended=False))
    assert (view.n_steps, view.last, view.end, view.state(0)) == (0, -1, "", None)


def test_steps_of_which_no_move_may_be_known_are_one_row() -> None:
    hidden = [
        StepView(n, (MoveView(None, "too late" * (n == 2), 100 * n, ""), MoveView(None, "", None, "")))
        for n in (1, 2, 3)
    ]
    known = StepView(4, (MoveView("(go 1)", "", 5, "player"), MoveView(None, "", 5, "")))
    assert rows_of(MatchView(steps=[*hidden, known])) == [HiddenSteps(1, 3, (600, 0), (1, 0)), known]
    assert rows_of(MatchView()) == []


def test_a_line_tells_only_of_moves_that_are_more_than_noop() -> None:
    def step(*moves: str) -> StepView:
        return StepView(1, tuple(MoveView(move, "", None, "player") for move in moves))

    assert step("(mark 1 1)", "noop").told(None) == (0,)
    assert step("noop", "noop").told(None) == (0, 1)
    assert step("noop", "fold", "noop").told(None) == (1,)
    assert step("(mark 1 1)", "noop").told(1) == (1,)
