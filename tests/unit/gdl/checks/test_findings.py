"""How many findings a file has at most, in which order, and what a caller may say of the file."""

from __future__ import annotations

import pytest

from gdl.checks import check, findings
from gdl.diagnostics import Source
from gdl.language.kif import ReadLimits

GAME = "(role white) (init (at 1)) (legal white go) (<= terminal (true (at 1))) (goal white 50)\n"


@pytest.mark.parametrize(("rule", "code"), [("(p)\n", "gdl/lone-name-in-parentheses"), ("(q ())\n", "gdl/empty-list")])
def test_of_each_kind_a_thousand_are_told(rule: str, code: str) -> None:
    found = check(Source("game.kif", GAME + "(<= terminal p)\n" + rule * 1_001))
    assert [one.code.name for one in found].count(code) == 1_000


def test_findings_are_in_the_order_of_places_and_the_worst_is_first() -> None:
    found = check(Source("game.kif", GAME + "(<= (p ?x)) (<= (q 1)) q"))
    assert [(one.span.text, one.code.name) for one in found] == [
        ("p", "gdl/unused-relation"),
        ("?x", "gdl/open-fact"),
        ("(<= (q 1))", "gdl/empty-body"),
        ("q", "gdl/unused-relation"),
        ("q", "gdl/relation-arities"),
        ("q", "gdl/unused-relation"),
    ]


def test_a_caller_sets_limits_and_says_which_language_it_is() -> None:
    source = Source("game.kif", GAME + "(sees white 3)")
    assert [one.code.name for one in check(source, ReadLimits(max_characters=20))] == ["gdl/too-large"]
    assert [one.code.name for one in check(source)] == []
    assert [one.code.name for one in check(source, is_gdl2=False)] == ["gdl/sees-in-gdl1"]


def test_only_a_check_minds_what_comments_allow() -> None:
    source = Source("game.kif", GAME + "(p 1) ; ggp: allow gdl/unused-relation -- for the variants")
    assert [one.code.name for one in findings(source)] == ["gdl/unused-relation"]
    assert check(source) == []
