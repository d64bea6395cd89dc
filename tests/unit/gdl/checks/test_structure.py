"""What the checks of structure tell of a whole file, and what they leave to others."""

from __future__ import annotations

import pytest

from gdl.checks import check
from gdl.diagnostics import Source

GAME = "(role white) (init (at 1)) (legal white go) (goal white 50) (<= terminal (true (at 1))) p\n"


def told(text: str, *, is_gdl2: bool | None = None) -> list[str]:
    found = check(Source("game.kif", text), is_gdl2=is_gdl2)
    return [f"{one.span.text}: {one.code.name}" for one in found]


@pytest.mark.parametrize("end", ["(<= Terminal (true (at 1))", "(<= terminal (true ()))"])
def test_a_relation_in_a_form_that_cannot_be_read_is_not_missing(end: str) -> None:
    found = told(GAME.replace("(<= terminal (true (at 1))) p", end))
    assert [one for one in found if "missing" in one] == []
    assert len(found) == 1


def test_a_connective_without_conditions_is_told_as_that_alone() -> None:
    assert told(GAME + "(<= terminal p (and) (or))") == ["(and): gdl/empty-connective", "(or): gdl/empty-connective"]


def test_what_stands_under_a_not_is_looked_at_too() -> None:
    assert told(GAME + "(<= terminal (not (or p (not (distinct 1 2)))))") == [
        "(not (or p (not (distinct 1 2)))): gdl/not-over-connective",
        "(not (distinct 1 2)): gdl/not-over-distinct",
    ]


@pytest.mark.parametrize(
    ("rules", "found"),
    [
        ("(sees white 3)", ["(sees white 3): gdl/sees-in-gdl1"]),
        ("(sees white 3) (<= terminal (sees white 3) p)", []),
        ("(Sees white 3) (<= terminal (Sees white 3) p)", []),
    ],
)
def test_a_file_of_gdl1_may_have_a_relation_of_its_own_that_is_called_sees(rules: str, found: list[str]) -> None:
    assert told(GAME + "(<= terminal p)" + rules, is_gdl2=False) == found
