"""Variables that a head does not need are projected away."""

from __future__ import annotations

import pytest

from gdl.compiler.decomposition import decompose
from gdl.datalog.translation import clauses_of
from gdl.language.rules import read_rules


@pytest.mark.parametrize(
    ("rule", "decomposed"),
    [
        ("(<= (p ?x) (q ?x ?y))", ["(<= (p ?x) (q ?x ?y))"]),
        (
            "(<= (p ?x) (q ?x ?y) (r ?y ?z))",
            ["(<= (auxiliary 0 ?y) (r ?y ?z))", "(<= (p ?x) (q ?x ?y) (auxiliary 0 ?y))"],
        ),
        (
            "(<= (p ?x ?z) (q ?x ?z) (r ?y) (distinct ?x ?y))",
            ["(<= (guard 0 ?x) (q ?x ?z))", "(<= (auxiliary 1 ?x) (r ?y) (guard 0 ?x) (distinct ?x ?y))",
             "(<= (p ?x ?z) (q ?x ?z) (auxiliary 1 ?x))"],
        ),
    ],
)  # fmt: skip
def test_a_variable_outside_of_the_head_goes_into_an_auxiliary(rule: str, decomposed: list[str]) -> None:
    assert [str(clause) for clause in decompose(clauses_of(read_rules(rule).rules))] == decomposed


def test_equal_auxiliaries_are_one() -> None:
    rules = "(<= (p ?a) (q ?a) (r ?a ?b)) (<= (s ?c ?e) (q ?c) (r ?c ?d) (q ?e)) (<= (t ?f ?e) (r ?f ?g) (q ?e))"
    assert [str(clause) for clause in decompose(clauses_of(read_rules(rules).rules))] == [
        "(<= (p ?a) (q ?a) (r ?a ?b))",
        "(<= (auxiliary 0 ?c) (r ?c ?d))",
        "(<= (s ?c ?e) (q ?c) (q ?e) (auxiliary 0 ?c))",
        "(<= (t ?f ?e) (q ?e) (auxiliary 0 ?f))",
    ]
