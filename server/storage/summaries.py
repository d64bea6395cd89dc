"""How a match went, by its journal, and as the columns of its row and of its seats."""

from collections.abc import Iterable, Iterator
from typing import Any

from server.records.entries import CompletedEntry, EndEntry, Entry, StartedEntry, StateEntry, StepEntry
from server.storage.rows import MatchStatus, MatchSummary, SeatResult


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


def summary_of(entries: Iterable[Entry]) -> MatchSummary:
    """Return how the match of a whole journal went; a journal that broke off is one of an aborted match."""
    known = list(entries)
    steps = [entry for entry in known if isinstance(entry, StepEntry)]
    ends = [entry for entry in known if isinstance(entry, EndEntry)]
    roles = [role for entry in known if isinstance(entry, StartedEntry) for role in entry.roles]
    goals = next((entry.goals for entry in reversed(ends) if isinstance(entry, CompletedEntry)), None)
    seats = {role: _seat(place, steps, goals) for place, role in enumerate(roles)}
    return MatchSummary(
        status=MatchStatus(ends[-1].kind) if ends else MatchStatus.ABORTED,
        ended_ms=(ends or known)[-1].at_ms,
        n_steps=max((entry.step for entry in known if isinstance(entry, StateEntry)), default=0),
        n_errors=sum(seat.n_errors for seat in seats.values()),
        goals=goals,
        seats=seats,
    )


def _seat(place: int, steps: list[StepEntry], goals: tuple[int | None, ...] | None) -> SeatResult:
    thought = [step.elapsed_ms[place] for step in steps if step.moves is not None]
    return SeatResult(
        goal=None if goals is None else goals[place],
        n_errors=sum(bool(step.errors[place] or (step.failures and step.failures[place])) for step in steps),
        thinking_ms=sum(elapsed for elapsed in thought if elapsed is not None),
        n_moves=sum(elapsed is not None for elapsed in thought),
    )
