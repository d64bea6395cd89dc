"""Delayed broadcasts: how late spectators see a match, and how much of its journal they see by now."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from server.clock import now_ms
from server.records import entries
from server.storage.rows import MatchRow

MAX_DELAY: Final = 86_400
"""By how many steps or seconds a broadcast may be late."""
_LAST: Final = entries.EndEntry | entries.ClosedEntry
_TEXT: Final = re.compile(r"(?:(?P<steps>[0-9]{1,5}) ?steps?)|(?:(?P<seconds>[0-9]{1,5}) ?s)|(?P<end>end)|(?:live)?")


@dataclass(frozen=True, slots=True)
class Delay:
    """How late a match is shown to those who watch: by steps, by seconds, or not before its end."""

    steps: int = 0
    seconds: int = 0
    is_to_end: bool = False

    def __str__(self) -> str:
        if self.is_to_end:
            return "end"
        if self.steps:
            return f"{self.steps} step{'s' if self.steps > 1 else ''}"
        return f"{self.seconds} s" if self.seconds else "live"

    @property
    def is_live(self) -> bool:
        """Whether there is no delay."""
        return self == NO_DELAY

    def last_step(self, n_steps: int) -> int:
        """Return the step of the last state that is shown of a match that is at *n_steps*, where no seconds decide."""
        return 0 if self.is_to_end else max(0, n_steps - self.steps)

    def broadcast(self, part: Sequence[entries.Entry], at_ms: int) -> Sequence[entries.Entry]:
        """Return how much of the next *part* of a journal is shown at *at_ms*: its first entries, or all.

        That a match began is always shown, and all of it once it is over.
        """
        if self.is_live or any(isinstance(entry, _LAST) for entry in part):
            return part
        return part[: self._n_shown(part, at_ms)]

    def _n_shown(self, part: Sequence[entries.Entry], at_ms: int) -> int:
        """Return how many entries of *part* the delay lets through at *at_ms*."""
        n_first = int(bool(part) and isinstance(part[0], entries.StartedEntry))
        if self.is_to_end:
            return n_first
        if self.steps:
            states = [index for index, entry in enumerate(part) if isinstance(entry, entries.StateEntry)]
            return states[-1 - self.steps] + 1 if len(states) > self.steps else n_first
        late_ms = at_ms - 1000 * self.seconds
        return next(
            (index for index, entry in enumerate(part) if entry.at_ms > late_ms and index >= n_first), len(part)
        )


NO_DELAY: Final = Delay()


def read_delay(text: str) -> Delay:
    """Return the delay that *text* says: `3 steps`, `60 s`, `end`, or `live`.

    Raises:
        ValueError: it says none.
    """
    found = _TEXT.fullmatch(text.strip())
    if found is None:
        raise ValueError("a delay is written `3 steps`, `60 s`, `end`, or `live`")
    delay = Delay(int(found["steps"] or 0), int(found["seconds"] or 0), found["end"] is not None)
    if max(delay.steps, delay.seconds) > MAX_DELAY:
        raise ValueError(f"a broadcast is at most {MAX_DELAY:,} steps or seconds late")
    return delay


def delay_of(match: MatchRow) -> Delay:
    """Return how late *match* is shown; not before its end where what was ordered is damaged."""
    try:
        return read_delay(match.order["text"].get("broadcastDelay", ""))
    except ValueError:
        return Delay(is_to_end=True)


def broadcast_of(match: MatchRow, journal: Sequence[entries.Entry]) -> Sequence[entries.Entry]:
    """Return how much of the journal of *match* spectators see now."""
    return journal if match.has_ended else delay_of(match).broadcast(journal, now_ms())
