"""A match that broke off at any moment goes on as if nothing had happened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from server.match.exchange import Aborted, Event, Resume, Sent, Started
from server.match.profiles import Profile
from server.records.codec import read_entry
from server.records.entries import Circumstances, ClosedEntry, Entry, entry_of
from server.records.errors import MatchRecordError
from server.records.record import record_of
from server.records.resumption import resume_state_of
from tests.kit.server.plays import LEFT, Script, dealt, setup, two_steps

COMPARED = (
    "states", "moves", "errors", "goalValues", "x-goals", "x-percepts", "x-origins", "x-thinking-ms",
    "x-error-details",
)  # fmt: skip
REPLIES = {
    (0, "left"): "(say Yes)", (0, "right"): "(say nonsense", (1, "left"): "(say no)", (1, "right"): "(say Yes)",
}  # fmt: skip


def reply(role: str, step: int, text: str, *, is_dealt: bool) -> str:
    if not text.startswith("(PLAY"):
        return "ready"
    return "(guess ace)" if is_dealt else REPLIES[step, role]


def play_on(script: Script, *, is_dealt: bool) -> list[Event]:
    while script.asks:
        ask = script.asks[0]
        script.expect(ask.role, None, reply(str(ask.role), ask.step, ask.text, is_dealt=is_dealt))
    return script.events


def entries_of(events: Sequence[Event]) -> list[Entry]:
    return [entry_of(event, Circumstances("test", "token")) for event in events]


def compared(entries: Sequence[Entry]) -> dict[str, Any]:
    whole = record_of(entries).as_json()
    return {name: whole[name] for name in COMPARED if name in whole}


CASES = {
    "gdl1": (two_steps, setup(), False),
    "preview": (two_steps, replace(setup(), preview_clock_s=3), False),
    "scrambled": (two_steps, setup(Profile(), Profile(is_scrambled=True)), False),
    "gdl2": (dealt, setup(roles=[LEFT]), True),
}


@pytest.mark.parametrize("case", CASES)
def test_a_match_that_broke_off_anywhere_ends_as_if_it_had_not(case: str) -> None:
    make, terms, is_dealt = CASES[case]
    game = make()
    script = Script(game, terms)
    script.begin()
    whole = entries_of(play_on(script, is_dealt=is_dealt))
    assert isinstance(whole[-1], ClosedEntry)
    for n_kept in range(1, len(whole)):
        kept = whole[:n_kept]
        resumed = Script(game, terms)
        resumed.feed(Resume(resumed.at_ms, resume_state_of(kept)))
        on = entries_of(play_on(resumed, is_dealt=is_dealt))
        assert compared([*kept, *on]) == compared(whole), f"broken off after {kept[-1]}"
        assert isinstance(on[-1], ClosedEntry)


def test_who_had_answered_is_not_asked_again() -> None:
    game, terms = two_steps(), setup()
    script = Script(game, terms)
    script.begin()
    script.expect_both("ready", "ready")
    script.expect(LEFT, None, "(say Yes)")
    kept = entries_of(script.events)
    resumed = Script(game, terms)
    resumed.feed(Resume(resumed.at_ms, resume_state_of(kept)))
    assert [(str(ask.role), ask.text) for ask in resumed.asks] == [("right", "(PLAY m.1 NIL)")]
    assert not any(isinstance(event, Started) for event in resumed.events)


def test_an_aborted_match_only_says_goodbye() -> None:
    game, terms = two_steps(), setup()
    script = Script(game, terms)
    script.begin()
    script.expect_both("ready", "ready")
    script.abort("enough")
    kept = entries_of(script.events)
    resumed = Script(game, terms)
    resumed.feed(Resume(resumed.at_ms, resume_state_of(kept)))
    assert [ask.text for ask in resumed.asks] == ["(ABORT m.1)", "(ABORT m.1)"]
    resumed.expect_both("aborted", "aborted")
    assert resumed.match.phase.name == "CLOSED"


def test_a_match_that_is_aborted_before_its_states_are_known_again_ends_where_it_broke_off() -> None:
    game, terms = two_steps(), setup()
    script = Script(game, terms)
    script.begin()
    script.expect_both("ready", "ready")
    script.expect_both("(say Yes)", "(say Yes)")
    kept = entries_of(script.events)
    aborted = Script(game, terms, is_slow=True)
    aborted.feed(Resume(aborted.at_ms, resume_state_of(kept)))
    aborted.abort("enough")
    once_more = Script(game, terms, is_slow=True)
    once_more.feed(Resume(once_more.at_ms, resume_state_of([*kept, *entries_of(aborted.events)])))
    told = [event for event in aborted.events + once_more.events if isinstance(event, Aborted | Sent)]
    assert [(type(event), event.step) for event in told] == [(Aborted, 1), *[(Sent, 1)] * 4]


def test_players_that_were_busy_are_told_nothing_more() -> None:
    game, terms = two_steps(), setup()
    script = Script(game, terms)
    script.begin()
    script.expect_both("busy", "ready")
    kept = entries_of(script.events)
    resumed = Script(game, terms)
    resumed.feed(Resume(resumed.at_ms, resume_state_of(kept)))
    assert [(str(ask.role), ask.text) for ask in resumed.asks] == [("right", "(ABORT m.1)")]


def test_an_entry_that_lacks_something_is_refused() -> None:
    with pytest.raises(MatchRecordError, match="cannot be understood"):
        resume_state_of(map(read_entry, [{"event": "answered", "at": 1}]))
