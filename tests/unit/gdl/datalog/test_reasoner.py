"""What a question costs: relations that are asked for a part are derived for that part, and limits hold exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from gdl.datalog import model
from gdl.datalog.reasoner import Reasoner
from gdl.datalog.translation import clauses_of
from gdl.errors import LimitExceeded
from gdl.game import DEFAULT_LIMITS, EvaluationLimits
from gdl.language.kif import read_term
from gdl.language.rules import read_rules
from gdl.language.terms import Compound, Constant

N: Final = 12
MAX_ROWS: Final = 1_000
PRODUCT: Final = "".join(f"(d {i})" for i in range(N)) + "(<= (p ?x ?y ?z) (d ?x) (d ?y) (d ?z))"
"""A relation of more rows than are allowed."""


def rows(n: int) -> EvaluationLimits:
    return EvaluationLimits(max_rows=n)


def depth(n: int) -> EvaluationLimits:
    return EvaluationLimits(max_term_depth=n)


def symbols(n: int) -> EvaluationLimits:
    return EvaluationLimits(max_term_symbols=n)


def holds(rules: str, limits: EvaluationLimits = DEFAULT_LIMITS, question: str = "yes") -> bool:
    """Return whether *question* has an answer in the state where `(true 1)` and `(true 2)` hold."""
    reasoner = Reasoner(clauses_of(read_rules(rules).rules), limits)
    atom = read_term(question)
    assert isinstance(atom, Constant | Compound)
    return bool(reasoner.answers(atom, frozenset([Constant("1"), Constant("2")])))


@pytest.mark.parametrize(
    "rules",
    [
        "(<= yes (p 1 2 3))",
        "(<= yes (true ?x) (p ?x ?x ?x))",
        "(<= yes (true ?x) (not (p ?x a ?x)))",
        "(<= (q ?z ?y ?x) (p ?x ?y ?z)) (<= yes (q 1 2 3))",
        "(<= (q ?z ?y ?x) (p ?x ?y ?z)) (<= yes (true ?x) (q ?x 2 ?x))",
        "(<= (q ?z ?y ?x) (p ?x ?y ?z)) (<= (r ?x ?y ?z) (q ?y ?x ?z)) (<= yes (r 1 2 3))",
        "(<= (q ?z ?y ?x) (p ?x ?y ?z)) (<= (q ?x ?y ?z) (q ?y ?z ?x)) (<= yes (q 1 2 3))",
        "(<= (q ?x ?y ?z) (p ?x ?y ?z)) (<= (r ?x ?y ?z) (q ?x ?y ?z)) (<= (q ?x ?y ?z) (r ?y ?z ?x)) "
        "(<= yes (r 1 2 3))",
        "(<= (q ?z ?y ?x) (p ?x ?y ?z)) (<= t (q 1 2 3)) (<= yes t (not (q 1 2 a)))",
        "(<= (p ?x ?y ?z) (p ?y ?z ?x)) (<= yes (p 1 2 3) (not (p 1 2 a)))",
    ],
)
def test_a_relation_asked_for_a_part_is_derived_for_that_part(rules: str) -> None:
    assert holds(PRODUCT + rules, rows(MAX_ROWS))


@pytest.mark.parametrize(
    "rules",
    [
        "(<= yes (p ?x ?y ?z) (distinct ?x ?y) (distinct ?y ?z) (distinct ?x ?z))",
        "(<= (q ?z ?y ?x) (p ?x ?y ?z)) (<= yes (q ?x ?y ?z) (distinct ?x ?y) (distinct ?y ?z) (distinct ?x ?z))",
        "(<= (q ?x ?y ?z) (p ?x ?y ?z)) (<= (r ?x ?y ?z) (q ?x ?y ?z)) (<= (q ?x ?y ?z) (r ?x ?y ?z)) "
        "(<= yes (r ?x ?y ?z) (distinct ?x ?y) (distinct ?y ?z) (distinct ?x ?z))",
        # A demand would depend on the negation of its answer.
        "(s 1) (<= (s ?x) (t ?x) (p ?x ?x ?x)) (<= (t ?x) (s ?x) (not (p ?x ?x a))) (<= yes (t 1))",
    ],
)
def test_a_relation_asked_whole_is_derived_whole(rules: str) -> None:
    assert holds(PRODUCT + rules, rows(N**3))
    with pytest.raises(LimitExceeded):
        holds(PRODUCT + rules, rows(N**3 - 1))


FIVE: Final = "(d 0) (d 1) (d 2) (d 3) (d 4)"
PAIRS: Final = "".join(f"(e {i} {j})" for i in range(3) for j in range(4))


@pytest.mark.parametrize(
    ("rules", "at_most", "least"),
    [
        (f"{FIVE} (<= yes (d 1))", rows, 5),
        (f"{FIVE} (<= yes (d ?x) (d ?y) (distinct ?x ?y))", rows, 5 * 5),
        (f"{PAIRS} (<= yes (e ?x ?y) (e ?y ?z) (distinct ?x ?z))", rows, 3 * 3 * 4),
        (f"{FIVE} (<= (legal r ?x) (d ?x)) (<= yes (legal ?r ?x))", rows, 5),
        (f"{FIVE} (<= (legal r (f ?x)) (d ?x)) (<= (legal r (g ?x)) (d ?x)) (<= yes (legal ?r ?x))", rows, 10),
        ("(e 1 2) (e 2 3) (e 3 4) (n 1) (<= (n ?y) (n ?x) (e ?x ?y)) (<= yes (n 4))", rows, 4),
        ("(q 1) (<= (p (f (f ?x))) (q ?x)) (<= yes (p ?x))", depth, 2),
        ("(q 1) (<= (p (f (f ?x))) (q ?x)) (<= yes (p ?x))", symbols, 3),
        ("(<= (legal r (f ?x ?x)) (true ?x)) (<= yes (legal ?r ?x))", depth, 1),
        ("(<= (legal r (f ?x ?x)) (true ?x)) (<= yes (legal ?r ?x))", symbols, 3),
    ],
)
def test_an_answer_costs_exactly_so_much(rules: str, at_most: Callable[[int], EvaluationLimits], least: int) -> None:
    assert holds(rules, at_most(least))
    with pytest.raises(LimitExceeded):
        holds(rules, at_most(least - 1))


def test_terms_that_have_to_be_made_are_made_on_demand_where_they_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "LARGE_ROWS_OF_NEW_TERMS", 3)
    assert holds(f"{FIVE} (<= (p (f ?x)) (d ?x)) (<= yes (p (f 1)) (not (p (f a))))")
    assert holds(f"{FIVE} (<= (legal r (f ?x)) (d ?x)) (<= yes (legal r (f 1)))")
    assert holds(f"{FIVE} (<= (p (f ?x)) (d ?x)) (<= yes (p ?x) (distinct ?x 1))")


def test_an_answer_is_no_larger_than_a_term_may_be() -> None:
    assert holds("(p (f a b))", symbols(3), "(p ?x)")
    with pytest.raises(LimitExceeded):
        holds("(p (f a b))", symbols(2), "(p ?x)")


def test_recursion_joins_only_what_is_new() -> None:
    rules = "".join(f"(e {i} {i + 1}) (d {i})" for i in range(30))
    rules += "(n 0) (<= (n ?y) (n ?x) (e ?x ?y) (d ?k) (d ?l) (distinct ?k ?l) (distinct ?k ?x)) (<= yes (n 30))"
    assert holds(rules, rows(30 * 30))


def test_a_chain_of_rules_is_as_long_as_it_likes() -> None:
    rules = "(p0 a)" + "".join(f"(<= (p{i + 1} ?x) (p{i} ?x) (not (q{i} ?x)))" for i in range(600))
    assert holds(rules, question="(p600 ?x)")


def test_every_question_has_its_own_time() -> None:
    n_looks = 0

    def clock() -> float:
        nonlocal n_looks
        n_looks += 1
        return float(n_looks)

    rules = "(n 0)" + "".join(f"(e {i} {i + 1})" for i in range(100))
    rules += "(<= (n ?y) (n ?x) (e ?x ?y)) (<= long (true 1) (n 100)) (<= short (true 1))"
    reasoner = Reasoner(clauses_of(read_rules(rules).rules), EvaluationLimits(max_seconds=50, clock=clock))
    state = frozenset([Constant("1")])
    for _ in range(30):
        assert reasoner.answers(Constant("short"), state)
    for _ in range(2):
        with pytest.raises(LimitExceeded):
            reasoner.answers(Constant("long"), state)
        assert reasoner.answers(Constant("short"), state)
