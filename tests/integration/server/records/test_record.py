"""The match record in the public JSON format, and what of it is public while the match is played."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest

from gdl.language.rules import Description
from gdl.wire.insights import Insight
from server.match.exchange import Aborted, Failed
from server.match.profiles import Profile
from server.records.codec import read_entry
from server.records.entries import AnsweredEntry, StepEntry, entry_of, versions
from server.records.errors import MatchRecordError
from server.records.record import MatchRecord, record_of
from server.visibility import Secrecy
from tests.kit.server.scripted import CIRCUMSTANCES, PLAIN, START_MS, TURNS, TURNS_MOVES, events, library, turns

MONTY = (("(choose 1)", "(hide_car 2)"), ("noop", "(open 3)"), ("switch", "noop"))


def record(
    description: Description, moves: tuple[tuple[str, ...], ...], n: int | None = None, profile: Profile = PLAIN
) -> MatchRecord:
    happened = islice(events(description, moves, profile), n)
    return record_of(entry_of(event, CIRCUMSTANCES) for event in happened)


def test_a_finished_match_in_the_public_format() -> None:
    whole = record(turns(), TURNS_MOVES).as_json()
    wire = whole.pop("x-wire")
    assert whole == {
        "matchId": "match.m1",
        "randomToken": "token",
        "startTime": START_MS,
        "gameMetaURL": "",
        "isCompleted": True,
        "isAborted": False,
        "states": [
            "( ( at 0 ) ( control a ) )",
            "( ( at 1 ) ( control b ) )",
            "( ( at 2 ) ( control a ) )",
        ],
        "stateTimes": [START_MS + 1, START_MS + 12, START_MS + 18],
        "moves": [["go", "noop"], ["noop", "( jump 1 )"]],
        "errors": [["", ""], ["TO", ""], ["", ""]],
        "goalValues": [100, 0],
        "previewClock": -1,
        "startClock": 10,
        "playClock": 5,
        "playerNamesFromHost": ["a-player", "b-player"],
        "isPlayerHuman": [False, False],
        "scrambled": False,
        "x-format": 1,
        "x-game": "turns",
        "x-gdl2": False,
        "x-roles": ["a", "b"],
        "x-seats": [
            {
                "player": f"{role}-player",
                "isHuman": False,
                "dialect": "gdl2",
                "case": "as is",
                "graceMs": 1000,
                "isScrambled": False,
            }
            for role in "ab"
        ],
        "x-rules": TURNS,
        "x-rules-sha256": turns().sha256,
        "x-seed": 7,
        "x-scramble-seed": 8,
        "x-substitute": "random",
        "x-versions": versions(),
        "x-error-details": [["", ""], ["late", ""], ["", ""]],
        "x-thinking-ms": [[5, 5], [5, 5], [5, 5]],
        "x-origins": [["substitute", "player"], ["player", "player"]],
        "x-goals": [100, 0],
        "x-end": {"how": "completed", "at": START_MS + 19, "reason": ""},
    }
    assert [line["direction"] for line in wire] == ["sent", "answered"] * 6
    assert wire[5] == {
        "direction": "answered",
        "at": START_MS + 8,
        "step": 0,
        "role": "a",
        "message": "PLAY",
        "text": "",
        "elapsedMs": 5,
        "error": "TO",
        "detail": "late",
        "move": "go",
    }


@pytest.mark.parametrize("n", range(1, 22))
def test_whenever_it_is_taken_the_lists_have_their_public_lengths(n: int) -> None:
    whole = record(turns(), TURNS_MOVES, n).as_json()
    n_states = max(1, len(whole["states"]))
    assert [len(whole[key]) for key in ("errors", "moves")] == [n_states, n_states - 1]
    assert len(whole["stateTimes"]) == len(whole["states"])
    json.dumps(whole)


def test_answers_to_an_unfinished_step_are_pending() -> None:
    pending = [record(turns(), TURNS_MOVES, n).as_json().get("x-pending") for n in range(7, 14)]
    assert pending == [None, None, {"a": "go"}, {"a": "go"}, {"a": "go", "b": "noop"}, {"a": "go", "b": "noop"}, None]


def test_only_records_of_gdl2_games_have_percepts() -> None:
    assert "x-percepts" not in record(turns(), TURNS_MOVES).as_json()
    percepts = record(library("montyhall"), MONTY).as_json()["x-percepts"]
    assert [len(step) for step in percepts] == [2, 2, 2]


@pytest.mark.parametrize(
    ("event", "end"),
    [
        (Aborted(5, 0, "asked to"), {"how": "aborted", "at": 5, "reason": "asked to"}),
        (Failed(5, 0, "LimitExceeded", "too much"), {"how": "failed", "at": 5, "reason": "LimitExceeded: too much"}),
    ],
)
def test_a_match_that_ends_early_is_aborted(event: Aborted | Failed, end: dict[str, Any]) -> None:
    taken = record(turns(), TURNS_MOVES, 8)
    taken.add(entry_of(event, CIRCUMSTANCES))
    whole = taken.as_json()
    assert (whole["isCompleted"], whole["isAborted"], whole["x-end"]) == (False, True, end)
    assert "goalValues" not in whole


OPEN = {
    "matchId", "randomToken", "startTime", "isCompleted", "isAborted", "stateTimes", "previewClock", "startClock",
    "playClock", "playerNamesFromHost", "isPlayerHuman", "scrambled", "x-format",
}  # fmt: skip
RULES = {"gameMetaURL", "x-game", "x-roles", "x-rules", "x-rules-sha256", "x-gdl2"}
TROUBLE = {"errors", "x-thinking-ms"}
PLAY = {"states", "moves", "errors", "x-thinking-ms", "x-origins"}


@pytest.mark.parametrize(
    ("game", "moves", "profile", "public"),
    [
        ("turns", TURNS_MOVES, Profile(), OPEN | RULES | PLAY),
        ("montyhall", MONTY, Profile(), OPEN | RULES | TROUBLE),
        ("turns", TURNS_MOVES, Profile(is_scrambled=True), OPEN | TROUBLE),
    ],
)
def test_a_running_match_shows_nothing_that_helps_a_player(
    game: str, moves: tuple[tuple[str, ...], ...], profile: Profile, public: set[str]
) -> None:
    description = turns() if game == "turns" else library(game)
    running = record(description, moves, 11, profile)
    assert set(running.public_view()) == public
    assert "PLAY" not in json.dumps(running.public_view())


def test_the_scrambled_names_are_in_the_record_once_it_is_over() -> None:
    names = record(turns(), TURNS_MOVES, profile=Profile(is_scrambled=True)).as_json()["x-scrambling"]
    assert {"a", "b", "at", "control", "go", "jump", "noop", "succ", "?r", "?n", "?m"} == set(names)


def test_the_answers_to_the_step_that_is_played_are_not_public() -> None:
    view = record(turns(), (("(jump 0)", "noop"),), 9).public_view()
    assert "jump 0" not in json.dumps(view["moves"] + view["errors"])


MISTAKE = ("IL ( jump 0 )", "")


def with_thoughts(description: Description, moves: tuple[tuple[str, ...], ...]) -> MatchRecord:
    """Return a match that is played, whose first move was illegal, with what its players think."""
    thoughts = (Insight(9, 8, 1.5, 62.5, ("( jump 1 )",)), None)
    entries = [entry_of(event, CIRCUMSTANCES) for event in islice(events(description, moves), 13)]
    return record_of(
        replace(entry, errors=MISTAKE, insights=thoughts) if isinstance(entry, StepEntry) and entry.moves else entry
        for entry in entries
    )


@pytest.mark.parametrize(
    ("is_over", "shows_insight", "is_there"), [(True, False, True), (False, True, True), (False, False, False)]
)
def test_what_players_think_is_public_where_it_may_be(is_over: bool, shows_insight: bool, is_there: bool) -> None:
    taken = with_thoughts(turns(), TURNS_MOVES)
    if is_over:
        taken.add(entry_of(Aborted(5, 0, "asked to"), CIRCUMSTANCES))
    view = taken.public_view(Secrecy(False, False, False, shows_insight))
    assert ("x-insights" in view, "jump 1" in json.dumps(view)) == (is_there, is_there)


def test_of_errors_in_a_match_that_is_hidden_the_kind_alone_is_public() -> None:
    taken = with_thoughts(turns(), TURNS_MOVES)
    views = [taken.public_view(Secrecy(is_imperfect, False, False)) for is_imperfect in (True, False)]
    assert [view["errors"][-1] for view in views] == [["IL", ""], list(MISTAKE)]


def test_after_the_end_everything_is_public() -> None:
    done = record(turns(), TURNS_MOVES)
    assert done.public_view() == done.as_json()


@pytest.mark.parametrize(
    "entry",
    [{}, {"event": "unheard"}, {"event": 3}, {"event": "started", "format": 99}, {"event": "step"}, {"event": []}],
)
def test_an_entry_that_makes_no_sense_is_refused(entry: dict[str, Any]) -> None:
    with pytest.raises(MatchRecordError):
        MatchRecord().add(read_entry(entry))


def test_without_entries_there_is_no_record() -> None:
    with pytest.raises(MatchRecordError):
        MatchRecord().as_json()


def test_before_the_answers_to_start_there_are_blanks_in_their_place() -> None:
    whole = record(turns(), TURNS_MOVES, 3).as_json()
    blanks = {name: whole[name] for name in ("errors", "x-error-details", "x-thinking-ms")}
    assert blanks == {"errors": [["", ""]], "x-error-details": [["", ""]], "x-thinking-ms": [[None, None]]}


def test_what_players_say_of_their_own_failures_has_a_place_in_each_step_where_there_is_any() -> None:
    entries = [entry_of(event, CIRCUMSTANCES) for event in events(turns(), TURNS_MOVES)]
    fallen = [
        replace(entry, failures=("it fell", "")) if isinstance(entry, StepEntry) and entry.moves else entry
        for entry in entries[:15]
    ]
    assert record_of(fallen).as_json()["x-failures"] == [["", ""], ["it fell", ""]]
    without_start = [entry for entry in fallen if not isinstance(entry, StepEntry) or entry.moves]
    assert record_of(without_start).as_json()["x-failures"] == [["", ""], ["it fell", ""]]
    assert "x-failures" not in record_of(entries).as_json()


def test_what_a_player_thinks_stands_once_in_a_record() -> None:
    thought = Insight(9, 8, 1.5, 62.5, ("( jump 1 )",))
    entries = [entry_of(event, CIRCUMSTANCES) for event in events(turns(), TURNS_MOVES)]
    told = record_of(
        replace(entry, insight=thought) if isinstance(entry, AnsweredEntry) else entry for entry in entries
    )
    assert told.as_json()["x-wire"] == record_of(entries).as_json()["x-wire"]
