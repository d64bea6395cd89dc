"""What the page of two versions of a game shows of a changed rule."""

from __future__ import annotations

from gdl.language.rules import read_rules
from server.web.game_pages import compared


def test_of_a_long_rule_only_the_beginning_is_shown() -> None:
    old, new = (f"(<= (p ?x) (q ?x {letter * 50_000}))" for letter in "ab")
    _, (shown,) = compared(read_rules(old), read_rules(new))
    assert {sign: len(text) for _, sign, text in shown["lines"]} == {"-": 10_000, "+": 10_000}


def test_of_many_long_rules_the_first_are_shown() -> None:
    body = "\n".join(f"(q ?x {n})" for n in range(97))
    old, new = ("\n".join(f"(<= (p{n} ?x)\n{body}\n(r {mark}))" for n in range(60)) for mark in "ab")
    found, shown = compared(read_rules(old), read_rules(new))
    assert (len(found.changes), len(shown), len(shown[0]["lines"])) == (60, 50, 100)
