"""Entries of journals as JSON and back: nothing is lost, and what makes no sense is refused with our own error."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.wire.insights import Insight
from server.match.exchange import Message, MoveOrigin
from server.match.profiles import Profile
from server.records.codec import entry_json, read_entry
from server.records.entries import (
    AbortedEntry,
    AnsweredEntry,
    ClosedEntry,
    CompletedEntry,
    Entry,
    FailedEntry,
    JournalSeat,
    SentEntry,
    StartedEntry,
    StateEntry,
    StepEntry,
    entry_of,
)
from server.records.errors import MatchRecordError
from tests.kit.server.scripted import CIRCUMSTANCES, PLAIN, TURNS_MOVES, events, library, turns

MONTY = (("(choose 1)", "(hide_car 2)"), ("noop", "(open 3)"), ("switch", "noop"))
SEAT = {"player": "ann", "isHuman": False, "dialect": "gdl2", "case": "as is", "graceMs": 1000, "isScrambled": True}
CHANCE = {"player": "random", "isHuman": False, "isScrambled": False}
STARTED: dict[str, Any] = {
    "event": "started", "at": 1, "format": 1, "matchId": "m", "randomToken": "t", "game": "g", "gameMetaURL": "",
    "tournament": None, "rules": None, "rulesSha256": "5ha", "isGdl2": True, "roles": ["x", "random"],
    "seats": [SEAT, CHANCE], "startClock": 10, "playClock": 5, "previewClock": -1, "seed": 7, "scrambleSeed": 8,
    "scrambling": {"x": "y"}, "substitute": "random", "versions": {"ggp": "1"},
}  # fmt: skip
ANSWERED = {
    "event": "answered", "at": 1, "step": 0, "role": "x", "message": "PLAY", "text": "\ud800\0é", "elapsedMs": 5,
    "error": "TO", "detail": "late", "move": "( go 1 )",
}  # fmt: skip
STEP = {
    "event": "step", "at": 1, "step": 0, "moves": ["a", "noop"], "errors": ["", ""], "details": ["", ""],
    "elapsedMs": [5, None], "origins": ["player", "chance"],
}  # fmt: skip
THOUGHT = Insight(9, 8, 7.5, 100.0, ("( go 1 )",), is_proven=True)
TOLD = {"leaves": 9, "plays": 8, "depth": 7.5, "value": 100.0, "line": ["( go 1 )"], "proven": True}
BEGUN = StartedEntry(
    1, "m", "t", "g", "", None, None, "5ha", True, ("x", "random"),
    (JournalSeat("ann", False, True, "gdl2", "as is", 1000), JournalSeat("random", False, False)),
    10, 5, None, 7, 8, {"x": "y"}, "random", {"ggp": "1"},
)  # fmt: skip
SAMPLES: tuple[tuple[dict[str, Any], Entry], ...] = (
    (STARTED, BEGUN),
    (STARTED | {"previewClock": 0}, replace(BEGUN, preview_clock_s=0)),
    ({"event": "state", "at": 1, "step": 0, "state": "( )", "percepts": None}, StateEntry(1, 0, "( )", None)),
    (
        {"event": "state", "at": 1, "step": 1, "state": "( )", "percepts": [["a"], []], "isCommon": True},
        StateEntry(1, 1, "( )", (("a",), ()), is_common=True),
    ),
    (
        {"event": "sent", "at": 1, "step": 0, "role": "x", "message": "START", "text": "(START)"},
        SentEntry(1, 0, "x", Message.START, "(START)"),
    ),
    (ANSWERED, AnsweredEntry(1, 0, "x", Message.PLAY, "\ud800\0é", 5, "TO", "late", "( go 1 )")),
    (
        ANSWERED | {"failure": "it fell"},
        AnsweredEntry(1, 0, "x", Message.PLAY, "\ud800\0é", 5, "TO", "late", "( go 1 )", "it fell"),
    ),
    (
        ANSWERED | {"insight": {"leaves": 9, "plays": 8, "depth": 1.5, "value": 62.5, "line": ["a"]}},
        AnsweredEntry(
            1, 0, "x", Message.PLAY, "\ud800\0é", 5, "TO", "late", "( go 1 )", insight=Insight(9, 8, 1.5, 62.5, ("a",))
        ),
    ),
    (
        STEP,
        StepEntry(1, 0, ("a", "noop"), ("", ""), ("", ""), (5, None), (MoveOrigin.PLAYER, MoveOrigin.CHANCE)),
    ),
    (
        STEP | {"moves": None, "origins": [], "failures": ["", "it fell"]},
        StepEntry(1, 0, None, ("", ""), ("", ""), (5, None), (), ("", "it fell")),
    ),
    (
        STEP | {"insights": [TOLD, None]},
        StepEntry(
            1, 0, ("a", "noop"), ("", ""), ("", ""), (5, None), (MoveOrigin.PLAYER, MoveOrigin.CHANCE), (),
            (THOUGHT, None),
        ),
    ),
    ({"event": "completed", "at": 1, "step": 2, "goals": [100, None]}, CompletedEntry(1, 2, (100, None))),
    ({"event": "aborted", "at": 1, "step": 2, "reason": "enough"}, AbortedEntry(1, 2, "enough")),
    ({"event": "failed", "at": 1, "step": 2, "reason": "E: no"}, FailedEntry(1, 2, "E: no")),
    ({"event": "closed", "at": 1}, ClosedEntry(1)),
)  # fmt: skip


@pytest.mark.parametrize(("written", "entry"), SAMPLES)
def test_an_entry_and_its_json_are_read_and_written_in_this_order(written: dict[str, Any], entry: Entry) -> None:
    assert (read_entry(written), json.dumps(entry_json(entry))) == (entry, json.dumps(written))


def test_every_kind_of_entry_has_a_sample() -> None:
    assert {type(entry) for _, entry in SAMPLES} == set(get_args(Entry))


@pytest.mark.parametrize("profile", [PLAIN, Profile(is_scrambled=True)])
@pytest.mark.parametrize(("game", "moves"), [("turns", TURNS_MOVES), ("montyhall", MONTY)])
def test_whole_journals_survive_the_way_there_and_back(
    game: str, moves: tuple[tuple[str, ...], ...], profile: Profile
) -> None:
    happened = events(turns() if game == "turns" else library(game), moves, profile)
    for entry in (entry_of(event, CIRCUMSTANCES) for event in happened):
        line = json.dumps(entry_json(entry))
        assert read_entry(json.loads(line)) == entry
        assert json.dumps(entry_json(read_entry(json.loads(line)))) == line


NUMBERS, TEXTS = st.integers(), st.text(st.characters())
WHO = st.tuples(*[TEXTS] * 2)
ANY = st.one_of(
    st.builds(StateEntry, NUMBERS, NUMBERS, TEXTS, st.none() | st.tuples(WHO, WHO), st.booleans()),
    st.builds(SentEntry, NUMBERS, NUMBERS, TEXTS, st.sampled_from(Message), TEXTS),
    st.builds(
        AnsweredEntry, NUMBERS, NUMBERS, TEXTS, st.sampled_from(Message), TEXTS, NUMBERS, TEXTS, TEXTS,
        st.none() | TEXTS, TEXTS,
    ),
    st.builds(
        StepEntry, NUMBERS, NUMBERS, st.none() | WHO, WHO, WHO, st.tuples(NUMBERS, st.none()),
        st.tuples(st.sampled_from(MoveOrigin)), st.just(()) | WHO, st.just(()) | st.tuples(st.just(THOUGHT), st.none()),
    ),
    st.builds(CompletedEntry, NUMBERS, NUMBERS, st.tuples(NUMBERS, st.none())),
    st.builds(AbortedEntry, NUMBERS, NUMBERS, TEXTS),
    st.builds(FailedEntry, NUMBERS, NUMBERS, TEXTS),
    st.builds(ClosedEntry, NUMBERS),
)  # fmt: skip


@given(ANY)
def test_any_entry_is_read_as_it_was_written(entry: Entry) -> None:
    assert read_entry(json.loads(json.dumps(entry_json(entry)))) == entry


JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from([written for written, _ in SAMPLES]), st.data(), JSON)
def test_a_wrong_value_is_refused_with_our_own_error_or_understood(
    written: dict[str, Any], data: st.DataObject, value: object
) -> None:
    key = data.draw(st.sampled_from(sorted(written)))
    try:
        entry_json(read_entry(written | {key: value}))
    except MatchRecordError:
        return


@pytest.mark.parametrize("key", sorted({key for written, _ in SAMPLES for key in written}))
def test_a_key_that_is_missing_is_named(key: str) -> None:
    may_lack = {"isCommon", "failure", "failures", "insight", "insights", "scrambling"}
    for written in [written for written, _ in SAMPLES if key in written]:
        lacking = {name: value for name, value in written.items() if name != key}
        if key in may_lack:
            read_entry(lacking)
        else:
            with pytest.raises(MatchRecordError, match=f"it has no '{key}'"):
                read_entry(lacking)


@pytest.mark.parametrize(
    "found",
    [
        None, [], 5, {}, {"event": "unheard"}, {"event": 3}, {"event": []}, STARTED | {"format": 99},
        STARTED | {"at": 1.0},
        STARTED | {"at": True}, STARTED | {"seats": [5]}, STARTED | {"versions": {"ggp": 1}}, STEP | {"moves": [5]},
        STEP | {"origins": ["nobody"]}, STEP | {"elapsedMs": [True]}, ANSWERED | {"message": "SHOUT"},
        ANSWERED | {"message": []}, ANSWERED | {"move": 5},
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(found: object) -> None:
    with pytest.raises(MatchRecordError):
        read_entry(found)


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ([], "an entry that is no JSON object"),
        (ANSWERED | {"move": 5}, "an entry that cannot be understood: move holds 5"),
        (ANSWERED | {"message": "SHOUT"}, "an entry that cannot be understood: message holds 'SHOUT'"),
        (STEP | {"details": ["", 5]}, "an entry that cannot be understood: ['', 5]"),
        (STEP | {"elapsedMs": 5}, "an entry that cannot be understood: elapsedMs holds 5"),
        (STEP | {"elapsedMs": [5, "a"]}, "an entry that cannot be understood: elapsedMs holds [5, 'a']"),
        (STARTED | {"versions": {"a": 5}}, "an entry that cannot be understood: versions holds {'a': 5}"),
        (STEP | {"at": "x" * 98}, f"an entry that cannot be understood: at holds '{'x' * 98}'"),
        (STEP | {"at": "x" * 99}, f"an entry that cannot be understood: at holds '{'x' * 99}..."),
    ],
)
def test_what_makes_no_sense_is_named(found: object, told: str) -> None:
    with pytest.raises(MatchRecordError) as caught:
        read_entry(found)
    assert caught.value.message == told


def test_another_format_is_named() -> None:
    with pytest.raises(MatchRecordError, match="format 99 is not known; this version reads format 1"):
        read_entry(STARTED | {"format": 99})


def test_keys_that_are_not_known_are_passed_over() -> None:
    assert read_entry({"event": "closed", "at": 1, "later": "more"}) == ClosedEntry(1)
