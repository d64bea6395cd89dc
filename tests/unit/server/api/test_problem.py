"""`problem`: the JSON shape of errors."""

from __future__ import annotations

import pytest

from gdl.diagnostics import Source, Span
from gdl.errors import LimitExceeded, MalformedRuleError, StratificationError, UnknownNameError
from server.api.problem import CODES, problem, refusal
from server.errors import (
    INTERNAL,
    InvalidNameError,
    NameTakenError,
    ShuttingDownError,
    TooManyMatchesError,
    TooManyPlayersError,
    UnknownPlayerError,
)

SPAN = Span(Source("a.kif", "(role white)\n(<= p\n    (not p))\n"), 23, 30)


def test_an_error_of_a_rule_file_tells_place_and_hint() -> None:
    assert problem(MalformedRuleError("a rule inside a rule", SPAN, "close it")) == {
        "code": "rules_refused",
        "message": "a rule inside a rule",
        "hint": "close it",
        "kind": "malformed_rule",
        "source": "a.kif",
        "line": 3,
        "column": 5,
    }


def test_an_error_without_a_place_tells_none() -> None:
    assert problem(MalformedRuleError("no roles")) == {
        "code": "rules_refused",
        "message": "no roles",
        "hint": "",
        "kind": "malformed_rule",
    }


def test_an_error_of_stratification_tells_the_cycle() -> None:
    found = problem(StratificationError("`p` depends on its own negation", SPAN, None, ["p", "not p"]))
    assert (found["kind"], found["cycle"]) == ("stratification", ["p", "not p"])


def test_a_misspelt_name_tells_the_nearest_ones() -> None:
    assert problem(UnknownNameError("game", "zoin", ["zion"])) == {
        "code": "unknown_game",
        "message": "no game 'zoin'; did you mean zion?",
        "hint": "did you mean zion?",
    }


def test_rules_beyond_the_limits_are_too_costly() -> None:
    assert problem(LimitExceeded("facts", 1000)) == {
        "code": "rules_too_costly",
        "message": "limit reached: more than 1,000 facts",
        "hint": "",
    }


def test_any_other_error_tells_its_kind_and_sentence() -> None:
    assert problem(TimeoutError("too slow")) == {"code": "timeout", "message": "too slow", "hint": ""}


@pytest.mark.parametrize(
    ("error", "status", "code", "message"),
    [
        (InvalidNameError("game", "A b", "no"), 400, "invalid_game_name", "no game can be called 'A b': no"),
        (
            InvalidNameError("player", "x" * 200, "no"),
            400,
            "invalid_name",
            f"no player can be called '{'x' * 100}': no",
        ),
        (
            NameTakenError("game", "chess"),
            409,
            "game_taken",
            "there is a game called 'chess' already, which is not yours: choose another name",
        ),
        (NameTakenError("player", "deep"), 409, "name_taken", "there is a player 'deep' already"),
    ],
)
def test_a_name_that_is_refused_has_the_code_of_what_it_should_name(
    error: Exception, status: int, code: str, message: str
) -> None:
    assert refusal(error) == (status, {"error": {"code": code, "message": message, "hint": ""}})


@pytest.mark.parametrize(
    ("error", "code", "advice"),
    [
        (UnknownPlayerError("deep"), "not_registered", "`ggp player SPEC --connect URL --name NAME`"),
        (TooManyPlayersError("ada", 5), "too_many_players", "DELETE /api/v1/players/NAME"),
        (TooManyMatchesError(10), "too_many_matches", "when some of them have begun"),
        (ShuttingDownError(), "shutting_down", "when the server is back"),
    ],
)
def test_the_hint_of_an_error_says_what_to_do(error: Exception, code: str, advice: str) -> None:
    told = refusal(error)[1]["error"]
    assert (told["code"], advice in told["hint"]) == (code, True)


def test_the_code_of_a_crash_is_the_documented_one_everywhere() -> None:
    crash = KeyError("secret")
    assert refusal(crash) == (500, {"error": INTERNAL})
    assert problem(crash) == {"code": "internal", "message": "KeyError: 'secret'", "hint": ""}
    assert INTERNAL["code"] in CODES
