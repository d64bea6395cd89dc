"""The public rule files below GGP_SHARED: a sample of them, or all with GGP_CONFORM=all (`make conform`)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[3]
SHARED: Final = ROOT / os.environ.get("GGP_SHARED", "../shared")
N_PARTS: Final = 4
"""The files are looked at in so many tests, which may run side by side."""
_SAMPLED: Final = 4


def public_files() -> list[Path]:
    """Return the files, every fourth of them in a sample; none where they are not at hand."""
    found = sorted((SHARED / "conformance" / "rules").glob("*.kif"))
    return found if os.environ.get("GGP_CONFORM") == "all" else found[::_SAMPLED]
