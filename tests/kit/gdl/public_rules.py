"""The public rule files below GGP_SHARED: a sample of them, or all with GGP_CONFORM=all (`make conform`)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeVar

from tests.kit.exhaustive import IS_CONFORM

ROOT: Final = Path(__file__).resolve().parents[3]
SHARED: Final = ROOT / os.environ.get("GGP_SHARED", "../shared")
N_PARTS: Final = 4
"""The files are looked at in so many tests, which may run side by side."""
_SAMPLED: Final = 12
Item = TypeVar("Item")


def sampled(items: Sequence[Item]) -> Sequence[Item]:
    """Return every twelfth of *items*, or all of them with GGP_CONFORM=all."""
    return items if IS_CONFORM else items[::_SAMPLED]


def public_files() -> list[Path]:
    """Return the files, every twelfth of them in a sample; none where they are not at hand."""
    return list(sampled(sorted((SHARED / "conformance" / "rules").glob("*.kif"))))
