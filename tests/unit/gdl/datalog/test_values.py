"""Sets of terms: unions, intersections, what they leave of variables, and from which size on they are all terms."""

from __future__ import annotations

import pytest

from gdl.datalog import values
from gdl.datalog.translation import clauses_of
from gdl.datalog.values import BOTTOM, MAX_DEPTH, TOP, Bound, Values, bound_by, narrow, values_of, values_of_heads
from gdl.language.kif import read_term
from gdl.language.rules import read_rules
from gdl.language.terms import Compound, Variable, arguments_of


def of(terms: str) -> Values:
    """Return the set of *terms*, of which a variable is any term."""
    found = values_of_heads(Compound("p", (term,)) for term in arguments_of(read_term(f"(terms {terms})")))
    return found[("p", 1)][0] if found else BOTTOM


def nested(term: str, n: int) -> str:
    """Return *term* in *n* function terms."""
    return "(f " * n + term + ")" * n


@pytest.mark.parametrize(
    ("left", "right", "union", "intersection"),
    [
        ("1 2", "2 3", "1 2 3", "2"),
        ("1", "2", "1 2", ""),
        ("1 (f a)", "(f a)", "1 (f a)", "(f a)"),
        ("(f a)", "(f b) (f a b)", "(f a) (f b) (f a b)", ""),
        ("(f a) (g 1)", "(g 1) (g 2) (h 1)", "(f a) (g 1) (g 2) (h 1)", "(g 1)"),
        ("(f a 1) (f b 2)", "(f b 1) (f c 2)", "(f a 1) (f b 2) (f c 1)", "(f b 1) (f b 2)"),
        ("(f a 1)", "(f a 2)", "(f a 1) (f a 2)", ""),
        ("(f (g 1)) b", "(f (g 2)) (f c)", "(f (g 1)) (f (g 2)) (f c) b", ""),
        ("(f ?x)", "(f a) 1", "(f ?x) 1", "(f a)"),
        ("?x", "1 (f a)", "?x", "1 (f a)"),
        ("", "1 (f a)", "1 (f a)", ""),
        ("", "", "", ""),
        ("?x", "?y", "?x", "?x"),
    ],
)
def test_unions_and_intersections(left: str, right: str, union: str, intersection: str) -> None:
    one, other = of(left), of(right)
    assert (one | other, other | one) == (of(union), of(union))
    assert (one & other, other & one) == (of(intersection), of(intersection))
    assert ((one | other) | one, (one | other) | other) == (one | other, one | other)
    assert (bool(one), bool(other), bool(one & other)) == (bool(left), bool(right), bool(intersection))


@pytest.mark.parametrize("added", ["", "1", "1 2", "(f a)", "(f a) (f b)", "2 (f b)"])
def test_a_set_to_which_nothing_is_added_stays_the_same_object(added: str) -> None:
    whole = of("1 2 (f a) (f b)")
    assert whole | of(added) is whole
    assert whole & whole is whole


@pytest.mark.parametrize(
    ("terms", "size", "is_listed"),
    [("", 0, True), ("1 2", 2, True), ("(f a)", 2, False), ("1 (f a b) (f c b)", 6, False), ("?x", 0, False)],
)
def test_a_set_knows_its_size(terms: str, size: int, is_listed: bool) -> None:
    assert (of(terms).size, of(terms).is_listed) == (size, is_listed)


@pytest.mark.parametrize(("limit", "left", "right"), [("MAX_CONSTANTS", "1 2", "3 4"), ("MAX_SIZE", "1 2", "(f 3)")])
def test_a_set_that_grows_too_large_is_all_terms(
    limit: str, left: str, right: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, one, other = of(f"{left} {right}"), of(left), of(right)
    monkeypatch.setattr(values, limit, 4)
    assert (one | other, of(f"{left} {right}")) == (whole, whole)
    monkeypatch.setattr(values, limit, 3)
    assert (one | other, of(f"{left} {right}")) == (TOP, TOP)


def test_terms_are_told_apart_to_a_depth() -> None:
    assert of(nested("a", MAX_DEPTH)) != of(nested("b", MAX_DEPTH))
    assert of(nested("(f a)", MAX_DEPTH)) == of(nested("?x", MAX_DEPTH))
    deepest = read_term(nested("?x", MAX_DEPTH))
    assert values_of(deepest, {Variable("?x"): of("a")}) == of(nested("a", MAX_DEPTH))
    assert values_of(deepest, {Variable("?x"): of("(f a)")}) == of(nested("?x", MAX_DEPTH))
    assert values_of(read_term(nested("a", MAX_DEPTH + 1)), {}) == of(nested("?x", MAX_DEPTH))
    outer = read_term(nested("?x", MAX_DEPTH - 2))
    assert values_of(outer, {Variable("?x"): of("(f (f a))")}) == of(nested("a", MAX_DEPTH))
    assert values_of(outer, {Variable("?x"): of("a (f (f (f a)))")}) == of(nested("?x", MAX_DEPTH - 2))


@pytest.mark.parametrize(
    ("term", "bound", "found"),
    [
        ("a", {}, "a"),
        ("?x", {"?x": "1 (f a)"}, "1 (f a)"),
        ("?y", {"?x": "1"}, "?y"),
        ("(f ?x (g ?y) b)", {"?x": "1 2", "?y": "3"}, "(f 1 (g 3) b) (f 2 (g 3) b)"),
    ],
)
def test_a_term_has_the_values_of_its_variables(term: str, bound: dict[str, str], found: str) -> None:
    assert values_of(read_term(term), {Variable(name): of(terms) for name, terms in bound.items()}) == of(found)


@pytest.mark.parametrize(
    ("terms", "known", "found"),
    [
        ("?x", ["1 2"], {"?x": "1 2"}),
        ("?x ?x", ["1 2", "2 3"], {"?x": "2"}),
        ("?x ?x", ["1", "2"], None),
        ("?x 1", ["1 2", "2 3"], None),
        ("?x 2", ["1 2", "2 3"], {"?x": "1 2"}),
        ("(f ?x b)", ["(f 1 b) (f 2 c) (g 3)"], {"?x": "1 2"}),
        ("(f ?x d)", ["(f 1 b)"], None),
        ("(f ?x)", ["(f 1 b)"], None),
        ("(f ?x)", ["1"], None),
        ("1", ["(f 1)"], None),
        ("(f ?x) ?y", ["?z", "1"], {"?y": "1"}),
    ],
)  # fmt: skip
def test_variables_are_bound_by_what_a_relation_has(terms: str, known: list[str], found: dict[str, str] | None) -> None:
    bound: Bound = {}
    is_possible = narrow(arguments_of(read_term(f"(p {terms})")), map(of, known), bound)
    expected = None if found is None else {Variable(name): of(texts) for name, texts in found.items()}
    assert (bound if is_possible else None) == expected


def test_variables_are_bound_as_deep_as_terms_are_told_apart() -> None:
    bound: Bound = {}
    assert narrow([read_term(nested("?x", MAX_DEPTH))], [of(nested("a", MAX_DEPTH))], bound)
    assert bound == {Variable("?x"): of("a")}


def test_deeper_than_terms_are_told_apart_nothing_is_bound() -> None:
    bound: Bound = {}
    deep = Values(compounds={("f", 1): (BOTTOM,)})
    for _ in range(MAX_DEPTH):
        deep = Values(compounds={("f", 1): (deep,)})
    assert narrow([read_term(nested("?x", MAX_DEPTH + 1))], [deep], bound)
    assert bound == {}


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("(q ?x ?y) (r ?y)", {"?x": "1 2", "?y": "a"}),
        ("(q ?x ?y) (not (r ?x))", {"?x": "1 2", "?y": "a b"}),
        ("(q ?x ?y) (never ?x)", None),
        ("(q ?x ?x)", None),
        ("yes (r ?x)", {"?x": "a"}),
    ],
)
def test_variables_have_the_values_with_which_all_conditions_may_hold(body: str, found: dict[str, str] | None) -> None:
    known = values_of_heads(map(read_term, ["(q 1 a)", "(q 2 b)", "(r a)", "yes"]))
    (clause,) = clauses_of(read_rules(f"(<= p {body})").rules)
    expected = None if found is None else {Variable(name): of(texts) for name, texts in found.items()}
    assert bound_by(clause.literals, known) == expected
