"""Rules whose bindings are passed from one `or` to the next: the clauses they become, and what some branches lack."""

from __future__ import annotations

import pytest

from gdl.datalog import disjunctions, translation
from gdl.datalog.clauses import Difference, Literal, Part
from gdl.datalog.disjunctions import (
    AllOf,
    AnyOf,
    Node,
    alternative,
    bindings,
    body_of,
    given_by,
    is_passing,
    own_name,
    parts_of,
    uncovered,
)
from gdl.datalog.translation import clauses_of
from gdl.errors import LimitExceeded
from gdl.language.kif import read_term
from gdl.language.rules import read_rules
from gdl.language.syntax import Rule
from gdl.language.terms import Compound, Constant, Variable, variables


@pytest.mark.parametrize(
    ("rule", "clauses"),
    [
        ("(<= (p ?x) (a ?x ?y) (or (b ?y) (c ?y)))", [
            "(<= (p passes 0.1 ?x) (a ?x ?y) (b ?y))",
            "(<= (p passes 0.1 ?x) (a ?x ?y) (c ?y))",
            "(<= (p ?x) (p passes 0.1 ?x))",
        ]),
        ("(<= p (or a b) (or c (and d e)))", [
            "(<= p passes 0.1 a)",
            "(<= p passes 0.1 b)",
            "(<= p passes 0.2 p passes 0.1 c)",
            "(<= p passes 0.2 p passes 0.1 d e)",
            "(<= p p passes 0.2)",
        ]),
        ("(<= (p ?x) (or (a ?x) (b ?x)) (or (c ?x ?y) (d ?y ?x)) (not (e ?y)))", [
            "(<= (p passes 0.1 ?x) (a ?x))",
            "(<= (p passes 0.1 ?x) (b ?x))",
            "(<= (p passes 0.2 ?x ?y) (p passes 0.1 ?x) (c ?x ?y))",
            "(<= (p passes 0.2 ?x ?y) (p passes 0.1 ?x) (d ?y ?x))",
            "(<= (p ?x) (p passes 0.2 ?x ?y) (not (e ?y)))",
        ]),
        ("(<= (p ?x ?z) (a ?x) (not (b ?x)) (distinct ?x k) (or (c ?x ?z) (and (d ?z) (or e f))))", [
            "(<= (p passes 0.1 ?x) (a ?x) (not (b ?x)) (distinct ?x k))",
            "(<= (p passes 0.2 ?x ?z) (p passes 0.1 ?x) (c ?x ?z))",
            "(<= (p passes 0.3 ?x ?z) (p passes 0.1 ?x) (d ?z))",
            "(<= (p passes 0.4 ?x ?z) (p passes 0.3 ?x ?z) e)",
            "(<= (p passes 0.4 ?x ?z) (p passes 0.3 ?x ?z) f)",
            "(<= (p passes 0.2 ?x ?z) (p passes 0.4 ?x ?z))",
            "(<= (p ?x ?z) (p passes 0.2 ?x ?z))",
        ]),
        ("(<= (p ?x) (or (not (a ?y)) (b ?x)) (c ?x) (d ?y))", [
            "(<= (p passes 0.1 ?x ?y) (c ?x) (d ?y))",
            "(<= (p passes 0.2 ?x) (p passes 0.1 ?x ?y) (not (a ?y)))",
            "(<= (p passes 0.2 ?x) (p passes 0.1 ?x ?y) (b ?x))",
            "(<= (p ?x) (p passes 0.2 ?x))",
        ]),
        ("(<= (p ?x) (or (distinct ?y ?x) (q ?x)) (or (b ?x) (c ?x)) (or (d ?y ?z) (e ?z ?y)))", [
            "(<= (p passes 0.1 ?x) (b ?x))",
            "(<= (p passes 0.1 ?x) (c ?x))",
            "(<= (p passes 0.2 ?x ?y) (p passes 0.1 ?x) (d ?y ?z))",
            "(<= (p passes 0.2 ?x ?y) (p passes 0.1 ?x) (e ?z ?y))",
            "(<= (p passes 0.3 ?x) (p passes 0.2 ?x ?y) (distinct ?y ?x))",
            "(<= (p passes 0.3 ?x) (p passes 0.2 ?x ?y) (q ?x))",
            "(<= (p ?x) (p passes 0.3 ?x))",
        ]),
        ("(<= (p ?x) (q ?x) (or (r ?x) (and (s ?y) (t ?y))))", [
            "(<= (p passes 0.1 ?x) (q ?x) (r ?x))",
            "(<= (p passes 0.1 ?x) (q ?x) (s ?y) (t ?y))",
            "(<= (p ?x) (p passes 0.1 ?x))",
        ]),
        ("(<= (p ?x) (q ?x) (or (r ?x)) (or))", []),
        ("(<= (p ?x) (q ?x) (or (r ?z) (s ?x)) (t ?z))", [
            "(<= (p passes 0.1 ?x ?z) (q ?x) (t ?z))",
            "(<= (p passes 0.2 ?x) (p passes 0.1 ?x ?z) (r ?z))",
            "(<= (p passes 0.2 ?x) (p passes 0.1 ?x ?z) (s ?x))",
            "(<= (p ?x) (p passes 0.2 ?x))",
        ]),
        ("(<= (p ?x) (q ?x) (or (distinct a a) (s ?x) (distinct ?x a)))", [
            "(<= (p passes 0.1 ?x) (q ?x) (s ?x))",
            "(<= (p passes 0.1 ?x) (q ?x) (distinct ?x a))",
            "(<= (p ?x) (p passes 0.1 ?x))",
        ]),
        ("(<= (p ?x) (q ?x) (not (and (s ?x) (or (r ?x) t))))", [
            "(<= (p passes 0.1 ?x) (q ?x) (not (s ?x)))",
            "(<= (p passes 0.1 ?x) (q ?x) (not (r ?x)) (not t))",
            "(<= (p ?x) (p passes 0.1 ?x))",
        ]),
        ("(<= (p ?x) (g ?x) (or (a ?y) (b ?y)) (or (c ?y) (d ?y)) (or (not (e ?y)) (f ?x)))", [
            "(<= (p passes 0.1 ?x ?y) (g ?x) (a ?y))",
            "(<= (p passes 0.1 ?x ?y) (g ?x) (b ?y))",
            "(<= (p passes 0.2 ?x ?y) (p passes 0.1 ?x ?y) (c ?y))",
            "(<= (p passes 0.2 ?x ?y) (p passes 0.1 ?x ?y) (d ?y))",
            "(<= (p passes 0.3 ?x) (p passes 0.2 ?x ?y) (not (e ?y)))",
            "(<= (p passes 0.3 ?x) (p passes 0.2 ?x ?y) (f ?x))",
            "(<= (p ?x) (p passes 0.3 ?x))",
        ]),
        ("(<= (p ?x) (or (not (e ?x ?y)) (f ?x)) (or (a ?x) (b ?x)) (or (and (not (g ?x)) (c ?y)) (d ?y)))", [
            "(<= (p passes 0.1 ?x) (a ?x))",
            "(<= (p passes 0.1 ?x) (b ?x))",
            "(<= (p passes 0.2 ?x ?y) (p passes 0.1 ?x) (c ?y) (not (g ?x)))",
            "(<= (p passes 0.2 ?x ?y) (p passes 0.1 ?x) (d ?y))",
            "(<= (p passes 0.3 ?x) (p passes 0.2 ?x ?y) (not (e ?x ?y)))",
            "(<= (p passes 0.3 ?x) (p passes 0.2 ?x ?y) (f ?x))",
            "(<= (p ?x) (p passes 0.3 ?x))",
        ]),
        ("(<= p (q ?x) (or (r ?y) (s ?y)) (distinct ?x ?y))", [
            "(<= (p passes 0.1 ?x ?y) (q ?x) (r ?y))",
            "(<= (p passes 0.1 ?x ?y) (q ?x) (s ?y))",
            "(<= p (p passes 0.1 ?x ?y) (distinct ?x ?y))",
        ]),
        ("(<= p (q ?x) (or (r ?y) (s ?y)) (distinct ?y ?x))", [
            "(<= (p passes 0.1 ?x ?y) (q ?x) (r ?y))",
            "(<= (p passes 0.1 ?x ?y) (q ?x) (s ?y))",
            "(<= p (p passes 0.1 ?x ?y) (distinct ?y ?x))",
        ]),
    ],
)  # fmt: skip
def test_bindings_are_passed_from_one_or_to_the_next(
    rule: str, clauses: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(translation, "MAX_WRITTEN_OUT", 1)
    found = clauses_of(read_rules(rule).rules)
    assert [str(clause) for clause in found] == clauses
    assert {clause.span.text for clause in found} <= {rule}


@pytest.mark.parametrize(
    ("rule", "clauses"),
    [
        ("(<= p (or (q ?x) s) (or t u) (not (r ?x)))", [
            "(<= p s t (not (r ?x)))",
        ]),
        ("(<= p (or (q ?x) s) (or t u) (distinct ?x a))", [
            "(<= p s t (distinct ?x a))",
        ]),
        ("(<= p (or (q ?x) s) (or t u) (distinct a ?x))", [
            "(<= p s t (distinct a ?x))",
        ]),
        ("(<= (p ?x) (or (q ?x) s) (or t u))", [
            "(<= (p ?x) s t)",
        ]),
        ("(<= (p ?x ?y) (or t u) (not (r ?x)) (not (r ?y)))", [
            "(<= (p ?x ?y) t (not (r ?x)) (not (r ?y)))",
        ]),
        ("(<= p (or t (and s (not (r ?x)))) (or u v))", [
            "(<= p s u (not (r ?x)))",
        ]),
    ],
)  # fmt: skip
def test_an_unsafe_rule_falls_into_clauses_that_show_it(
    rule: str, clauses: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(translation, "MAX_WRITTEN_OUT", 1)
    found = clauses_of(read_rules(rule).rules)
    assert [(str(clause), clause.span.text) for clause in found] == [(clause, rule) for clause in clauses]


def test_what_hangs_on_the_branch_is_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translation, "MAX_WRITTEN_OUT", 1)
    rule = "(<= (p ?x) (q ?x) (or (r ?y) (s ?x)) (or (t ?y) (u ?x)))"
    assert [str(clause) for clause in clauses_of(read_rules(rule).rules)] == [
        "(<= (p ?x) (q ?x) (r ?y) (t ?y))",
        "(<= (p ?x) (q ?x) (r ?y) (u ?x))",
        "(<= (p ?x) (q ?x) (s ?x) (t ?y))",
        "(<= (p ?x) (q ?x) (s ?x) (u ?x))",
    ]


def test_so_many_arguments_are_passed_on_in_one_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translation, "MAX_WRITTEN_OUT", 1)
    rules = read_rules("(<= (p ?x ?y) (q ?x ?y) (or a b) (or c d))").rules
    monkeypatch.setattr(disjunctions, "MAX_CARRIED", 4)
    assert len(clauses_of(rules)) == 5
    monkeypatch.setattr(disjunctions, "MAX_CARRIED", 3)
    with pytest.raises(LimitExceeded) as raised:
        clauses_of(rules)
    assert (raised.value.what, raised.value.limit) == ("variables passed from one `or` of a rule to the next", 3)


def test_a_relation_that_is_made_has_the_name_of_its_rule() -> None:
    made, own = Compound("p passes 7.1", (Variable("?x"),)), read_term("(p ?x)")
    assert [(is_passing(atom), own_name(atom)) for atom in (made, own, Constant("passes"))] == [
        (True, "p"), (False, "(p ?x)"), (False, "passes"),
    ]  # fmt: skip


def rule(body: str) -> Rule:
    (found,) = read_rules(f"(<= p {body})").rules
    return found


def shape(node: Node) -> str:
    """Return *node* as text, as `all` and `any` of its parts."""
    match node:
        case AllOf(nodes):
            return f"all({' '.join(map(shape, nodes))})"
        case AnyOf(nodes):
            return f"any({' '.join(map(shape, nodes))})"
        case Literal(atom, is_positive):
            return str(atom) if is_positive else f"-{atom}"
        case Difference(left, right, is_equal):
            return f"{left}={right}" if is_equal else f"{left}!={right}"


@pytest.mark.parametrize(
    ("body", "nodes"),
    [
        ("a (and b (and c d)) e", "all(a b c d e)"),
        ("(or a (or b (or c)) (and d (and e f)))", "all(any(a b c all(d e f)))"),
        ("(or (and a b))", "all(a b)"),
        ("(and (or a b) (or (and c (or d e))))", "all(any(a b) c any(d e))"),
        ("(not (or a (and b c) (not d)))", "all(-a any(-b -c) d)"),
        ("(not (and a (or b c)))", "all(any(-a all(-b -c)))"),
        ("(not (not (or a (not (and b c)))))", "all(any(a -b -c))"),
        ("(not (and a (not (or b c))))", "all(any(-a b c))"),
        ("(distinct ?x a) (not (distinct ?y b))", "all(?x!=a ?y=b)"),
        ("(or a (distinct b b) (and c (distinct d d)))", "all(any(a))"),
        ("(or a (not (distinct b b)))", "all(any(a b=b))"),
        ("a (distinct b b)", "all(any())"),
        ("a (or (distinct b b))", "all(any())"),
        ("(or)", "all(any())"),
        ("(and)", "all()"),
    ],
)
def test_a_body_has_its_negations_inwards_and_nothing_in_its_own_kind(body: str, nodes: str) -> None:
    assert shape(body_of(rule(body))) == nodes


@pytest.mark.parametrize(
    ("body", "given"),
    [
        ("(q ?x) (r ?y)", "?x ?y"),
        ("(or (q ?x) (and (r ?x) (s ?y)))", "?x"),
        ("(or (q ?x) (not (q ?x)))", ""),
        ("(q ?x) (or (r ?y) (s ?z))", "?x"),
        ("(not (q ?x)) (distinct ?y a)", ""),
        ("(or (and (q ?x) (or (r ?y) (s ?y))) (t ?y ?x))", "?x ?y"),
        ("(or) (q ?x)", ""),
    ],
)
def test_a_body_gives_what_all_its_branches_give(body: str, given: str) -> None:
    assert given_by(body_of(rule(body)), bindings) == set(map(Variable, given.split()))


def needs(part: Part) -> tuple[Variable, ...]:
    """Return the variables of a negated condition."""
    return () if bindings(part) or not hasattr(part, "atom") else variables(part.atom)


@pytest.mark.parametrize(
    ("body", "always", "lacking"),
    [
        ("(q ?x) (not (r ?x))", "", []),
        ("(not (r ?x)) (q ?x)", "", []),
        ("(q ?x) (not (r ?x ?y))", "", ["?y (r ?x ?y)"]),
        ("(q ?x) (not (r ?x ?y))", "?y", []),
        ("(or (q ?x) s) (not (r ?x))", "", ["?x (r ?x)"]),
        ("(or (q ?x) (s ?x)) (not (r ?x))", "", []),
        ("(or (q ?x) (not (r ?x)))", "", ["?x (r ?x)"]),
        ("(or (and (q ?x) (not (r ?x))) (not (s ?y)))", "", ["?y (s ?y)"]),
        ("(or (q ?x) (t ?x)) (or (not (r ?x)) (not (s ?z)))", "", ["?z (s ?z)"]),
        ("(or (and (q ?x) s) (and (not (r ?x)) t))", "", ["?x (r ?x)"]),
    ],
)
def test_conditions_that_lack_a_variable_in_some_branch_are_found(body: str, always: str, lacking: list[str]) -> None:
    found = uncovered(body_of(rule(body)), bindings, needs, map(Variable, always.split()))
    assert [f"{need} {part.span and part.span.text}" for part, need in found] == lacking


def test_a_condition_does_not_give_what_it_needs_itself() -> None:
    found = uncovered(body_of(rule("(q ?x) (r ?x ?y)")), bindings, bindings, ())
    assert [f"{need} {part.span and part.span.text}" for part, need in found] == ["?y (r ?x ?y)"]


@pytest.mark.parametrize(
    ("body", "through", "parts"),
    [
        ("(or s t)", "t", ["t"]),
        ("(or s (and t (q ?x)))", "t", None),
        ("(or (q ?x) s) (not (r ?x))", "(r ?x)", ["s", "(r ?x)"]),
        ("(or (q ?x) s) (not (r ?x))", None, ["s", "(r ?x)"]),
        ("(or (q ?x) (s ?x)) t", None, None),
        ("(or s t (q ?x)) u", "t", ["t", "u"]),
        ("(or s (and t (or u v))) w", "v", ["t", "v", "w"]),
        ("(or s (q ?x)) u", "(q ?x)", ["(q ?x)", "u"]),
        ("(q ?x) (or s t)", "t", None),
    ],
)
def test_branches_are_chosen_in_which_nothing_gives_a_variable(
    body: str, through: str | None, parts: list[str] | None
) -> None:
    whole = body_of(rule(body))
    part = next((one for one in parts_of(whole) if one.span and one.span.text == through), None)
    found = alternative(whole, bindings, Variable("?x"), part)
    assert (None if found is None else [one.span and one.span.text for one in found]) == parts
