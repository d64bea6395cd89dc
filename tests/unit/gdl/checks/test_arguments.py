"""Conditions that never hold, by what stands as an argument, and hints that say what does."""

from __future__ import annotations

import pytest

from gdl.checks import check
from gdl.diagnostics import Source

GAME = """
(role white) (init (at (pos 1 2))) (init (size big)) (legal white go)
(<= terminal (true (at (pos 1 2))) (true (size big)))
(goal white 50)
"""


@pytest.mark.parametrize(
    ("condition", "codes"),
    [
        ("(distinct big big)", ["gdl/never-distinct"]),
        ("(or (true (size big)) (and (distinct (pos 1 ?x) (pos 1 ?x)) (true (size ?x))))", ["gdl/never-distinct"]),
        ("(not (distinct big big))", ["gdl/not-over-distinct"]),
        ("(distinct big small)", []),
    ],
)
def test_a_term_that_is_to_be_distinct_from_itself_is_reported_once(condition: str, codes: list[str]) -> None:
    found = check(Source("game.kif", f"{GAME}(<= terminal {condition})"))
    assert [one.code.name for one in found] == codes


@pytest.mark.parametrize(
    ("condition", "message", "hint"),
    [
        (
            "(true (at (pos 2)))",
            "argument 1 of `at` is never pos with 1 argument: this never holds",
            "facts and rules give pos with 2 arguments there",
        ),
        (
            "(true (at Pos))",
            "argument 1 of `at` is never Pos with no argument: this never holds",
            "facts and rules give Pos with 2 arguments there",
        ),
        ("(true (size bg))", "argument 1 of `size` is never bg: this never holds", "did you mean big?"),
        (
            "(true (size (big 1)))",
            "argument 1 of `size` is never big with 1 argument: this never holds",
            "facts and rules give big with no argument there",
        ),
        ("(true (size 1))", "argument 1 of `size` is never 1: this never holds", "facts and rules give big there"),
    ],
)
def test_an_argument_that_nothing_gives_is_reported_with_what_is_given_there(
    condition: str, message: str, hint: str
) -> None:
    found = check(Source("game.kif", f"{GAME}(<= terminal {condition})"))
    assert [(one.message, one.hint) for one in found if one.code.name == "gdl/unmatched-condition"] == [(message, hint)]


@pytest.mark.parametrize(
    ("rule", "code", "message", "hint"),
    [
        (
            "(<= terminal (true size))",
            "gdl/undefined-fluent",
            "no `init` or `next` makes size true: this never holds",
            "size stands with 1 argument elsewhere",
        ),
        (
            "(<= (next (at (pos 1 2))) (does white (go 1 2)))",
            "gdl/undefined-move",
            "no `legal` allows go: no role ever does it",
            "go stands with no argument elsewhere",
        ),
        (
            "(init at)",
            "gdl/unused-fluent",
            "no condition asks whether at is true",
            "at stands with 1 argument elsewhere",
        ),
        (
            "(<= terminal (true (sise big)))",
            "gdl/undefined-fluent",
            "no `init` or `next` makes sise true: this never holds",
            "did you mean size?",
        ),
    ],
)
def test_a_fluent_or_move_with_arguments_is_another_than_one_without(
    rule: str, code: str, message: str, hint: str
) -> None:
    found = check(Source("game.kif", f"{GAME}{rule}"))
    assert [(one.code.name, one.message, one.hint) for one in found] == [(code, message, hint)]


def test_of_a_name_with_several_numbers_of_arguments_all_are_told() -> None:
    rules = "(at (pos 1) 2) (at (pos 1 2) 2) (<= terminal (at (pos 1 2 3) ?x))"
    found = check(Source("game.kif", GAME + rules))
    assert [one.hint for one in found if one.code.name == "gdl/unmatched-condition"] == [
        "facts and rules give pos with 1 argument or 2 arguments there"
    ]


def test_a_fluent_that_is_asked_for_by_another_name_gets_that_as_a_hint() -> None:
    found = check(Source("game.kif", f"{GAME}(init (pased 1)) (<= terminal (true (paused 1)))"))
    assert [(one.code.name, one.hint) for one in found] == [
        ("gdl/unused-fluent", "did you mean paused?"),
        ("gdl/undefined-fluent", "did you mean pased?"),
    ]


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        ("(init (true 1)) (init (left-over 1))", ["true: gdl/keyword-as-function", "(left-over 1): gdl/unused-fluent"]),
        ("(<= terminal (true (next 1)))", ["next: gdl/keyword-as-function"]),
        ("(<= terminal (true (begun 1)) (true (size 5)) (true big)) (init ())", ["(): gdl/empty-list"]),
        ("(<= terminal (true (at Pos))) (init (at pos)) (<= terminal (true (size BIG)))", [
            "Pos: gdl/capitalisation", "BIG: gdl/capitalisation"]),
        ("(<= terminal (true (AT (pos 1 2))))", ["AT: gdl/capitalisation"]),
    ],
)  # fmt: skip
def test_what_another_check_reports_is_no_condition_that_never_holds(rules: str, told: list[str]) -> None:
    found = check(Source("game.kif", f"{GAME}{rules}"))
    assert [f"{one.span.text}: {one.code.name}" for one in found if one.code.name != "gdl/function-arities"] == told


def test_where_nothing_is_ever_true_the_conditions_are_not_told_one_by_one() -> None:
    rules = "(role white) (legal white go) (goal white 50) (<= terminal (true (at 1)) (true done))"
    assert [one.code.name for one in check(Source("game.kif", rules))] == ["gdl/missing-init"]
