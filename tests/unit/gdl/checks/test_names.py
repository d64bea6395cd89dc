"""Hints for relations that no rule gives."""

from __future__ import annotations

import pytest

from gdl.checks import check
from gdl.diagnostics import Source

GAME = """
(role white) (init (control white)) (legal white go) (goal white 50)
(adjacent 1 2) (<= terminal (true (control white)) (adjacent 1 2))
"""


@pytest.mark.parametrize(
    ("condition", "hint"),
    [
        ("(adjcent 1 ?x)", "did you mean adjacent?"),
        ("(control ?x)", "did you mean (true (control ?x))?"),
        ("(ture (control ?x))", "did you mean true?"),
        ("(somewhere ?x)", "add facts or rules for `somewhere`, or delete this condition"),
    ],
)
def test_the_hint_says_what_is_likely_meant(condition: str, hint: str) -> None:
    found = check(Source("game.kif", f"{GAME}(<= (legal white (go ?x)) {condition})"))
    assert [one.hint for one in found if one.code.name == "gdl/undefined-relation"] == [hint]


@pytest.mark.parametrize("condition", ["(sees white 3)", "(random 3)", "random"])
def test_a_word_of_gdl2_is_a_relation_like_others_in_gdl1(condition: str) -> None:
    found = check(Source("game.kif", f"{GAME}(<= terminal {condition})"))
    assert [one.code.name for one in found] == ["gdl/undefined-relation"]


@pytest.mark.parametrize(
    ("fact", "hint"),
    [
        ("(legl white wait)", "did you mean legal?"),
        ("(left-over 1)", "delete it, or use it in a rule that the game needs"),
    ],
)
def test_the_hint_at_an_unused_fact_says_what_is_likely_meant(fact: str, hint: str) -> None:
    found = check(Source("game.kif", GAME + fact))
    assert [(one.code.name, one.hint) for one in found] == [("gdl/unused-relation", hint)]


def test_a_misspelt_relation_that_the_game_misses_is_reported_once() -> None:
    found = check(Source("game.kif", GAME.replace("terminal", "terminall")))
    assert [(one.code.name, one.hint) for one in found] == [("gdl/missing-terminal", "should terminall be terminal?")]


def test_a_name_in_front_of_its_parenthesis_is_reported_as_such() -> None:
    found = check(Source("game.kif", GAME + "(<= (legal white stay) true(control white))"))
    assert [(one.code.name, one.hint) for one in found] == [
        ("gdl/keyword-arity", "the parenthesis stands in front of the name: write (true ...), not true(...)")
    ]


def test_a_name_in_a_form_that_cannot_be_read_counts_as_given_and_used() -> None:
    rules = "(<= (blocked ?x) (closed ()) (role ?x)) (<= (legal white wait) (blocked 1))"
    found = check(Source("game.kif", GAME + rules))
    assert [one.code.name for one in found] == ["gdl/empty-list"]


def test_a_relation_that_only_a_form_asks_for_that_cannot_be_read_counts_as_used() -> None:
    found = check(Source("game.kif", f"{GAME}(closed 1) (<= (legal white wait) (closed ()))"))
    assert [one.code.name for one in found] == ["gdl/empty-list"]


@pytest.mark.parametrize(
    ("word", "codes"), [("left.over", ["unused-relation", "unusual-character"]), ("...", ["unusual-character"])]
)
def test_a_word_without_a_letter_is_reported_for_its_characters_alone(word: str, codes: list[str]) -> None:
    found = check(Source("game.kif", f"{GAME}\n{word}"))
    assert [one.code.name for one in found] == [f"gdl/{code}" for code in codes]


def test_a_character_without_a_name_is_called_by_its_number() -> None:
    found = check(Source("game.kif", GAME.replace("white", "w\x01\ue000\u00e9")))
    assert [one.message for one in found] == [
        "U+0001 and U+E000 and \u00e9 (U+00E9 LATIN SMALL LETTER E WITH ACUTE) in a name: other systems may not read it"
    ]
