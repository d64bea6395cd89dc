"""Reading and checking a rule file takes work that grows with its text, however it is made."""

from __future__ import annotations

from functools import partial
from typing import Final

import pytest

from gdl.checks import findings
from gdl.checks.suppression import sift
from gdl.diagnostics import Source
from tests.kit.gdl.hostile_texts import BEGINNING, TEXTS
from tests.kit.tracing import lines_of

SMALL: Final = 100
LARGE: Final = 400
MOST: Final = 6.0
"""By what the work may grow where the text is four times as long; it is 16 where it grows with the square."""


def checked(source: Source) -> None:
    tuple(sift(source, findings(source)).diagnostics)


@pytest.mark.sampled(17)
@pytest.mark.parametrize("kind", TEXTS)
def test_work_grows_with_the_text(kind: str) -> None:
    findings(Source("warm.kif", BEGINNING))
    sources = (Source("x.kif", BEGINNING + TEXTS[kind](n)) for n in (SMALL, LARGE))
    small, large = (lines_of(partial(checked, source)) for source in sources)
    assert large <= MOST * small
