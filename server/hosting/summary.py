"""What lists and statistics show of a match that is over."""

from __future__ import annotations

from collections.abc import Sequence

from server.records.entries import Entry
from server.records.record import record_of
from server.storage.rows import MatchSummary, SeatResult


def summary_of(entries: Sequence[Entry]) -> MatchSummary:
    """Return the summary of the match that *entries* tell to its end.

    Raises:
        MatchRecordError: as `record_of`.
    """
    record = record_of(entries)
    start, end = entries[0], next(entry for entry in reversed(entries) if entry["event"] != "closed")
    steps = [entry for entry in entries if entry["event"] == "step"]
    results = {role: _result(i, steps, record.goals) for i, role in enumerate(start["roles"])}
    n_errors = sum(result.n_errors for result in results.values())
    goals = None if record.goals is None else tuple(record.goals)
    return MatchSummary(record.status, end["at"], record.n_steps, n_errors, goals, results)


def _result(i: int, steps: Sequence[Entry], goals: list[int | None] | None) -> SeatResult:
    plays = [step for step in steps if step["moves"] is not None]
    thinking_ms = sum(step["elapsedMs"][i] or 0 for step in plays)
    n_errors = sum(step["errors"][i] != "" for step in steps)
    return SeatResult(None if goals is None else goals[i], n_errors, thinking_ms, len(plays))
