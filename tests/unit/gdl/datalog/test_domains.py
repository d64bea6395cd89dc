"""Which values the arguments of relations can have: none is lacking, and any rules are done with in bounded work."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gdl.datalog import domains
from gdl.datalog.clauses import Clause, Literal
from gdl.datalog.domains import Want, Worklist, order_of_relations, values_of_relations, wanted_name
from gdl.datalog.translation import clauses_of
from gdl.datalog.values import (
    MAX_CONSTANTS,
    MAX_DEPTH,
    TOP,
    Bound,
    Known,
    Values,
    bound_by,
    join,
    values_of,
    values_of_heads,
)
from gdl.language.kif import read_term
from gdl.language.rules import read_rules
from gdl.language.terms import Constant, Signature, arguments_of, signature
from tests.fuzz.generator import random_game


def constants(names: str) -> Values:
    return Values(frozenset(map(Constant, names.split())))


def values(rules: str, relation: Signature) -> tuple[Values, ...] | None:
    return values_of_relations(clauses_of(read_rules(rules).rules)).get(relation)


@pytest.mark.parametrize(
    ("rules", "found"),
    [
        ("(p 1) (p 2)", (constants("1 2"),)),
        ("(q 1) (q 2) (r 2) (r 3) (<= (p ?x) (q ?x) (r ?x))", (constants("2"),)),
        ("(q 1) (r 2) (<= (p ?x) (or (q ?x) (r ?x)))", (constants("1 2"),)),
        ("(p 1) (succ 1 2) (succ 2 3) (<= (p ?y) (p ?x) (succ ?x ?y))", (constants("1 2 3"),)),
        ("(q 1) (<= (p ?x) (q ?x) (q 2))", None),
        ("(<= (p 1) (never 1))", None),
        ("(<= (p ?x) (not (q ?x)))", (TOP,)),
        ("(q 1) (<= (p ?x) (q ?x) (not (q ?x)))", (constants("1"),)),
        ("(q (f 1)) (q (f 2)) (<= (p ?x) (q (f ?x)))", (constants("1 2"),)),
        ("(q 1) (<= (p (f ?x)) (q ?x))", (Values(compounds={("f", 1): (constants("1"),)}),)),
        ("(init (at 1)) (<= (next (at 2)) (true (at 1))) (<= (p ?x) (true (at ?x)))", (constants("1 2"),)),
        ("(q 1) (s 3) (<= (p ?x) (q 2) (s ?x)) (<= (q ?x) (not (p ?x)))", (constants("3"),)),
        ("(q (f 1)) (s 3) (<= (p ?x) (q (f 2)) (s ?x)) (<= (q ?x) (not (p ?x)))", (constants("3"),)),
        ("(role a) (<= (legal ?r go) (role ?r)) (<= (p ?r ?m) (does ?r ?m))", (constants("a"), constants("go"))),
    ],
)  # fmt: skip
def test_values_follow_the_rules(rules: str, found: tuple[Values, ...] | None) -> None:
    assert values(rules, ("p", len(found or (TOP,)))) == found


def test_heads_alone_give_what_they_say_and_their_variables_stand_for_anything() -> None:
    heads = map(read_term, ["(p 1 (f a))", "(p 2 (f ?x))", "(q ?x)"])
    assert values_of_heads(heads) == {
        ("p", 2): (constants("1 2"), Values(compounds={("f", 1): (TOP,)})),
        ("q", 1): (TOP,),
    }


def test_terms_are_distinguished_to_a_depth_and_sets_are_kept_to_a_size() -> None:
    deep = "(f " * (MAX_DEPTH + 1) + "a" + ")" * (MAX_DEPTH + 1)
    (outer,) = values_of_heads([read_term(f"(p {deep})")])[("p", 1)]
    for _ in range(MAX_DEPTH):
        (outer,) = outer.compounds[("f", 1)]
    assert outer is TOP
    many = values_of_heads(read_term(f"(p {n})") for n in range(MAX_CONSTANTS + 1))
    assert many == {("p", 1): (TOP,)}


@pytest.mark.parametrize(
    "rules",
    [
        "(p 0) (<= (p (f ?x ?x)) (p ?x))",
        "(p 0)" + "".join(f"(<= (p (f{i} ?x (g{i} ?x ?x))) (p ?x))" for i in range(100)),
        "".join(f"(q {n}) (<= (p{n} ?x) (p{n + 1} ?x)) (<= (p{n + 1} ?x) (q ?x) (p{n} ?x))" for n in range(1_000)),
    ],
)
def test_any_rules_come_to_an_end(rules: str) -> None:
    values(rules, ("p", 1))


def by_looking_at_all_rules(clauses: Sequence[Clause]) -> Known:
    """Return what is found by looking at all rules again until none of them adds anything."""
    known = values_of_heads(clause.head for clause in clauses if not clause.literals)
    while True:
        before = dict(known)
        for clause in clauses:
            bound = bound_by(clause.literals, known) if clause.literals else None
            if bound is not None:
                new = tuple(values_of(argument, bound) for argument in arguments_of(clause.head))
                relation = signature(clause.head)
                known[relation] = join(known[relation], new) if relation in known else new
        for (name, arity), other in {("next", 1): "true", ("init", 1): "true", ("legal", 2): "does"}.items():
            if (name, arity) in known:
                told = known[name, arity]
                known[other, arity] = join(known[other, arity], told) if (other, arity) in known else told
        if known == before:
            return known


@pytest.mark.parametrize("seed", range(12))
def test_rules_are_looked_at_as_often_as_it_takes(seed: int) -> None:
    clauses = clauses_of(read_rules(random_game(seed).text).rules)
    assert values_of_relations(clauses) == by_looking_at_all_rules(clauses)


@pytest.mark.parametrize(
    ("atom", "known", "want"),
    [
        ("(p 1 2)", None, Want(("p", 2), (), ("p", 2))),
        ("(p 1 2)", "(p 1 2)", None),
        ("(p 1 2)", "(p 1 3)", Want(("p", 2), ((("p", 2), 1),), Constant("2"))),
        ("(p 3 2)", "(p 1 2)", Want(("p", 2), ((("p", 2), 0),), Constant("3"))),
        ("(p 3 ?x)", "(p 1 3)", Want(("p", 2), ((("p", 2), 0),), Constant("3"))),
        ("(p (f 1) ?x)", "(p 1 3)", Want(("p", 2), ((("p", 2), 0),), ("f", 1))),
        ("(p (f ?y 2) ?x)", "(p (f 1 1) 3)", Want(("p", 2), ((("p", 2), 0), (("f", 2), 1)), Constant("2"))),
        ("(p (f 2) 2)", "(p ?x 2)", None),
    ],
)
def test_the_first_name_that_is_lacking_is_waited_for(atom: str, known: str | None, want: Want | None) -> None:
    values = None if known is None else values_of_heads([read_term(known)])["p", 2]
    assert wanted_name(read_term(atom), values) == want


def test_what_adds_nothing_is_no_growth() -> None:
    work, known, relation = Worklist(), Known(), ("p", 1)
    grown = [work.grow(known, relation, (constants(names),)) for names in ("1 2", "2", "2 3")]
    assert (grown, known) == ([True, False, True], {relation: (constants("1 2 3"),)})


def test_rules_that_lack_a_name_are_looked_at_again_only_when_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0

    def counted(literals: Sequence[Literal], known: Known) -> Bound | None:
        nonlocal looks
        looks += 1
        return bound_by(literals, known)

    monkeypatch.setattr(domains, "bound_by", counted)
    chain = "".join(f"(<= (p {i}) (q {i})) (<= (q {i + 1}) (p {i}))" for i in range(50))
    assert values(f"(q 0) {chain}", ("q", 1)) == (constants(" ".join(map(str, range(51)))),)
    assert looks < 4 * 50


def test_many_rules_that_lead_from_one_to_the_next_are_followed_to_the_end_in_any_order() -> None:
    steps = [f"(<= (next (step {i + 1})) (true (step {i})))" for i in range(400)]
    listed = constants(" ".join(map(str, range(401))))
    for text in ("".join(steps), "".join(reversed(steps))):
        assert values(f"(init (step 0)) {text}", ("true", 1)) == (Values(compounds={("step", 1): (listed,)}),)


def test_relations_come_after_what_they_need_and_fluents_after_what_makes_them_true() -> None:
    rules = "(<= (p ?x) (true ?x)) (<= (next ?x) (q ?x)) (<= (q ?x) (r ?x)) (<= (r ?x) (q ?x)) (<= (s ?x) (does a ?x))"
    rules += "(<= (legal a ?x) (p ?x)) (init a)"
    assert order_of_relations(clauses_of(read_rules(rules).rules)) == [[2, 3], [1], [6], [], [0], [5], [], [4]]


def test_work_is_rough_once_more_names_are_looked_at_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(domains, "MAX_WORK", 8)
    work = Worklist()
    found = []
    for known in [((constants("1 2"),),), ((constants("1 2"), constants("3")), ()), ((),)]:
        work.count(*known)
        found.append(work.is_rough)
    assert found == [False, False, True]


@pytest.mark.parametrize(("n", "is_all"), [(14, False), (15, True), (30, True)])
def test_sets_of_more_than_16_names_that_grow_become_all_terms_where_there_is_much_work(
    n: int, is_all: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(domains, "MAX_WORK", 0)
    many = [f"c{i}" for i in range(n)]
    facts = " ".join(f"(c {name})" for name in many) + "(d x) (d y)"
    listed = constants(" ".join([*many, "x", "y"]))
    assert values(f"{facts} (<= (p ?x) (c ?x)) (<= (p ?x) (d ?x))", ("p", 1)) == (TOP if is_all else listed,)
    # What does not grow stays as it is.
    rules = f"{facts} (<= (p ?x 1) (c ?x)) (<= (p ?x 2) (c ?x))"
    assert values(rules, ("p", 2)) == (constants(" ".join(many)), constants("1 2"))
