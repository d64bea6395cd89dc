"""How much of long tests runs: a fixed sample of their cases, or all with GGP_EXHAUSTIVE=all (`make exhaustive`)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final, TypeVar

Case = TypeVar("Case")
IS_EXHAUSTIVE: Final = os.environ.get("GGP_EXHAUSTIVE") == "all"


def sampled(cases: Sequence[Case], *sample: Case) -> Sequence[Case]:
    """Return *sample*, which must be among *cases*, or all of them with GGP_EXHAUSTIVE=all."""
    assert all(case in cases for case in sample)
    return cases if IS_EXHAUSTIVE else sample
