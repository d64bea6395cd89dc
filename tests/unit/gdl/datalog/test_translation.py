"""Rules as clauses: what `or`, `and`, `not` and `distinct` become."""

from __future__ import annotations

import pytest

from gdl.datalog import translation
from gdl.datalog.clauses import Clause
from gdl.datalog.translation import check_safety, clauses_of, flat_clause, is_written_out, unbound_variables
from gdl.errors import LimitExceeded, UnsafeRuleError
from gdl.language.rules import read_rules
from gdl.language.terms import MAX_PATTERN_DEPTH


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
        ("(<= (p ?x ?y ?z) (q ?x) (not (distinct ?y ?z)) (not (distinct ?x ?y)))", ["(<= (p ?x ?x ?x) (q ?x))"]),
        ("(<= p (q ?x) (r ?y) (not (distinct ?x a)) (not (distinct ?y ?x)))", ["(<= p (q a) (r a))"]),
        ("(<= p (q ?x) (not (r ?x)) (not (distinct ?x a)))", ["(<= p (q a) (not (r a)))"]),
        ("(<= p (q ?x ?y) (distinct ?y ?x) (not (distinct ?x a)))", ["(<= p (q a ?y) (distinct ?y a))"]),
        ("(<= p (q ?x ?y) (distinct ?x ?y) (not (distinct ?x a)))", ["(<= p (q a ?y) (distinct a ?y))"]),
        ("(<= p (q ?x) (distinct ?x a) (not (distinct ?x a)))", []),
        ("(<= p (q ?x) (distinct ?x b) (not (distinct ?x a)))", ["(<= p (q a))"]),
        ("(<= p (q ?x) (not (distinct ?x a)) (not (distinct ?x b)))", []),
        ("(<= p (q ?x) (not (distinct ?x a)) (not (distinct b c)))", []),
    ],
)
def test_a_rule_becomes_these_clauses(rule: str, clauses: list[str]) -> None:
    assert [str(clause) for clause in clauses_of(read_rules(rule).rules)] == clauses


def test_equal_rules_are_one_clause() -> None:
    assert len(clauses_of(read_rules("(<= p a) (<= p a) (<= p (or a a))").rules)) == 1


def clauses(text: str) -> tuple[Clause, ...]:
    return clauses_of(read_rules(text).rules)


def alternatives(*n_branches: int) -> str:
    """Return `or`s of so many branches each."""
    return " ".join(f"(or {' '.join(f'a{i}of{number}' for i in range(n))})" for number, n in enumerate(n_branches))


@pytest.mark.parametrize(
    ("n_branches", "is_one_by_one"),
    [
        ((64,), True),
        ((65,), False),
        ((8, 8), True),
        ((13, 5), False),
        ((2,) * 6, True),
        ((2,) * 7, False),
        ((0, 99), True),
    ],
)
def test_a_rule_of_up_to_64_choices_is_written_out(n_branches: tuple[int, ...], is_one_by_one: bool) -> None:
    (rule,) = read_rules(f"(<= p {alternatives(*n_branches)})").rules
    assert is_written_out(rule) is is_one_by_one
    assert any(" passes " in str(clause) for clause in clauses_of([rule])) is not is_one_by_one


def test_a_rule_with_an_equation_is_written_out_up_to_1000_choices() -> None:
    equation = "(not (distinct ?x ?y))"
    for n_branches in ((1_000,), (10, 10, 10), (250, 2, 2)):
        assert len(clauses(f"(<= (p ?x) (q ?x ?y) {equation} {alternatives(*n_branches)})")) == 1_000
    for n_branches in ((1_001,), (10, 10, 11), (251, 2, 2)):
        with pytest.raises(LimitExceeded) as raised:
            clauses(f"(<= (p ?x) (q ?x ?y) {equation} {alternatives(*n_branches)})")
        assert (raised.value.what, raised.value.limit) == ("alternatives in one rule", 1_000)


@pytest.mark.parametrize("more", ["", alternatives(2, 2), alternatives(70)])
def test_a_clause_has_up_to_2000_conditions(more: str) -> None:
    n = 2_000 - (more.count("(or") if more.count("of") < 70 else 0)
    conditions = [f"q{i}" for i in range(n)]
    clauses(f"(<= p {' '.join(conditions)} {more})")
    with pytest.raises(LimitExceeded) as raised:
        clauses(f"(<= p {' '.join(conditions)} one {more})")
    assert (raised.value.what, raised.value.limit) == ("conditions in one rule", 2_000)


def test_rules_fall_into_so_many_clauses_more_than_there_are_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translation, "MAX_CLAUSES", 3)
    assert len(clauses("p (<= q (or a b c)) (<= r (or a b))")) == 6
    with pytest.raises(LimitExceeded) as raised:
        clauses("p (<= q (or a b c)) (<= r (or a b c))")
    assert (raised.value.what, raised.value.limit) == ("alternatives in all rules", 3)


def test_parts_of_a_clause_know_their_places() -> None:
    (clause,) = clauses("(<= (p ?x) (q ?x) (or (and (not (r ?x)) (distinct ?x b))))")
    assert clause.span.text == "(<= (p ?x) (q ?x) (or (and (not (r ?x)) (distinct ?x b))))"
    spans = [*(one.span for one in clause.literals), *(one.span for one in clause.differences)]
    assert [span and span.text for span in spans] == ["(q ?x)", "(r ?x)", "(distinct ?x b)"]


def test_a_rule_in_one_clause_needs_what_any_of_its_branches_needs() -> None:
    (rule,) = read_rules("(<= (p ?x) (q ?x) (or (not (r ?x)) (and s (distinct ?x a))))").rules
    found = flat_clause(rule)
    assert (str(found), found.span) == ("(<= (p ?x) (q ?x) s (not (r ?x)))", rule.span)


@pytest.mark.parametrize(
    ("rule", "unbound"),
    [
        ("(<= (p ?x) (q ?x) (not (r ?x)) (distinct ?x a))", []),
        ("(<= (p ?x ?y) (q ?x))", ["?y the head (p ?x ?y) None"]),
        ("(<= p (q ?x) (not (r ?y ?x ?z)))", [
            "?y a negated condition (r ?y ?x ?z) (r ?y ?x ?z)", "?z a negated condition (r ?y ?x ?z) (r ?y ?x ?z)",
        ]),
        ("(<= p (distinct ?x (f ?y)))", [
            "?x `distinct` ?x (distinct ?x (f ?y))", "?y `distinct` (f ?y) (distinct ?x (f ?y))",
        ]),
        ("(<= (p ?y) (not (q ?y)) (distinct ?y a))", [
            "?y the head (p ?y) None", "?y a negated condition (q ?y) (q ?y)", "?y `distinct` ?y (distinct ?y a)",
        ]),
    ],
)  # fmt: skip
def test_variables_that_nothing_binds_are_found_where_they_are_needed(rule: str, unbound: list[str]) -> None:
    (clause,) = clauses(rule)
    found = list(unbound_variables(clause))
    assert [f"{one.variable} {one.where} {one.term} {one.span and one.span.text}" for one in found] == unbound


def test_an_unsafe_rule_is_refused_with_what_to_do() -> None:
    with pytest.raises(UnsafeRuleError) as raised:
        check_safety(clauses("(p a) (<= (p ?x) (not (q ?x ?y)))"))
    error = raised.value
    assert (error.message, error.span and error.span.text, error.hint) == (
        "the variable ?x of the head (p ?x) is bound by no positive condition of the rule",
        "(<= (p ?x) (not (q ?x ?y)))",
        "add a condition such as (role ?x) or (index ?x) that lists its values",
    )


@pytest.mark.parametrize(
    "rule",
    ["(<= (p {}) (q ?x))", "(<= p (q {}))", "(<= p (q ?x) (not (r {})))", "(<= p (q ?x) (distinct {} a))",
     "(<= p (q ?x) (distinct a {}))"],
)  # fmt: skip
def test_a_pattern_nests_up_to_100_levels(rule: str) -> None:
    n_around = 1 if "distinct" not in rule else 0
    deepest = MAX_PATTERN_DEPTH - n_around
    check_safety(clauses(rule.format("(f " * deepest + "?x" + ")" * deepest)))
    with pytest.raises(LimitExceeded) as raised:
        check_safety(clauses(rule.format("(f " * (deepest + 1) + "?x" + ")" * (deepest + 1))))
    assert (raised.value.what, raised.value.limit) == ("levels of nesting in a term with variables", 100)
    check_safety(clauses(rule.format("(f " * (deepest + 1) + "a" + ")" * (deepest + 1))))
