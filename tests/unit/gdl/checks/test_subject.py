"""Where the parts of a form stand in the text of a file."""

from __future__ import annotations

from typing import Final

import pytest

from gdl.checks.subject import part, parts
from gdl.diagnostics import Source, Span

SOURCE: Final = Source("game.kif", "x (p (f a) b) y")
WHOLE: Final = Span(SOURCE, 2, 13)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ((), "(p (f a) b)"), ((0,), "p"), ((1,), "(f a)"), ((1, 1), "a"), ((2,), "b"),
        ((3,), "(p (f a) b)"), ((1, 2), "(f a)"), ((2, 1), "b"),
    ],
)  # fmt: skip
def test_a_path_leads_to_a_part_or_to_the_last_form_there_is(path: tuple[int, ...], found: str) -> None:
    start = SOURCE.text.index(found)
    assert part(WHOLE, *path) == Span(SOURCE, start, start + len(found))


def test_the_parts_of_a_form_are_its_name_and_its_arguments() -> None:
    assert parts(WHOLE) == (Span(SOURCE, 3, 4), Span(SOURCE, 5, 10), Span(SOURCE, 11, 12))
    assert parts(Span(SOURCE, 0, 1)) == ()
