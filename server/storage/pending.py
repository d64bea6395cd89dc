"""What waits to be written of matches: entries of their journals, how far they are, how they ended."""

from dataclasses import dataclass, field
from typing import Any

from server.records.entries import AnsweredEntry, ClosedEntry, Entry, SentEntry, StartedEntry, StateEntry, StepEntry
from server.storage.journals import line_of
from server.storage.rows import MatchSummary
from server.storage.schema import storable


@dataclass(frozen=True, slots=True)
class MatchEnding:
    """How a match ended, the keys that sign its record if it is signed, and what the record keeps of its journal.

    Where `body` is None it is made of the events.
    """

    summary: MatchSummary
    signature: dict[str, str] | None
    body: bytes | None = None


@dataclass(slots=True)
class MatchPart:
    """What waits to be written of one match: entries in the order of their numbers, and its end if it has come."""

    match_id: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    progress: dict[str, Any] | None = None
    ending: MatchEnding | None = None

    @property
    def needs_events(self) -> bool:
        """Whether the record has to be made of the events that are in the database."""
        return self.ending is not None and self.ending.body is None

    @property
    def numbers(self) -> list[int]:
        """The numbers of the entries."""
        return [row["number"] for row in self.rows]

    def follows(self, last: int) -> bool:
        """Return whether the entries are the next ones after entry *last*, without a gap."""
        return self.numbers == list(range(last + 1, last + 1 + len(self.rows)))

    def add(self, number: int, entry: Entry, line: str | None = None) -> None:
        """Add an entry of the match's journal; *line* is what `line_of` makes of it, if that was made already."""
        self.rows.append(
            {
                "match_id": self.match_id,
                "number": number,
                "kind": entry.kind,
                "at_ms": entry.at_ms,
                "body": line_of(entry) if line is None else line,
                "step": None if isinstance(entry, (StartedEntry, ClosedEntry)) else entry.step,
                "role": storable(entry.role) if isinstance(entry, (SentEntry, AnsweredEntry)) else None,
            }
        )
        if isinstance(entry, (StartedEntry, StateEntry, StepEntry)):
            self.progress = self.progress or {"key": self.match_id, "n": None, "errors": 0, "started": None}
            _count(self.progress, entry)


def _count(progress: dict[str, Any], entry: StartedEntry | StateEntry | StepEntry) -> None:
    match entry:
        case StateEntry():
            progress["n"] = entry.step
        case StartedEntry():
            progress["started"] = entry.at_ms
        case StepEntry():
            progress["errors"] += sum(error != "" for error in entry.errors)
