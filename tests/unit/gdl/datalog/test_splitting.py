"""Relations without don't-care arguments: the rules say the same, and fewer atoms are derived."""

from __future__ import annotations

import pytest

from gdl.datalog.splitting import Splitting, split
from gdl.datalog.translation import clauses_of
from gdl.language.rules import read_rules

KINDS = "(kind a) (kind b) (e a b) (e b a) "


def texts(rules: str) -> list[str]:
    facts = [str(clause) for clause in clauses_of(read_rules(KINDS).rules)]
    found = [str(clause) for clause in split(clauses_of(read_rules(KINDS + rules).rules))]
    return [text for text in found if text not in facts]


def test_an_idle_argument_is_left_out_and_asked_for_its_kind() -> None:
    rules = "(<= (near ?x ?y ?i) (e ?x ?y) (kind ?i)) (<= (legal r (go ?x ?z)) (near ?x ?y ?z))"
    assert texts(rules) == [
        "(<= (near without 2 ?x ?y) (e ?x ?y))",
        "(<= (legal r (go ?x ?z)) (near without 2 ?x ?y) (kind ?z))",
    ]


def test_a_recursive_rule_that_hands_an_idle_argument_on_does_without() -> None:
    rules = """
    (<= (near ?x ?y ?i) (e ?x ?y) (kind ?i))
    (<= (near ?x ?z ?i) (e ?x ?y) (near ?y ?z ?i))
    (<= (near ?x ?z ?y) (e ?x ?y) (near ?y ?z ?y))
    """
    assert texts(rules) == [
        "(<= (near without 2 ?x ?y) (e ?x ?y))",
        "(<= (near without 2 ?x ?z) (e ?x ?y) (near without 2 ?y ?z))",
        "(<= (near without nothing ?x ?z ?i) (e ?x ?y) (near without nothing ?y ?z ?i))",
        "(<= (near without nothing ?x ?z ?y) (e ?x ?y) (near without 2 ?y ?z) (kind ?y))",
        "(<= (near without nothing ?x ?z ?y) (e ?x ?y) (near without nothing ?y ?z ?y))",
    ]


def test_who_must_not_find_an_atom_must_find_it_in_no_version() -> None:
    rules = """
    (<= (near ?x ?i) (e ?x ?y) (kind ?i)) (<= (near ?x ?y) (e ?y ?x))
    (<= (legal r (go ?x ?y)) (e ?x ?y) (not (near ?x ?y)))
    """
    assert texts(rules)[-1] == (
        "(<= (legal r (go ?x ?y)) (e ?x ?y) (not (near without 1 ?x)) (not (near without nothing ?x ?y)))"
    )


def test_what_may_be_of_no_kind_is_asked_of_the_whole_relation() -> None:
    rules = """
    (init (at c)) (<= (near ?x ?i) (e ?x ?y) (kind ?i))
    (<= (legal r (go ?x ?y)) (e ?x ?z) (true (at ?y)) (not (near ?x ?y)))
    """
    assert texts(rules)[1:] == [
        "(<= (near without 1 ?x) (e ?x ?y))",
        "(<= (legal r (go ?x ?y)) (e ?x ?z) (true (at ?y)) (not (near ?x ?y)))",
        "(<= (near ?0 ?1) (near without 1 ?0) (kind ?1))",
    ]


@pytest.mark.parametrize(
    "rules",
    [
        "(<= (near ?x ?i) (e ?x ?i) (kind ?i))",
        "(<= (near ?x ?i) (e ?x ?y) (kind ?i) (distinct ?x ?i))",
        "(<= (near ?i ?i) (e ?x ?y) (kind ?i))",
        "(<= (near ?x (f ?i)) (e ?x ?y) (kind ?i))",
        "(<= (near ?x ?i) (e ?x ?y) (true ?i))",
        "(<= (legal r ?i) (e ?x ?y) (kind ?i))",
        "(<= (sees r ?i) (e ?x ?y) (kind ?i))",
    ],
)
def test_an_argument_that_matters_stays(rules: str) -> None:
    clauses = clauses_of(read_rules(KINDS + rules).rules)
    assert split(clauses) == clauses


def chain(n: int) -> str:
    """Return rules of which each waits for the next to say which argument does not matter."""
    handed_on = (f"(<= (near{i} ?x ?skipped) (near{i + 1} ?x ?skipped))" for i in range(n))
    return " ".join((*handed_on, f"(<= (near{n} ?x ?skipped) (e ?x ?y) (kind ?skipped))"))


def test_a_long_chain_is_split_from_its_end() -> None:
    handed_on = [f"(<= (near{i} without 1 ?x) (near{i + 1} without 1 ?x))" for i in range(20)]
    assert texts(chain(20)) == [*handed_on, "(<= (near20 without 1 ?x) (e ?x ?y))"]


@pytest.mark.parametrize("n", [50, 500])
def test_each_rule_of_a_chain_is_looked_at_a_few_times(n: int) -> None:
    clauses = clauses_of(read_rules(KINDS + chain(n)).rules)
    work = Splitting(clauses)
    assert work.split() == split(clauses)
    assert work.n_looks < 4 * len(clauses)
