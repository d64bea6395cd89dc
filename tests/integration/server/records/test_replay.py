"""Replaying match records by the rules: ours and other hosts', right and wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gdl.engines import make_game
from gdl.errors import GdlError
from gdl.language.rules import read_rules
from server.records.entries import entry_of
from server.records.errors import MatchRecordError, RecordDiffersError
from server.records.record import record_of
from server.records.replay import replay
from server.records.stored_record import facts_of, json_object, stored
from tests.kit.server.scripted import CIRCUMSTANCES, TURNS_MOVES, events, library, turns

MONTY = (("(choose 1)", "(hide_car 2)"), ("noop", "(open 3)"), ("switch", "noop"))
GAME = make_game(turns())


def ours() -> dict[str, Any]:
    return record_of(entry_of(event, CIRCUMSTANCES) for event in events(turns(), TURNS_MOVES)).as_json()


def test_our_record_agrees_with_the_rules_step_by_step() -> None:
    steps = list(replay(GAME, stored(ours())))
    moves = [None if step.moves is None else [str(move) for move in step.moves] for step in steps]
    assert moves == [["go", "noop"], ["noop", "(jump 1)"], None]
    assert [sorted(map(str, step.state.facts)) for step in steps] == [
        ["(at 0)", "(control a)"],
        ["(at 1)", "(control b)"],
        ["(at 2)", "(control a)"],
    ]
    assert [step.errors for step in steps] == [("TO", ""), ("", ""), ()]


def test_our_record_of_a_gdl2_match_agrees_percepts_included() -> None:
    monty = library("montyhall")
    raw = record_of(entry_of(event, CIRCUMSTANCES) for event in events(monty, MONTY)).as_json()
    assert len(list(replay(make_game(monty), stored(raw)))) == 4
    raw["x-percepts"][1][0] = ["nothing"]
    with pytest.raises(RecordDiffersError) as caught:
        list(replay(make_game(monty), stored(raw)))
    assert (caught.value.step, caught.value.role, caught.value.kind) == (1, "candidate", "percepts")


FOREIGN: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "moves only": lambda raw: {"moves": raw["moves"]},
    "upper case": lambda raw: {
        key: [text.upper() for text in raw[key]] if key == "states" else [[m.upper() for m in ms] for ms in raw[key]]
        for key in ("states", "moves")
    },
    "facts without a list around them": lambda raw: raw | {"states": [state[2:-2] for state in raw["states"]]},
    "true around the facts": lambda raw: (
        raw | {"states": [state.replace("( at", "(true ( at").replace(" ) ( c", ")) ( c") for state in raw["states"]]}
    ),
    "nulls": lambda raw: raw | {"gameMetaURL": None, "errors": None, "goalValues": None, "isPlayerHuman": None},
    "unknown keys": lambda raw: raw | {"apolloSigned": True, "raw": 1, "x-else": {}},
    "not completed": lambda raw: {"matchId": "m", "moves": raw["moves"][:1], "states": raw["states"][:2]},
}


@pytest.mark.parametrize("change", FOREIGN.values(), ids=FOREIGN)
def test_what_other_hosts_write_agrees_too(change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    raw = ours()
    foreign = change({name: value for name, value in raw.items() if not name.startswith("x-")})
    assert len(list(replay(GAME, stored(foreign)))) == len(foreign["moves"]) + 1


WRONG: list[tuple[dict[str, Any], tuple[int, str, str, str, str]]] = [
    (
        {"states": ["((at 0) (control a))", "((at 1) (control a) (x))", "((at 2) (control a))"]},
        (1, "", "state", "(control a) x", "(control b)"),
    ),
    ({"states": ["()"] * 3}, (0, "", "state", "nothing besides", "(at 0) (control a)")),
    ({"states": ["()"]}, (0, "", "length", "1 `states`", "3: one more than moves")),
    ({"moves": [["go", "noop"], ["go", "go"]]}, (1, "a", "move", "go", "one of noop")),
    ({"moves": [["go", "noop"], ["noop", "(jump 0)"]]}, (1, "b", "move", "(jump 0)", "one of (jump 1) go")),
    ({"moves": [["go", "noop"], ["noop"]]}, (1, "", "length", "1 moves", "2, one per role")),
    ({"goalValues": [100, 1]}, (2, "b", "goal", "1", "0")),
    ({"goalValues": [100]}, (2, "", "length", "1 goalValues", "2, one per role")),
    ({"errors": [["", ""]]}, (0, "", "length", "1 `errors`", "3: one more than moves")),
    ({"x-roles": ["b", "a"]}, (0, "", "rules", "roles b, a", "roles a, b")),
    ({"x-roles": "a"}, (0, "", "rules", "roles a", "roles a, b")),
    ({"states": ["((at 0) (control a) p q r s t)", "()", "()"]}, (0, "", "state", "p q r s t", "nothing besides")),
    (
        {"states": ["((at 0) (control a) p q r s t u v)", "()", "()"]},
        (0, "", "state", "p q r s t and 2 more", "nothing besides"),
    ),
    ({"x-rules-sha256": "00"}, (0, "", "rules", "SHA-256 00", f"SHA-256 {turns().sha256}")),
]


@pytest.mark.parametrize(("change", "difference"), WRONG)
def test_the_error_names_the_first_difference_exactly(
    change: dict[str, Any], difference: tuple[int, str, str, str, str]
) -> None:
    with pytest.raises(RecordDiffersError) as caught:
        list(replay(GAME, stored(ours() | change)))
    found = caught.value
    assert (found.step, found.role, found.kind, found.recorded, found.expected) == difference


def test_a_match_that_went_on_or_ended_before_its_end_differs() -> None:
    longer = {"moves": [*ours()["moves"], ["go", "noop"]]}
    shorter = {"moves": ours()["moves"][:1], "isCompleted": True}
    told = []
    for raw in (longer, shorter):
        with pytest.raises(RecordDiffersError) as caught:
            list(replay(GAME, stored(raw)))
        told.append(str(caught.value))
    assert told == [
        "step 2: terminal differs: the record has moves; by the rules it is none: the state is terminal",
        "step 1: terminal differs: the record has completed; by the rules it is not terminal",
    ]


@pytest.mark.parametrize(
    ("change", "where", "message"),
    [
        ({"moves": [["go", "noop"], ["(", "noop"]]}, "step 2, moves[1]", "'('"),
        ({"states": ["((at 0) (control a))", ")", "()"]}, "step 1, states[1]", ""),
    ],
)
def test_text_that_is_no_kif_is_named_with_its_place(change: dict[str, Any], where: str, message: str) -> None:
    with pytest.raises(MatchRecordError) as caught:
        list(replay(GAME, stored(ours() | change)))
    assert (caught.value.where, message in caught.value.message) == (where, True)


def of_monty() -> dict[str, Any]:
    return record_of(entry_of(event, CIRCUMSTANCES) for event in events(library("montyhall"), MONTY)).as_json()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"moves": [["go", 7]]}, "step 1, moves[0][1]: must be a text"),
        ({"errors": [["", ""], [7, ""]]}, "step 1, errors[1][0]: must be a text"),
        ({"goalValues": ["much"]}, "goalValues[0]: must be a whole number"),
        ({"x-wire": [{}]}, "x-wire[0].direction: missing"),
    ],
)
def test_a_key_with_an_entry_for_each_step_is_named_with_the_step(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(MatchRecordError) as caught:
        stored(ours() | changes)
    assert str(caught.value) == message


def test_a_step_has_percepts_of_every_role_and_those_that_are_missing_are_not_compared() -> None:
    game, raw = make_game(library("montyhall")), of_monty()
    steps = raw["x-percepts"]
    assert len(list(replay(game, stored(raw | {"x-percepts": steps[:2]})))) == 4
    with pytest.raises(RecordDiffersError, match=r"step 2: length differs: .* 1 x-percepts; .* 2, one per role"):
        list(replay(game, stored(raw | {"x-percepts": [steps[0], steps[1][:1], steps[2]]})))


def test_a_goal_of_chance_counts_where_the_rules_give_it_one() -> None:
    game, raw = make_game(library("montyhall")), of_monty()
    with pytest.raises(RecordDiffersError, match=r"step 3, random: goal differs: the record has 5; .* it is 0$"):
        list(replay(game, stored(raw | {"goalValues": [100, 5]})))
    without = make_game(read_rules(library("montyhall").source.text.replace("(goal random 0)", "")))
    assert len(list(replay(without, stored({key: raw[key] for key in ("moves", "goalValues")})))) == 4


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("( ( cell 1 1 b ) ( control white ) )", {"(cell 1 1 b)", "(control white)"}),
        ("(cell 1 1 b) (control white)", {"(cell 1 1 b)", "(control white)"}),
        ("( p ( q 1 ) )", {"p", "(q 1)"}),
        ("((true (q 1)) (TRUE p))", {"(q 1)", "p"}),
        ("()", set()),
        ("", set()),
        ("p", {"p"}),
    ],
)
def test_states_as_public_viewers_print_them(text: str, facts: set[str]) -> None:
    assert {str(fact) for fact in facts_of(text)} == facts


@pytest.mark.parametrize("text", ["{}", "[]", "3", "{", '{"moves": 3}', '{"moves": [["a", 3]]}', "[" * 100_000])
def test_what_is_no_record_is_refused(text: str) -> None:
    with pytest.raises(MatchRecordError):
        stored(json_object(text))


@pytest.mark.exhaustive
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=8))
@settings(max_examples=60)
def test_garbage_under_any_key_is_compared_or_refused_by_our_own_errors(value: object) -> None:
    for key in ("states", "moves", "goalValues", "errors", "x-percepts", "x-wire", "x-rules", "isCompleted"):
        try:
            list(replay(GAME, stored(ours() | {key: value})))
        except GdlError:
            continue


@given(
    st.text()
    | st.sampled_from(['{"event":"started"', '{"event":"x"}\n', '{"matchId":']).flatmap(
        lambda head: st.text().map(lambda tail: head + tail)
    )
)
def test_any_text_is_a_record_or_refused_by_our_own_error(text: str) -> None:
    try:
        stored(json_object(text))
    except MatchRecordError:
        return


@pytest.mark.parametrize("at", [10**400, -(2**63) - 1])
def test_a_time_beyond_64_bits_is_refused(at: int) -> None:
    raw = ours()
    raw["x-wire"][0]["at"] = at
    with pytest.raises(MatchRecordError, match=r"^x-wire\[0\]\.at: must be "):
        stored(raw)
    with pytest.raises(MatchRecordError, match=r"^startTime: must be "):
        stored(ours() | {"startTime": at})
