"""An interpreter that remembers, for tests of which many ask the same of the same states."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

from gdl.interpreter import InterpretedState


@pytest.fixture(scope="module")
def remembered() -> Iterator[None]:
    """Have each question about a state interpreted once in a module, whatever seeds and searches ask it again."""
    with pytest.MonkeyPatch.context() as patch:
        for question in ("next_state", "percepts", "legal_moves"):
            patch.setattr(InterpretedState, question, _once(getattr(InterpretedState, question)))
        yield


def _once(question: Callable[..., Any]) -> Callable[..., Any]:
    asked = cache(question)

    def ask(state: InterpretedState, *about: Any) -> Any:
        return asked(state, *(tuple(each) if isinstance(each, list) else each for each in about))

    return ask
