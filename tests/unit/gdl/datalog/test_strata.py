"""The order of evaluation: what is needed comes first, and nothing needs its own negation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.datalog.clauses import Clause
from gdl.datalog.strata import Heads, dependencies_of, stratify
from gdl.datalog.translation import clauses_of
from gdl.errors import LimitExceeded, StratificationError
from gdl.language.kif import read_term
from gdl.language.rules import read_rules
from gdl.language.terms import Compound, Constant, Term, can_meet

LEAVES: st.SearchStrategy[Term] = st.sampled_from([read_term(text) for text in ("?x", "?y", "a", "b", "(f a)")])
ARGUMENTS = LEAVES | LEAVES.map(lambda leaf: Compound("f", (leaf,)))
ATOMS = st.builds(Compound, st.sampled_from("pq"), st.lists(ARGUMENTS, min_size=1, max_size=2).map(tuple))


def clauses(text: str) -> tuple[Clause, ...]:
    return clauses_of(read_rules(text).rules)


@given(st.lists(ATOMS, max_size=8), ATOMS)
def test_heads_are_found_exactly_where_they_can_meet_the_atom(heads: list[Compound], atom: Compound) -> None:
    span = read_rules("p").rules[0].span
    found = Heads([Clause(head, (), (), span) for head in heads]).meeting(atom)
    assert found == tuple(i for i, head in enumerate(heads) if can_meet(atom, head))


def test_a_proposition_meets_itself_alone() -> None:
    assert Heads(clauses("p (p a) q")).meeting(Constant("p")) == (0,)


def test_components_come_after_what_they_need() -> None:
    strata = stratify(clauses("(<= a b) (<= b c d) (<= c b) (<= d e)"))
    found = [(part.clauses, part.needs, part.height, part.is_recursive) for part in strata.components]
    assert found == [((3,), (), 0, False), ((1, 2), (0,), 1, True), ((0,), (1,), 2, False)]
    assert strata.component_of == (2, 1, 1, 0)


@pytest.mark.parametrize(
    "rules",
    [
        "(<= (goal ?r 50) (role ?r) (not (goal ?r 100)))",
        "(<= (p a ?x) (d ?x) (not (p b ?x))) (<= (p b ?x) (d ?x))",
        "(<= (p (s ?x)) (d ?x) (not (p z)))",
    ],
)
def test_negation_of_other_instances_of_a_relation_is_no_cycle(rules: str) -> None:
    assert len(stratify(clauses(rules)).components) == len(clauses(rules))


@pytest.mark.parametrize(
    ("rules", "cycle"),
    [
        ("(<= p (not p))", ("p", "not p")),
        ("(<= p (not q)) (<= q r) (<= r p)", ("p", "not q", "r", "p")),
        ("(<= (p ?x) (d ?x) (not (p a)))", ("(p ?x)", "not (p ?x)")),
        ("(<= (goal ?r ?x) (d ?r ?x) (not (goal ?r 100)))", ("(goal ?r ?x)", "not (goal ?r ?x)")),
    ],
)
def test_a_cycle_through_a_negation_is_named(rules: str, cycle: tuple[str, ...]) -> None:
    with pytest.raises(StratificationError) as raised:
        stratify(clauses(rules))
    assert raised.value.cycle == cycle


def test_the_rule_that_begins_a_cycle_is_shown_with_what_to_do() -> None:
    with pytest.raises(StratificationError) as raised:
        stratify(clauses("(<= r p) (<= p (s a) (not q)) (<= q (s a) r)"))
    error = raised.value
    assert (error.message, error.span and error.span.text, error.hint) == (
        "this rule makes p depend on its own negation: p <- not q <- r <- p",
        "(<= p (s a) (not q))",
        "break the cycle: let the negated relation be defined without this one",
    )


def test_a_cycle_through_a_relation_made_for_an_or_has_the_name_of_its_rule_once() -> None:
    ors = " ".join(f"(or a{i} b{i})" for i in range(10))
    with pytest.raises(StratificationError) as raised:
        stratify(clauses(f"(<= p {ors} (or q (not p)))"))
    assert raised.value.cycle == ("p", "not p")


def test_a_dependency_is_negative_where_one_condition_of_several_is() -> None:
    found = dependencies_of(clauses("(<= p q (not q)) (<= q p) (<= r (not q) q)"))
    assert found.edges == [{1: True}, {0: False}, {1: True}]


def test_dependencies_are_counted_up_to_a_limit() -> None:
    rules = clauses("(<= p q) (<= p (not q)) (<= q r) (<= q s)")
    assert dependencies_of(rules, limit=4).edges == [{2: False, 3: False}, {2: True, 3: True}, {}, {}]
    with pytest.raises(LimitExceeded) as raised:
        dependencies_of(rules, limit=3)
    assert (raised.value.what, raised.value.limit) == ("dependencies between rules", 3)


def test_components_that_need_several_are_as_high_as_the_highest() -> None:
    found = stratify(clauses("(<= a x) (<= b a) (<= c b a) (<= d a)")).components
    assert [(part.needs, part.height) for part in found] == [((), 0), ((0,), 1), ((0, 1), 2), ((0,), 1)]
