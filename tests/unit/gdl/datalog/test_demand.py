"""Relations that are derived on demand: the demands, and what they may depend on."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gdl.datalog.clauses import Clause
from gdl.datalog.demand import asked_with_constants, can_be_chosen, on_demand
from gdl.datalog.translation import clauses_of
from gdl.language.rules import read_rules
from gdl.language.terms import signature
from tests.fuzz.generator import random_game

RULES = """
(thing a) (thing b)
(<= (legal r (take ?x)) (thing ?x))
(<= (free ?x) (thing ?x) (not (near ?x b)))
(<= (near ?x ?y) (true (at ?x ?y)))
(<= (sees r (take ?x)) (does r (take ?x)) (not (free ?x)))
(<= (next (at ?x b)) (does r (take ?x)) (true (on ?x)) (free ?x))
"""


def rewritten(rules: str, relation: tuple[str, int], *, may_change: bool = False) -> list[str]:
    """Return the clauses that name *relation*, derived on demand, or a copy or demand of it."""
    clauses = on_demand(clauses_of(read_rules(rules).rules), {relation}, may_change=may_change)
    return [text for text in map(str, clauses) if relation[0] in text]


def stages(clauses: Sequence[Clause]) -> dict[str, int]:
    """Return what each relation depends on: 0 for nothing that changes, 1 for the state, 2 for the joint move, too."""
    found = {"true": 1, "does": 2}
    while True:
        before = dict(found)
        for clause in clauses:
            name = signature(clause.head)[0]
            found[name] = max(
                found.get(name, 0), *(found.get(signature(each.atom)[0], 0) for each in clause.literals), 0
            )
        if found == before:
            return found


@pytest.mark.parametrize(
    ("relation", "is_so"),
    [(("p", 1), True), (("p", 3), True), (("p", 0), False), (("asked 0", 1), False), (("true", 1), False),
     (("legal", 3), False), (("sees", 2), False)],
)  # fmt: skip
def test_relations_with_arguments_and_no_meaning_of_their_own_can_be_chosen(
    relation: tuple[str, int], is_so: bool
) -> None:
    assert can_be_chosen(relation) is is_so


@pytest.mark.parametrize(
    ("rules", "found"),
    [
        ("(<= (p ?x) (q ?x)) (<= r (p a))", {("p", 1)}),
        ("(<= (p ?x ?y) (q ?x ?y)) (<= r (p ?x (f a))) (<= r (p b ?x))", {("p", 2)}),
        ("(<= (p ?x) (q ?x)) (<= r (p a)) (<= s (p ?x))", set()),
        ("(<= (p ?x) (q ?x)) (<= s (p ?x)) (<= r (p a))", set()),
        ("(<= (p ?x) (q ?x)) (<= (p ?x) (p ?x)) (<= r (not (p a)))", {("p", 1)}),
        ("(<= (p ?x) (q ?x)) (<= r (p (f ?x)) (q ?x))", set()),
        ("(<= (p ?x) (q ?x))", set()),
        ("(p a) (<= r (p a))", set()),
        ("(<= (legal r ?x) (q ?x)) (<= r (legal r a))", set()),
        ("(<= p q) (<= r p)", set()),
    ],
)
def test_relations_that_are_always_asked_with_a_constant(rules: str, found: set[tuple[str, int]]) -> None:
    assert asked_with_constants(clauses_of(read_rules(rules).rules)) == found


def test_a_demand_of_what_does_not_depend_on_the_move_does_not_either() -> None:
    assert rewritten(RULES, ("free", 1)) == [
        "(<= (sees r (take ?x)) (does r (take ?x)) (not (free ?x)))",
        "(<= (next (at ?x b)) (does r (take ?x)) (true (on ?x)) (free 0 ?x))",
        "(<= (demand free 0 ?x) (true (on ?x)))",
        "(<= (free ?x) (thing ?x) (not (near ?x b)))",
        "(<= (free 0 ?x) (demand free 0 ?x) (thing ?x) (not (near ?x b)))",
    ]


def test_a_demand_is_made_of_the_conditions_that_are_connected_with_it_and_those_without_variables() -> None:
    rules = """
    (<= (q ?x) (a ?x ?y) flag (c ?w) (b ?y ?z) (r ?z ?w))
    (<= (r ?x ?y) (s ?x ?y))
    (<= terminal (k ?x) (q ?x))
    """
    found = on_demand(clauses_of(read_rules(rules).rules), {("q", 1), ("r", 2)})
    assert [str(clause) for clause in found] == [
        "(<= terminal (k ?x) (q 0 ?x))",
        "(<= (demand q 0 ?x) (k ?x))",
        "(<= (q 0 ?x) (demand q 0 ?x) (a ?x ?y) flag (c ?w) (b ?y ?z) (r 0 ?z ?w))",
        "(<= (demand r 0 ?z) (demand q 0 ?x) (a ?x ?y) flag (b ?y ?z))",
        "(<= (r 0 ?x ?y) (demand r 0 ?x) (s ?x ?y))",
    ]


def test_a_demand_asks_what_was_answered_before_it() -> None:
    own, asking = "(<= (r ?x ?y) (s ?x ?y))", "(<= (q ?x) (r ?x ?y) (r ?y ?z) (not (r ?z ?x)))"
    top = "(<= terminal (k ?x) (q ?x))"
    found = on_demand(clauses_of(read_rules(f"{asking} {own} {top}").rules), {("q", 1), ("r", 2)})
    assert [(str(clause), clause.span.text) for clause in found] == [
        ("(<= terminal (k ?x) (q 0 ?x))", top),
        ("(<= (demand q 0 ?x) (k ?x))", top),
        ("(<= (q 0 ?x) (demand q 0 ?x) (r 0 ?x ?y) (r 0 ?y ?z) (not (r 0,1 ?z ?x)))", asking),
        ("(<= (demand r 0 ?x) (demand q 0 ?x))", asking),
        ("(<= (demand r 0 ?y) (demand q 0 ?x) (r 0 ?x ?y))", asking),
        ("(<= (demand r 0,1 ?z ?x) (demand q 0 ?x) (r 0 ?x ?y) (r 0 ?y ?z))", asking),
        ("(<= (r 0 ?x ?y) (demand r 0 ?x) (s ?x ?y))", own),
        ("(<= (r 0,1 ?x ?y) (demand r 0,1 ?x ?y) (s ?x ?y))", own),
    ]


def test_a_copy_depends_on_what_tells_most_and_of_that_on_least() -> None:
    rules = """
    (<= (apart ?x ?y) (step ?x ?y))
    (<= (p ?x) (true (at ?z)) (thing ?x) (apart ?x ?y))
    (<= (q ?x) (apart ?x ?y) (true (at ?x)))
    (<= (r ?x) (true (at ?y)) (does ?r ?y) (thing ?x) (apart ?x ?y))
    """
    assert rewritten(rules, ("apart", 2), may_change=True) == [
        "(<= (p ?x) (true (at ?z)) (thing ?x) (apart 0 ?x ?y))",
        "(<= (demand apart 0 ?x) (thing ?x))",
        "(<= (q ?x) (apart 0 1 ?x ?y) (true (at ?x)))",
        "(<= (demand apart 0 1 ?x) (true (at ?x)))",
        "(<= (r ?x) (true (at ?y)) (does ?r ?y) (thing ?x) (apart 0,1 1 ?x ?y))",
        "(<= (demand apart 0,1 1 ?x ?y) (true (at ?y)) (thing ?x))",
        "(<= (apart 0 ?x ?y) (demand apart 0 ?x) (step ?x ?y))",
        "(<= (apart 0 1 ?x ?y) (demand apart 0 1 ?x) (step ?x ?y))",
        "(<= (apart 0,1 1 ?x ?y) (demand apart 0,1 1 ?x ?y) (step ?x ?y))",
    ]


def test_a_relation_that_is_asked_whole_asks_itself_whole() -> None:
    rules = """
    (step a b)
    (<= (apart ?x ?x) (thing ?x))
    (<= (apart ?x ?z) (apart ?x ?y) (step ?y ?z))
    (<= (next (at ?x ?y)) (true (at ?x ?y)) (apart ?x ?y))
    (<= (goal r 100) (true (at ?x ?y)) (apart ?x ?z))
    """
    assert rewritten(rules, ("apart", 2)) == [
        "(<= (next (at ?x ?y)) (true (at ?x ?y)) (apart ?x ?y))",
        "(<= (goal r 100) (true (at ?x ?y)) (apart ?x ?z))",
        "(<= (apart ?x ?x) (thing ?x))",
        "(<= (apart ?x ?z) (apart ?x ?y) (step ?y ?z))",
    ]


def test_what_a_state_tells_narrows_what_does_not_change_in_a_copy_of_its_own() -> None:
    rules = """
    (step a b)
    (<= (apart ?x ?x) (thing ?x))
    (<= (apart ?x ?z) (step ?y ?z) (apart ?x ?y))
    (<= (same ?x) (thing ?x) (apart ?x ?x))
    (<= (terminal) (true (at ?x ?y)) (apart ?x ?y))
    """
    assert rewritten(rules, ("apart", 2), may_change=True) == [
        "(<= (same ?x) (thing ?x) (apart 0,1 ?x ?x))",
        "(<= (demand apart 0,1 ?x ?x) (thing ?x))",
        "(<= terminal (true (at ?x ?y)) (apart 0,1 1 ?x ?y))",
        "(<= (demand apart 0,1 1 ?x ?y) (true (at ?x ?y)))",
        "(<= (apart 0,1 ?x ?x) (demand apart 0,1 ?x ?x) (thing ?x))",
        "(<= (apart 0,1 ?x ?z) (demand apart 0,1 ?x ?z) (step ?y ?z) (apart 0,1 ?x ?y))",
        "(<= (demand apart 0,1 ?x ?y) (demand apart 0,1 ?x ?z) (step ?y ?z))",
        "(<= (apart 0,1 1 ?x ?x) (demand apart 0,1 1 ?x ?x) (thing ?x))",
        "(<= (apart 0,1 1 ?x ?z) (demand apart 0,1 1 ?x ?z) (step ?y ?z) (apart 0,1 1 ?x ?y))",
        "(<= (demand apart 0,1 1 ?x ?y) (demand apart 0,1 1 ?x ?z) (step ?y ?z))",
    ]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", [*range(20), 213, 275, 279])
def test_what_is_derived_on_demand_depends_on_no_more_than_its_relation(seed: int) -> None:
    clauses = clauses_of(read_rules(random_game(seed).text).rules)
    derived = {signature(clause.head) for clause in clauses if clause.literals}
    before, after = stages(clauses), stages(on_demand(clauses, frozenset(filter(can_be_chosen, derived))))
    assert {name: stage for name, stage in after.items() if stage > before[_relation_of(name)]} == {}


def _relation_of(name: str) -> str:
    """Return the name of the relation that a copy or a demand called *name* is of."""
    return name.removeprefix("demand ").split(" ", 1)[0]
