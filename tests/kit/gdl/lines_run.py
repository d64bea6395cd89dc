"""How much work a call is, in lines of Python: the same on every machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def n_lines_run(work: Callable[[], object]) -> int:
    """Return how many lines of Python run in *work*, each turn of a loop or comprehension counted."""
    n_lines = 0

    def count(_frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal n_lines
        n_lines += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        work()
    finally:
        sys.settrace(before)
    return n_lines
