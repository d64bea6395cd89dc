"""What evaluation knows of clauses: layers of relations, what provides them, their facts, and what is derived whole."""

from __future__ import annotations

import pytest

from gdl.datalog.program import Layer, Program, Query
from gdl.datalog.translation import clauses_of
from gdl.language.kif import read_term
from gdl.language.rules import read_rules
from gdl.language.terms import Compound, Constant

RULES = """
(role r) (succ 1 2) (succ 2 3) (init (at 1)) (legal r stay)
(<= (less ?x ?y) (succ ?x ?y)) (<= (less ?x ?z) (less ?x ?y) (succ ?y ?z))
(<= (legal r (go ?y)) (true (at ?x)) (less ?x ?y))
(<= (open ?x) (succ ?x ?y) (not (true (at ?x))))
(<= (moved ?m) (does r ?m) (open 1))
(<= (next (at ?y)) (does r (go ?y)))
(<= (next ?f) (true ?f) (moved stay))
(<= free (not moved))
"""


def program(rules: str = RULES) -> Program:
    return Program(clauses_of(read_rules(rules).rules))


@pytest.mark.parametrize(
    ("key", "layer"),
    [
        (("succ", "", 2), Layer.STATIC),
        (("less", "", 2), Layer.STATIC),
        (("unknown", "", 1), Layer.STATIC),
        (("true", "at", 1), Layer.STATE),
        (("true", "at", 2), Layer.STATE),
        (("legal", "go", 2), Layer.STATE),
        (("open", "", 1), Layer.STATE),
        (("open", "", 2), Layer.STATIC),
        (("does", "go", 2), Layer.MOVE),
        (("moved", "", 1), Layer.MOVE),
        (("moved", "", 0), Layer.STATIC),
        (("next", "?", 1), Layer.MOVE),
        (("free", "", 0), Layer.STATIC),
    ],
)
def test_a_relation_is_as_high_as_the_highest_that_it_depends_on(key: tuple[str, str, int], layer: Layer) -> None:
    assert program().layer(key) is layer


def test_a_query_needs_the_components_that_derive_it() -> None:
    found = program()
    heads = {
        text: {str(found.clauses[i].head) for number in asked for i in found.components[number].clauses}
        for text in ("(less 1 ?x)", "(legal ?r ?m)", "(next (at 3))", "(next (on ?x))", "(succ ?x ?y)")
        for asked in [found.query(atom(text)).components]
    }
    assert heads == {
        "(less 1 ?x)": {"(less ?x ?y)", "(less ?x ?z)"},
        "(legal ?r ?m)": {"(legal r (go ?y))"},
        "(next (at 3))": {"(next (at ?y))", "(next ?f)"},
        "(next (on ?x))": {"(next ?f)"},
        "(succ ?x ?y)": set(),
    }
    asked = found.query(atom("(less 1 ?x)"))
    assert (asked, found.query(atom("(less 1 ?x)"))) == (Query(atom("(less 1 ?x)"), asked.components), asked)


def test_facts_are_kept_where_their_atoms_are() -> None:
    facts = {key: [" ".join(map(str, row)) for row in rows] for key, rows in program().facts.items()}
    assert facts == {
        ("role", "", 1): ["r"],
        ("succ", "", 2): ["1 2", "2 3"],
        ("init", "at", 1): ["1"],
        ("legal", "stay", 0): ["r"],
    }


def test_relations_of_any_functor_are_those_that_a_condition_asks_so() -> None:
    assert program().wildcards == {"true", "does"}


def test_a_condition_needs_its_providers_but_for_the_component_that_asks() -> None:
    found = program()
    needs = {str(clause.head): needed for clause, needed in zip(found.clauses, found.needs, strict=True)}
    less = found.providers(atom("(less ?x ?y)"))
    assert len(less) == 2  # the rule without recursion is another component
    base, recursive = less
    assert needs["(less ?x ?z)"] == ((base,), ())
    assert needs["(legal r (go ?y))"] == ((), less)
    assert recursive > base


def test_relations_that_wrap_terms_and_those_accepted_are_derived_whole() -> None:
    found = Program(clauses_of(read_rules(RULES).rules), [("less", 2)])
    keys = [("less", "", 2), ("less", "", 1), ("open", "", 1), ("legal", "go", 2), ("legal", "?", 2)]
    assert [found.is_accepted(key) for key in keys] == [True, False, False, True, True]


def test_a_plan_is_kept_until_a_new_one_is_made() -> None:
    found = program()
    assert (found.plan(0), found.plan(1, 0)) == (None, None)
    plan, other = found.make_plan(1), found.make_plan(1, 0)
    assert (found.plan(0), found.plan(1) is plan, found.plan(1, 0) is other, found.plan(1, 1)) == (
        None, True, True, None,
    )  # fmt: skip
    assert found.make_plan(1) is not plan


def atom(text: str) -> Constant | Compound:
    found = read_term(text)
    assert isinstance(found, Constant | Compound)
    return found
