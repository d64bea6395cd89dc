"""How many instances conditions may have."""

from __future__ import annotations

import pytest

from gdl.compiler.decomposition import Estimates
from gdl.datalog.translation import clauses_of
from gdl.language.rules import read_rules
from gdl.language.terms import variables

RULES = """
(x 1) (x 2) (x 3) (x 4) (after 1 2) (after 2 3) (after 3 4)
(<= (near ?a ?b) (after ?a ?b))
(<= (near ?a ?b) (after ?b ?a))
(<= (reach ?a ?b) (near ?a ?b))
(<= (reach ?a ?c) (near ?a ?b) (reach ?b ?c))
(init (at 1 (f 1))) (<= (next (at ?a (f ?b))) (x ?a) (x ?b))
"""


@pytest.mark.parametrize(
    ("condition", "n_instances"),
    [
        ("(x ?a)", 4),
        ("(after ?a ?b)", 3),
        ("(near ?a ?b)", 6),
        ("(reach ?a ?b)", 16),
        ("(near ?a ?b) (near ?b ?c)", 4**3 * (6 / 16) ** 2),
        ("(x ?a) (x ?b) (distinct ?a ?b)", 16),
        ("(true (at ?a ?b))", 16),
        ("(true (at ?a (f ?b)))", 16),
        ("(true ?a)", 16),
        ("(x ?a) (x 5)", 0),
    ],
)
def test_the_number_of_instances_follows_from_values_and_sizes(condition: str, n_instances: float) -> None:
    clauses = clauses_of(read_rules(RULES).rules)
    (asking,) = clauses_of(read_rules(f"(<= terminal {condition})").rules)
    scope = {variable for literal in asking.literals for variable in variables(literal.atom)}
    found, _ = Estimates.of(clauses).sizes_of((*asking.literals, *asking.differences), scope, ())
    assert found == pytest.approx(n_instances)
