"""Rules as clauses: what `or`, `and`, `not` and `distinct` become."""

from __future__ import annotations

import pytest

from gdl.datalog.translation import clauses_of
from gdl.language.rules import read_rules


@pytest.mark.parametrize(
    ("rule", "clauses"),
    [
        ("(p a)", ["(p a)"]),
        ("(<= p)", ["p"]),
        ("(<= p a (or b c))", ["(<= p a b)", "(<= p a c)"]),
        ("(<= p (or a (and b (or c d))))", ["(<= p a)", "(<= p b c)", "(<= p b d)"]),
        ("(<= p (not (or a b)))", ["(<= p (not a) (not b))"]),
        ("(<= p (not (and a (not b))))", ["(<= p (not a))", "(<= p b)"]),
        ("(<= p (or) a)", []),
        ("(<= p (and) a)", ["(<= p a)"]),
        ("(<= p (not (or)))", ["p"]),
        ("(<= p (not (and)))", []),
        ("(<= p a b a)", ["(<= p a b)"]),
        ("(<= p (or a a))", ["(<= p a)"]),
        ("(<= p a (distinct b c))", ["(<= p a)"]),
        ("(<= p a (distinct b b))", []),
        ("(<= p (q ?x) (distinct ?x ?x))", []),
        ("(<= p (q ?x) (distinct ?x b))", ["(<= p (q ?x) (distinct ?x b))"]),
        ("(<= (p ?x ?y) (q ?x) (not (distinct (f ?x) (f ?y))))", ["(<= (p ?x ?x) (q ?x))"]),
        ("(<= p a (not (distinct b c)))", []),
    ],
)
def test_a_rule_becomes_these_clauses(rule: str, clauses: list[str]) -> None:
    assert [str(clause) for clause in clauses_of(read_rules(rule).rules)] == clauses


def test_equal_rules_are_one_clause() -> None:
    assert len(clauses_of(read_rules("(<= p a) (<= p a) (<= p (or a a))").rules)) == 1
