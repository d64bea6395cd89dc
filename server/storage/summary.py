"""How a match went, from its journal: what its row and the rows of its seats say when it is over."""

from __future__ import annotations

from collections.abc import Iterable

from server.records.entries import ENDS, Entry
from server.storage.rows import ABORTED, MatchSummary, SeatResult


def summary_of(entries: Iterable[Entry]) -> MatchSummary:
    """Return how the match of a whole journal went; a journal that broke off is one of an aborted match."""
    known = list(entries)
    steps = [entry for entry in known if entry["event"] == "step"]
    ends = [entry for entry in known if entry["event"] in ENDS]
    roles = [role for entry in known if entry["event"] == "started" for role in entry["roles"]]
    goals = [tuple(entry["goals"]) for entry in ends if entry["event"] == "completed"]
    return MatchSummary(
        status=ends[-1]["event"] if ends else ABORTED,
        ended_ms=(ends or known)[-1]["at"],
        n_steps=max((entry["step"] for entry in known if entry["event"] == "state"), default=0),
        n_errors=sum(error != "" for step in steps for error in step["errors"]),
        goals=goals[-1] if goals else None,
        seats={role: _seat(place, steps, goals[-1] if goals else None) for place, role in enumerate(roles)},
    )


def _seat(place: int, steps: list[Entry], goals: tuple[int | None, ...] | None) -> SeatResult:
    thought = [step["elapsedMs"][place] for step in steps if step["moves"] is not None]
    return SeatResult(
        goal=None if goals is None else goals[place],
        n_errors=sum(step["errors"][place] != "" for step in steps),
        thinking_ms=sum(elapsed for elapsed in thought if elapsed is not None),
        n_moves=sum(elapsed is not None for elapsed in thought),
    )
