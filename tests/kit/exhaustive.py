"""How much of long tests runs: a fixed sample of their cases, or all with GGP_EXHAUSTIVE=all (`make exhaustive`)."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import Final, TypeVar

import pytest

Case = TypeVar("Case")
IS_EXHAUSTIVE: Final = os.environ.get("GGP_EXHAUSTIVE") == "all"
IS_CONFORM: Final = os.environ.get("GGP_CONFORM") == "all"
"""Whether tests of many rule files leave nothing out (`make conform`)."""


def sampled(cases: Sequence[Case], *sample: Case) -> Sequence[Case]:
    """Return *sample*, which must be among *cases*, or all of them with GGP_EXHAUSTIVE=all."""
    assert all(case in cases for case in sample)
    return cases if IS_EXHAUSTIVE else sample


def chosen(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return *items* without tests marked `exhaustive`, and of `sampled(n)` ones the first and each n-th case alone."""
    if IS_EXHAUSTIVE or IS_CONFORM:
        return list(items)
    n_before: Counter[str] = Counter()
    kept = []
    for item in items:
        if item.get_closest_marker("exhaustive"):
            continue
        mark = item.get_closest_marker("sampled")
        function = item.nodeid.partition("[")[0]
        if mark is None or n_before[function] % mark.args[0] == 0:
            kept.append(item)
        n_before[function] += 1
    return kept
