"""Work counted in lines of Python: the same on every machine, however busy it is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def lines_of(work: Callable[[], object]) -> int:
    """Return how many lines of Python run in *work*, each turn of a loop or comprehension counted."""
    n_lines = 0

    def trace(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal n_lines
        n_lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return n_lines
