"""What the page of two versions of a game shows of a changed rule."""

from __future__ import annotations

from gdl.editing.differences import difference
from gdl.language.rules import read_rules
from server.web.version_page import shown_change


def test_of_a_long_rule_only_the_beginning_is_shown() -> None:
    old, new = (f"(<= (p ?x) (q ?x {letter * 50_000}))" for letter in "ab")
    (change, *_) = difference(read_rules(old), read_rules(new)).changes
    shown = shown_change(change)
    assert {sign: len(text) for _, sign, text in shown["lines"]} == {"-": 10_000, "+": 10_000}
