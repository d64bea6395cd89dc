"""The engine derives only what rules ask for."""

from __future__ import annotations

from gdl.datalog.demand import narrowed
from gdl.datalog.translation import clauses_of
from gdl.language.rules import read_rules


def texts(rules: str) -> list[str]:
    return [str(clause) for clause in narrowed(clauses_of(read_rules(rules).rules))]


def test_an_argument_is_limited_to_the_values_that_are_asked_for() -> None:
    rules = (
        "(c a) (c b) (c 1) (<= (pair ?x ?y) (c ?x) (c ?y)) (init (at a 1)) (<= terminal (true (at ?x ?y)) (pair ?x ?y))"
    )
    assert texts(rules) == [
        "(c a)", "(c 1)",
        "(<= (pair ?x ?y) (c ?x) (c ?y) (asked 0 ?x) (asked 1 ?y))",
        "(init (at a 1))",
        "(<= terminal (true (at ?x ?y)) (pair ?x ?y))",
        "(asked 0 a)", "(asked 1 1)",
    ]  # fmt: skip


def test_unasked_rules_and_rules_that_never_hold_are_left_out() -> None:
    rules = "(p 0) (<= (p (s ?x)) (p ?x)) (q a) (<= terminal (q b)) (<= (goal r 1) (true never)) (<= (next z) (q a))"
    assert texts(rules) == ["(q a)", "(<= (next z) (q a))"]


def test_what_the_language_names_is_always_asked() -> None:
    rules = (
        "(role r) (legal r a) (<= (sees r ?m) (does r ?m)) (<= (next (b ?m)) (does r ?m)) (<= (goal r 5) (true (b a)))"
    )
    assert texts(rules) == [
        "(role r)", "(legal r a)", "(<= (sees r ?m) (does r ?m))", "(<= (next (b ?m)) (does r ?m))",
        "(<= (goal r 5) (true (b a)))",
    ]  # fmt: skip


def test_function_terms_that_grow_are_distinguished_only_so_deep() -> None:
    rules = ["(init z)", "(<= (next (s ?x)) (true ?x))", "(<= (big ?x) (true (s ?x)))", "(<= terminal (big ?x))"]
    assert texts(" ".join(rules)) == rules


def test_values_that_are_asked_for_are_listed_in_order_where_the_rule_stands() -> None:
    rule = "(<= (p ?x ?y) (c ?x) (e ?y))"
    rules = f"(c b) (c a) (c d) (e 1) (e 2) {rule} (<= terminal (p a 2)) (<= (goal r 1) (p b 1))"
    found = narrowed(clauses_of(read_rules(rules).rules))
    assert [str(clause) for clause in found if "p" in str(clause) or "asked" in str(clause)] == [
        "(<= (p ?x ?y) (c ?x) (e ?y) (asked 0 ?x))", "(<= terminal (p a 2))", "(<= (goal r 1) (p b 1))",
        "(asked 0 a)", "(asked 0 b)",
    ]  # fmt: skip
    assert [clause.span.text for clause in found[-2:]] == [rule, rule]


def test_what_no_rule_of_a_long_chain_asks_for_is_left_out_in_any_order() -> None:
    chain = [f"(<= (p {i}) (p {i + 1}))" for i in range(300)]
    for rules in (chain, chain[::-1]):
        kept = [*rules, "(p 300)", "(<= terminal (p 0))"]
        assert texts(" ".join(["(p 301)", *kept])) == kept
