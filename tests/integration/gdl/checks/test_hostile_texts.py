"""Reading and checking a rule file takes work that grows with its text, however it is made."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any, Final

import pytest

from gdl.checks import findings
from gdl.checks.suppression import sift
from gdl.diagnostics import Source
from tests.kit.exhaustive import IS_EXHAUSTIVE
from tests.kit.gdl.hostile_texts import BEGINNING, TEXTS

SMALL: Final = 100
LARGE: Final = 400
MOST: Final = 6.0
"""By what the work may grow where the text is four times as long; it is 16 where it grows with the square."""


def n_lines_run(source: Source) -> int:
    """Return how many lines of Python run in checking *source*, each turn of a loop or comprehension counted."""
    n_lines = 0

    def count(_frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal n_lines
        n_lines += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        tuple(sift(source, findings(source)).diagnostics)
    finally:
        sys.settrace(before)
    return n_lines


@pytest.mark.parametrize("kind", TEXTS if IS_EXHAUSTIVE else list(TEXTS)[::2])
def test_work_grows_with_the_text(kind: str) -> None:
    findings(Source("warm.kif", BEGINNING))
    small, large = (n_lines_run(Source("x.kif", BEGINNING + TEXTS[kind](n))) for n in (SMALL, LARGE))
    assert large <= MOST * small
