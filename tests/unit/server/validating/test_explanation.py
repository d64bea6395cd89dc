"""The page on one code at the terminal."""

from __future__ import annotations

import pytest

from gdl.diagnostics import Code, Severity, codes
from gdl.errors import UnknownNameError
from server.validating.report import code_named, explain

CODE = Code("gdl/odd", Severity.WARNING, "An odd rule", f"{'It is odd. ' * 12}", 1, "\n(p\t?x)\n(q)\n", "\n(p a)\n")


def test_a_page_has_title_meaning_and_both_examples() -> None:
    assert [line.plain for line in explain(CODE)] == [
        "An odd rule (warning, gdl/odd)",
        "",
        f"{'It is odd. ' * 8}It is odd.\nIt is odd. It is odd. It is odd.",
        "",
        "Wrong:",
        "    (p\\t?x)",
        "    (q)",
        "",
        "Right:",
        "    (p a)",
    ]


@pytest.mark.parametrize("name", ["gdl/empty-body", "empty-body"])
def test_a_code_is_found_with_and_without_its_first_part(name: str) -> None:
    assert code_named(name) is codes()["gdl/empty-body"]


def test_a_misspelt_code_gets_a_suggestion() -> None:
    with pytest.raises(UnknownNameError) as raised:
        code_named("emty-body")
    assert "gdl/empty-body" in raised.value.suggestions
