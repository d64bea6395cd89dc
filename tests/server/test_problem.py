"""`problem`: the JSON shape of errors."""

from __future__ import annotations

from gdl.errors import MalformedRuleError, StratificationError, UnknownNameError
from gdl.source import Source, Span
from server.problem import problem

SPAN = Span(Source("a.kif", "(role white)\n(<= p\n    (not p))\n"), 23, 30)


def test_an_error_of_a_rule_file_tells_place_and_hint() -> None:
    assert problem(MalformedRuleError("a rule inside a rule", SPAN, "close it")) == {
        "error": "MalformedRuleError",
        "message": "a rule inside a rule",
        "source": "a.kif",
        "line": 3,
        "column": 5,
        "hint": "close it",
    }


def test_an_error_without_a_place_tells_none() -> None:
    assert problem(MalformedRuleError("no roles")) == {"error": "MalformedRuleError", "message": "no roles"}


def test_an_error_of_stratification_tells_the_cycle() -> None:
    found = problem(StratificationError("`p` depends on its own negation", SPAN, None, ["p", "p"]))
    assert (found["error"], found["cycle"]) == ("StratificationError", ["p", "p"])


def test_a_misspelt_name_tells_the_nearest_ones() -> None:
    assert problem(UnknownNameError("game", "zoin", ["zion"])) == {
        "error": "UnknownNameError",
        "message": "no game 'zoin'; did you mean zion?",
        "suggestions": ["zion"],
    }


def test_any_other_error_tells_its_kind_and_sentence() -> None:
    assert problem(TimeoutError("too slow")) == {"error": "TimeoutError", "message": "too slow"}
