"""What an editor shows of a name."""

from __future__ import annotations

import pytest

from server.editor.answers import describe
from server.editor.document import Document

RULES = """(role white)
; three in a row
; or column
(<= (line ?p)
    (row ?p))
(<= (line ?p) (column ?p))
(<= (legal ?p (mark ?n)) (role ?p) (true (free ?n)))
(<= terminal (line white))
"""
LINE = "; three in a row\n; or column\n(<= (line ?p)\n    (row ?p))\n(<= (line ?p) (column ?p))"
LEGAL = "(<= (legal ?p (mark ?n)) (role ?p) (true (free ?n)))"


def described(text: str, place: str) -> str:
    index = Document("file:///a.kif", text).index
    found = index.at(text.index(place))
    assert found is not None
    return describe(index, found)


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ("line white", f"relation `line`: 1 argument  \n2 definitions, 3 places in this file\n\n```gdl\n{LINE}\n```"),
        ("mark", f"move `mark`: 1 argument  \n1 definition, 1 place in this file\n\n```gdl\n{LEGAL}\n```"),
        ("white))", "role `white`  \n1 definition, 2 places in this file\n\n```gdl\n(role white)\n```"),
        ("free", "fluent `free`: 1 argument  \n1 place"),
        ("row ?p", "relation `row`: 1 argument  \n1 place"),
        ("?n))", "variable `?n`: 2 places in this rule"),
        (
            "legal",
            "`(legal role move)`: a move that a role may make in the present state  \n"
            f"1 definition, 1 place in this file\n\n```gdl\n{LEGAL}\n```",
        ),
        ("true", "`(true fluent)`: a fluent is true in the present state  \n1 place"),
    ],
)
def test_a_name_is_shown_with_what_it_is_and_its_definitions(place: str, shown: str) -> None:
    assert described(RULES, place) == shown


def test_of_many_definitions_the_first_are_shown() -> None:
    text = "".join(f"(p {i})\n" for i in range(15))
    shown = "\n".join(f"(p {i})" for i in range(12))
    title = "relation `p`: 1 argument  \n15 definitions, 15 places in this file"
    assert described(text, "p 0") == f"{title}\n\n```gdl\n{shown}\n```\n\nand 3 more definitions"


def test_a_definition_that_is_too_long_is_not_shown() -> None:
    assert described(f"(p {'a ' * 2000})", "p") == "relation `p`: 2,000 arguments  \n1 definition, 1 place in this file"
