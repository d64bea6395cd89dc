"""The order of evaluation: what is needed comes first, and nothing needs its own negation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.datalog.clauses import Clause
from gdl.datalog.dependencies import Heads, stratify
from gdl.datalog.translation import clauses_of
from gdl.errors import StratificationError
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
