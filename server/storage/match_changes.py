"""The changes of matches that wait to be written: entries of journals, how far a match is, and how it went."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from server.records import entries
from server.storage.journals import line_of
from server.storage.rows import MatchStatus, MatchSummary, SeatResult
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
class MatchChanges:
    """The part of one match in a batch: entries in the order of their numbers, and its end if it has come."""

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
        """Which places in the journal the entries have that wait."""
        return [row["number"] for row in self.rows]

    def follows(self, last: int) -> bool:
        """Return whether the entries are the next ones after entry *last*, without a gap."""
        return self.numbers == list(range(last + 1, last + 1 + len(self.rows)))

    def add(self, number: int, entry: entries.Entry, line: str | None = None) -> None:
        """Add an entry of the match's journal; *line* is what `line_of` makes of it, if that was made already."""
        self.rows.append(
            {
                "match_id": self.match_id,
                "number": number,
                "kind": entry.kind,
                "at_ms": entry.at_ms,
                "body": line_of(entry) if line is None else line,
                "step": None if isinstance(entry, (entries.StartedEntry, entries.ClosedEntry)) else entry.step,
                "role": storable(entry.role) if isinstance(entry, (entries.SentEntry, entries.AnsweredEntry)) else None,
            }
        )
        if isinstance(entry, (entries.StartedEntry, entries.StateEntry, entries.StepEntry)):
            self.progress = self.progress or {"key": self.match_id, "n": None, "errors": 0, "started": None}
            _count(self.progress, entry)


def _count(progress: dict[str, Any], entry: entries.StartedEntry | entries.StateEntry | entries.StepEntry) -> None:
    match entry:
        case entries.StateEntry():
            progress["n"] = entry.step
        case entries.StartedEntry():
            progress["started"] = entry.at_ms
        case entries.StepEntry():
            progress["errors"] += sum(error != "" for error in entry.errors)


def match_values(match_id: str, summary: MatchSummary) -> dict[str, Any]:
    """Return the columns of a match that has ended."""
    return {
        "key": match_id,
        "status": summary.status,
        "ended_ms": summary.ended_ms,
        "n_steps": summary.n_steps,
        "n_errors": summary.n_errors,
        "goals": None if summary.goals is None else list(summary.goals),
        "lease_until_ms": None,
    }


def seat_values(match_id: str, summary: MatchSummary) -> Iterator[dict[str, Any]]:
    """Yield the columns of the seats of a match that has ended."""
    for role, result in summary.seats.items():
        yield {
            "key": match_id,
            "of_role": role,
            "goal": result.goal,
            "n_errors": result.n_errors,
            "thinking_ms": result.thinking_ms,
            "n_moves": result.n_moves,
        }


def summary_of(journal: Iterable[entries.Entry]) -> MatchSummary:
    """Return how the match of a whole journal went; a journal that broke off is one of an aborted match."""
    known = list(journal)
    steps = [entry for entry in known if isinstance(entry, entries.StepEntry)]
    ends = [entry for entry in known if isinstance(entry, entries.EndEntry)]
    roles = [role for entry in known if isinstance(entry, entries.StartedEntry) for role in entry.roles]
    goals = next((entry.goals for entry in reversed(ends) if isinstance(entry, entries.CompletedEntry)), None)
    seats = {role: _seat(place, steps, goals) for place, role in enumerate(roles)}
    return MatchSummary(
        status=MatchStatus(ends[-1].kind) if ends else MatchStatus.ABORTED,
        ended_ms=(ends or known)[-1].at_ms,
        n_steps=max((entry.step for entry in known if isinstance(entry, entries.StateEntry)), default=0),
        n_errors=sum(seat.n_errors for seat in seats.values()),
        goals=goals,
        seats=seats,
    )


def _seat(place: int, steps: list[entries.StepEntry], goals: tuple[int | None, ...] | None) -> SeatResult:
    thought = [step.elapsed_ms[place] for step in steps if step.moves is not None]
    return SeatResult(
        goal=None if goals is None else goals[place],
        n_errors=sum(bool(step.errors[place] or (step.failures and step.failures[place])) for step in steps),
        thinking_ms=sum(elapsed for elapsed in thought if elapsed is not None),
        n_moves=sum(elapsed is not None for elapsed in thought),
    )
