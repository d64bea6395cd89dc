"""Time that the machine took away: how long processes waited for a core, as the system counts it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

PRESSURE: Final = Path("/proc/pressure/cpu")
_TOTAL: Final = re.compile(r"^some .*total=([0-9]+)$", re.MULTILINE)


def waited_us(path: Path = PRESSURE) -> int | None:
    """Return for how long at least one process of the machine has waited for a core since its start.

    None where the system does not count it. *Units*: microseconds.

    *Source*: Linux, Documentation/accounting/psi.rst.
    """
    try:
        found = _TOTAL.search(path.read_text("ascii"))
    except OSError:
        return None
    return None if found is None else int(found[1])


class WaitingTime:
    """How long processes waited for a core while a match was played, as a share of the match's time."""

    def __init__(self, now_s: float, path: Path = PRESSURE) -> None:
        self._began_s, self._path = now_s, path
        self._began_us = waited_us(path)

    def share(self, now_s: float) -> float | None:
        """Return the share from the beginning to *now_s*; None where the system does not count it."""
        ended_us, elapsed_s = waited_us(self._path), now_s - self._began_s
        if ended_us is None or self._began_us is None or elapsed_s <= 0:
            return None
        return min(1.0, (ended_us - self._began_us) / 1e6 / elapsed_s)
