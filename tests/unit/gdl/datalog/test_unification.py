"""Unification against what it promises: a common instance, the most general, and in time that terms do not blow up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import LimitExceeded
from gdl.language.kif import read_term
from gdl.language.terms import MAX_PATTERN_DEPTH, Compound, Term, Variable, can_meet, substitute, unify
from tests.kit.gdl.forms import nested

LEAVES: st.SearchStrategy[Term] = st.sampled_from([read_term(text) for text in ("?x", "?y", "?z", "a", "b")])
PATTERNS: st.SearchStrategy[Term] = st.recursive(
    LEAVES,
    lambda inner: st.builds(Compound, st.sampled_from("fg"), st.lists(inner, min_size=1, max_size=2).map(tuple)),
    max_leaves=8,
)
GROUND = st.sampled_from([read_term(text) for text in ("a", "b", "(f a)", "(g a b)", "(f (f b))")])


@given(PATTERNS, PATTERNS)
def test_unified_terms_are_one_term_under_the_substitution(left: Term, right: Term) -> None:
    bound = unify(left, right)
    if bound is not None:
        assert substitute(left, bound) is substitute(right, bound)


@given(PATTERNS, PATTERNS, GROUND, GROUND, GROUND)
def test_terms_with_a_common_instance_are_unified_and_none_is_lost(
    left: Term, right: Term, x: Term, y: Term, z: Term
) -> None:
    values = {Variable("?x"): x, Variable("?y"): y, Variable("?z"): z}
    instance = substitute(left, values)
    if instance is substitute(right, values):
        bound = unify(left, right)
        assert bound is not None
        assert substitute(substitute(left, bound), values) is instance


@given(PATTERNS, PATTERNS)
def test_terms_of_different_rules_share_no_variable(left: Term, right: Term) -> None:
    renamed = substitute(right, {Variable(f"?{name}"): Variable(f"?other {name}") for name in "xyz"})
    assert can_meet(left, right) is (unify(left, renamed) is not None)


def test_a_mark_behind_a_name_makes_no_variable_of_the_other_rule() -> None:
    assert can_meet(read_term("(p ?x' a)"), read_term("(p b ?x)"))


def test_a_variable_is_no_part_of_itself() -> None:
    assert unify(read_term("?x"), read_term("(f ?x)")) is None


def chain(name: str, n: int) -> tuple[Compound, Compound]:
    """Return terms that make each of n variables a pair of the one before."""
    names = Compound("p", tuple(Variable(f"?{name}{i + 1}") for i in range(n)))
    pairs = Compound("p", tuple(Compound("f", (Variable(f"?{name}{i}"),) * 2) for i in range(n)))
    return names, pairs


def test_terms_that_share_their_parts_are_unified_in_polynomial_time() -> None:
    n = 60
    bound = unify(*chain("y", n), unify(*chain("x", n)))
    assert bound is not None
    together = unify(Variable(f"?x{n}"), Variable(f"?y{n}"), bound)
    assert together is not None
    assert substitute(Variable(f"?x{n}"), together) is substitute(Variable(f"?y{n}"), together)


def test_a_result_that_nests_too_deep_is_refused() -> None:
    bound = unify(*chain("x", MAX_PATTERN_DEPTH + 1))
    assert bound is not None
    with pytest.raises(LimitExceeded):
        substitute(Variable(f"?x{MAX_PATTERN_DEPTH + 1}"), bound)


def test_a_deep_ground_term_is_left_as_it_is() -> None:
    deep = nested(20_000)
    assert substitute(Compound("p", (Variable("?x"), deep)), {Variable("?x"): deep}) is Compound("p", (deep, deep))
