"""Plans of bodies: the order of their conditions, what each looks up, and which columns are kept after it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

from gdl.datalog.joins import Compare, JoinPlan, Planner
from gdl.datalog.relations import Access, Relation, Sizes
from gdl.datalog.translation import clauses_of
from gdl.language.rules import read_rules
from gdl.language.terms import Constant, Term

N_ROWS: Final = {"small": 4, "large": 60}


def sizes() -> Sizes:
    """Return what is known of relations of two columns, of which the first has two values and the other many."""
    found = Sizes()
    for name, n_rows in N_ROWS.items():
        found.count((name, "", 2), Relation((Constant(f"{i % 2}"), Constant(f"{i}")) for i in range(n_rows)))
    return found


def described(plan: JoinPlan) -> Iterator[str]:
    """Yield each step with the columns that it reads of the rows before it, and those that it keeps; then the head."""
    width = 0
    for step in plan.steps:
        row: tuple[Term, ...] = tuple(Constant(f"{i}") for i in range(width))
        if isinstance(step, Compare):
            what = f"{step.left(row)} differs from {step.right(row)}"
        else:
            by = "" if step.key_of is None else f" by {_text(step.key_of(row))}"
            what = f"{'' if step.is_positive else 'not '}{' '.join(filter(None, step.relation[:2]))}"
            what += f"{by} in {_access(step.access)}"
            row += tuple(Constant(f"{width + i}") for i in range(len(step.access.out)))
        kept = row if step.keep is None else step.keep(row)
        width = len(kept)
        yield what if step.keep is None else f"{what}, keep {_text(kept) or 'nothing'}"
    yield f"{plan.head[0]} {_text(plan.build(tuple(Constant(f'{i}') for i in range(width))))}".strip()


def _text(columns: object) -> str:
    return " ".join(map(str, columns)) if isinstance(columns, tuple) else str(columns)


def _access(access: Access) -> str:
    parts = {
        "open": [f"{column}:{functor}/{arity}" for column, functor, arity in access.expansions],
        "constants": [f"{column}={term}" for column, term in access.constants],
        "equal": [f"{a}={b}" for a, b in access.equal],
        "key": access.key,
        "out": access.out,
    }
    return "; ".join([str(access.width), *(f"{name} {_text(tuple(part))}" for name, part in parts.items() if part)])


@pytest.mark.parametrize(
    ("rule", "first", "steps", "expected_rows", "makes_terms"),
    [
        (
            "(<= (p ?x) (q ?x ?y))", None,
            ["q in 2; out 0", "p 0"],
            65, False,
        ),
        (
            "(<= (p ?x b ?x) (q ?x ?y) (r ?y))", None,
            ["r in 1; out 0", "q by 0 in 2; key 1; out 0, keep 1", "p 0 b 0"],
            73, False,
        ),
        (
            "(<= (p (f ?x (g ?y)) (h a)) (q ?y ?x))", None,
            ["q in 2; out 0 1", "p (f 1 (g 0)) (h a)"],
            65, True,
        ),
        (
            "(<= (p (h a) ?y) (q (f a)) (r ?y))", None,
            ["q in 1; constants 0=(f a)", "r in 1; out 0", "p (h a) 0"],
            5.5, False,
        ),
        (
            "(<= p (q a ?y) (r ?y b))", None,
            ["q in 2; constants 0=a; out 1", "r by 0 in 2; constants 1=b; key 0, keep nothing", "p"],
            13, False,
        ),
        (
            "(<= (p ?x) (q ?x ?x))", None,
            ["q in 2; equal 0=1; out 0", "p 0"],
            65, False,
        ),
        (
            "(<= (p ?y) (q (f ?x (g ?y)) ?x))", None,
            ["q in 2; open 0:f/2 3:g/1; equal 1=2; out 4", "p 0"],
            65, False,
        ),
        (
            "(<= (p ?x) (r ?x) (q ?y (f ?x ?y b)))", 0,
            ["r in 1; out 0", "q by 0 in 2; open 1:f/3; constants 4=b; equal 0=3; key 2", "p 0"],
            13, False,
        ),
        (
            "(<= (p ?x ?y ?z) (q ?x ?y) (distinct ?x ?y) (r ?y ?z))", None,
            ["q in 2; out 0 1", "0 differs from 1", "r by 1 in 2; key 0; out 1", "p 0 1 2"],
            577, False,
        ),
        (
            "(<= (p ?x) (q ?x ?y) (distinct ?y a) (not (r ?x)))", None,
            ["q in 2; out 0 1", "1 differs from a, keep 0", "not r by 0 in 1; key 0", "p 0"],
            97, False,
        ),
        (
            "(<= (p ?x) (distinct ?x (f ?y)) (q ?x) (s ?y))", 1,
            ["s in 1; out 0", "q in 1; out 0", "1 differs from (f 0), keep 1", "p 0"],
            73, False,
        ),
        (
            "(<= (p ?x) (q ?x) (not r))", None,
            ["not r in 0", "q in 1; out 0", "p 0"],
            5.5, False,
        ),
        (
            "(<= (p ?x ?y) (large ?x ?y) (small ?x ?y))", None,
            ["small in 2; out 0 1", "large by 0 1 in 2; key 0 1", "p 0 1"],
            7, False,
        ),
        (
            "(<= (p ?x ?y) (large ?x ?y) (small ?x ?y))", 0,
            ["large in 2; out 0 1", "small by 0 1 in 2; key 0 1", "p 0 1"],
            91, False,
        ),
        (
            "(<= (p ?x ?z) (large ?x ?y) (small ?y ?z))", None,
            ["small in 2; out 0 1", "large by 0 in 2; key 1; out 0, keep 1 2", "p 1 0"],
            9, False,
        ),
        (
            "(<= (p ?x ?z) (large ?x ?y) (small ?z ?y))", None,
            ["small in 2; out 0 1", "large by 1 in 2; key 1; out 0, keep 0 2", "p 1 0"],
            9, False,
        ),
        (
            "(<= (p ?x ?y) (large ?x ?y) (does r (go ?x)) (true (at ?y)))", None,
            ["does go in 2; constants 0=r; out 1", "true at in 1; out 0", "large by 0 1 in 2; key 0 1", "p 0 1"],
            14, False,
        ),
        (
            "(<= (p ?m) (true ?x) (does ?r ?m))", None,
            ["true ? in 1", "does ? in 2; out 1", "p 0"],
            2, False,
        ),
        (
            "(<= (p ?x) (large ?x ?y) (large ?z ?x) s (small 1 ?x))", None,
            ["s in 0", "small in 2; constants 0=1; out 1", "large by 0 in 2; key 0", "large by 0 in 2; key 1", "p 0"],
            3.25, False,
        ),
        (
            "(<= (p ?z) (small ?z ?x) (does r ?x) (not (q ?x)))", None,
            [
                "does ? in 2; constants 0=r; out 1",
                "not q by 0 in 1; key 0",
                "small by 0 in 2; key 1; out 0, keep 1",
                "p 0",
            ],
            3, False,
        ),
    ],
)  # fmt: skip
def test_a_body_is_planned(
    rule: str, first: int | None, steps: list[str], expected_rows: float, makes_terms: bool
) -> None:
    (clause,) = clauses_of(read_rules(rule).rules)
    plan = Planner(clause, sizes()).plan(first)
    assert (list(described(plan)), plan.expected_rows, plan.makes_terms) == (steps, expected_rows, makes_terms)
