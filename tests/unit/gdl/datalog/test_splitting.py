"""Relations without don't-care arguments: the rules say the same, and fewer atoms are derived."""

from __future__ import annotations

from itertools import islice, product
from math import prod

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


@pytest.mark.parametrize(
    "rule",
    [
        "(<= (near ?i ?i) (kind ?i))",
        "(<= (near ?i b) (e ?i ?y))",
        "(<= (near ?x (f ?i)) (e ?x ?y) (kind ?i))",
        "(<= (near ?x ?i) (e ?x ?y) (kind ?i) (distinct ?i ?x))",
        "(<= (near ?x ?i) (e ?x ?y) (kind ?i) (distinct ?y ?i))",
        "(<= (near ?x ?i) (e ?x ?i))",
        "(<= (near ?x ?i) (kind ?i) (e ?x ?i))",
        "(<= (near ?x ?i) (e ?x ?y) (e ?y ?i) (not (kind ?i)))",
    ],
)
def test_an_argument_that_matters_in_one_rule_is_kept_there_alone(rule: str) -> None:
    idle = "(<= (near ?x ?i) (e ?x ?y) (kind ?i))"
    assert texts(f"{idle} {rule}") == [
        "(<= (near without 1 ?x) (e ?x ?y))", rule.replace("near", "near without nothing"),
    ]  # fmt: skip


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
        "(<= (near ?x ?i) (e ?x ?y) (kind ?i) (distinct ?i ?x))",
        "(<= (near ?x ?i) (kind ?i) (e ?x ?y) (e ?i ?x))",
        "(<= (near ?x ?i) (e ?x ?y) (kind ?i) (not (e ?i ?x)))",
        "(mixed a) (<= (mixed ?x) (e ?x ?y)) (<= (near ?x ?i) (e ?x ?y) (mixed ?i))",
        "(mixed a) (<= (mixed b) (e a b)) (<= (near ?x ?i) (e ?x ?y) (mixed ?i))",
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


def versions(name: str, n: int, n_arguments: int = 3) -> str:
    """Return *n* rules of a relation, of whose last arguments each leaves others to their kind."""
    rules = []
    for left in islice(product("ke", repeat=n_arguments), n):
        arguments = " ".join(f"?{i}" for i in range(n_arguments))
        conditions = " ".join(f"(kind ?{i})" if one == "k" else f"(e ?{i} ?w{i})" for i, one in enumerate(left))
        rules.append(f"(<= ({name} ?x {arguments}) (e ?x ?y) {conditions})")
    return " ".join(rules)


def test_an_atom_of_any_version_is_asked_of_all() -> None:
    none = "(not (p without 1,2,3 ?b)) (not (p without 1,2 ?b a)) (not (p without 1,3 ?b b))"
    assert texts(versions("p", 3) + "(<= r (p ?x ?a ?b ?a) (not (p ?b a b a)))") == [
        "(<= (p without 1,2,3 ?x) (e ?x ?y))",
        "(<= (p without 1,2 ?x ?2) (e ?x ?y) (e ?2 ?w2))",
        "(<= (p without 1,3 ?x ?1) (e ?x ?y) (e ?1 ?w1))",
        f"(<= r (p without 1,2,3 ?x) (kind ?a) (kind ?b) {none})",
        f"(<= r (p without 1,2 ?x ?a) (kind ?a) (kind ?b) {none})",
        f"(<= r (p without 1,3 ?x ?b) (kind ?a) {none})",
    ]


def test_a_relation_that_may_not_hold_of_another_kind_is_made_whole_again() -> None:
    assert texts(versions("p", 3) + "(<= r (e ?x ?y) (not (p ?x a b c)))")[3:] == [
        "(<= r (e ?x ?y) (not (p ?x a b c)))",
        "(<= (p ?0 ?1 ?2 ?3) (p without 1,2,3 ?0) (kind ?1) (kind ?2) (kind ?3))",
        "(<= (p ?0 ?1 ?2 ?3) (p without 1,2 ?0 ?3) (kind ?1) (kind ?2))",
        "(<= (p ?0 ?1 ?2 ?3) (p without 1,3 ?0 ?2) (kind ?1) (kind ?3))",
    ]


def test_clauses_that_are_made_stand_where_the_relation_is_defined() -> None:
    rules = KINDS + versions("p", 3) + "(<= r (e ?x ?y) (not (p ?x a b c)))"
    found = split(clauses_of(read_rules(rules).rules))
    first = versions("p", 1)
    assert [clause.span.text for clause in found[-3:]] == [first] * 3


@pytest.mark.parametrize(("counts", "is_split"), [((8, 8), True), ((8, 3, 3), False), ((4, 4, 4), True)])
def test_a_clause_falls_apart_into_up_to_64(counts: tuple[int, ...], is_split: bool) -> None:
    names = [f"p{i}" for i in range(len(counts))]
    rules = KINDS + " ".join(versions(name, n) for name, n in zip(names, counts, strict=True))
    clauses = clauses_of(read_rules(f"{rules} (<= r {' '.join(f'({name} a b ?x ?y)' for name in names)})").rules)
    found = split(clauses)
    assert (found != clauses) is is_split
    assert sum(str(clause.head) == "r" for clause in found) == (prod(counts) if is_split else 1)


@pytest.mark.parametrize(("n", "is_split"), [(8, True), (9, False)])
def test_a_relation_has_up_to_8_versions(n: int, is_split: bool) -> None:
    clauses = clauses_of(read_rules(KINDS + versions("p", n, 4)).rules)
    assert (split(clauses) != clauses) is is_split
