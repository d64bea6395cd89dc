"""Rule files compared by meaning: changes are found where they are, and nothing else is."""

from __future__ import annotations

import pytest

from gdl.editing.differences import changed_lines, difference
from gdl.language.rules import read_rules
from gdl.language.syntax import Rule

OLD = """(role x)
(succ 1 2)
(<= (legal x (mark ?n)) (true (cell ?n b)) (true (control x)))
(<= (legal x noop) (true (control o)))
(<= (next (cell ?n x)) (does x (mark ?n)))
(<= terminal (not open))
"""


def line_of(rule: Rule | None) -> int | None:
    return None if rule is None else rule.span.line


def told(new: str) -> list[tuple[str, str, int | None, int | None]]:
    found = difference(read_rules(OLD), read_rules(new))
    return [(one.kind, one.relation, line_of(one.old), line_of(one.new)) for one in found.changes]


def test_order_names_comments_and_layout_make_no_difference() -> None:
    new = "\n".join(reversed(OLD.replace("?n", "?where").splitlines())) + "\n; the end"
    new = new.replace("(true (cell ?where b)) (true (control x))", "(true (control x))\n (true (cell ?where b))")
    assert told(new) == []
    assert difference(read_rules(OLD), read_rules(new)).n_same == 6


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("(true (control x)))", "(true (control o)))", [("changed", "legal", 3, 3)]),
        ("(succ 1 2)", "(succ 1 3)", [("added", "succ", None, 2), ("removed", "succ", 2, None)]),
        ("(succ 1 2)\n", "", [("removed", "succ", 2, None)]),
        ("(role x)", "(role x) (role o)", [("added", "role", None, 1)]),
        ("(<= terminal (not open))", "(<= terminal (true (step 9)))", [
            ("added", "terminal", None, 6), ("removed", "terminal", 6, None)
        ]),
        ("(<= terminal (not open))", "(<= terminal open)", [("changed", "terminal", 6, 6)]),
    ],
)  # fmt: skip
def test_a_change_is_found_where_it_is(old: str, new: str, changes: list[object]) -> None:
    assert told(OLD.replace(old, new)) == changes


def test_rules_are_matched_with_those_that_are_most_alike() -> None:
    new = OLD.replace("noop", "pass").replace("(cell ?n b)", "(cell ?n blank)")
    assert told(new) == [("changed", "legal", 3, 3), ("changed", "legal", 4, 4)]


def test_lines_say_what_became_of_them() -> None:
    assert changed_lines([], ["a"]) == ["+a"]
    assert changed_lines(["a", "b"], ["b"]) == ["-a", " b"]


def test_lines_that_are_alike_are_compared_as_wholes() -> None:
    """Looking into lines that are alike, as `difflib.ndiff` does, takes time that is cubic in their number."""
    old, new = (["(p a 1)", "(q b 1)", "r"], ["(p a 2)", "(q b 2)", "r"])
    assert changed_lines(old, new) == ["-(p a 1)", "-(q b 1)", "+(p a 2)", "+(q b 2)", " r"]
