"""Rules in normal form: names and order do not matter, everything else does."""

from __future__ import annotations

import pytest

from gdl.editing.differences import normal_sha256, normal_text
from gdl.language.rules import read_rules

RULES = """
(role x) (role o) (init (cell 1 b))
(<= (legal ?p (mark ?n)) (true (cell ?n b)) (role ?p) (distinct ?n ?p))
(<= (line ?a) (or (row ?x ?a) (column ?x ?a)) (not (true (cell ?x b))))
"""
SAME = """
(<= (line ?who) (not (true (cell ?k b))) (or (column ?k ?who) (row ?k ?who)))
(<= (legal ?q (mark ?m)) (distinct ?q ?m) (role ?q) (and (true (cell ?m b))))
(role o) (init (cell 1 b)) (role x) (role x) ; twice
"""


def test_names_of_variables_and_order_change_nothing() -> None:
    assert normal_sha256(read_rules(RULES)) == normal_sha256(read_rules(SAME))


@pytest.mark.parametrize(
    "other",
    [
        RULES.replace("(init (cell 1 b))", "(init (cell 2 b))"),
        RULES.replace("(distinct ?n ?p)", ""),
        RULES.replace("(row ?x ?a)", "(row ?a ?x)"),
        RULES.replace("(not (true (cell ?x b)))", "(true (cell ?x b))"),
        RULES + "(role third)",
    ],
)
def test_whatever_changes_the_meaning_changes_the_hash(other: str) -> None:
    assert normal_sha256(read_rules(RULES)) != normal_sha256(read_rules(other))


def test_a_chain_of_variables_is_named_along_the_chain_whatever_its_order() -> None:
    links = [f"(succ ?{a} ?{b})" for a, b in zip("abcdef", "bcdefg", strict=True)]
    texts = {
        normal_text(read_rules(f"(<= (far ?a ?g) {' '.join(order)})").rules[0])
        for order in (links, links[::-1], links[3:] + links[:3])
    }
    assert len(texts) == 1


def test_a_long_body_has_a_normal_form_too() -> None:
    facts = " ".join(f"(f ?x{n})" for n in range(200))
    assert normal_text(read_rules(f"(<= p {facts})").rules[0]).startswith("(<= p (f ?1) (f ?")
