"""The states of a match as a viewer may see them now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from server.match.position import fact_texts
from server.principal import Principal
from server.records.entries import Entry
from server.records.record import record_of, understood
from server.refusals import RequestError
from server.spectating.broadcast import broadcast_of
from server.spectating.public_record import MatchSource, known_match, viewer_of_seat
from server.spectating.viewers import secrecy_at
from server.storage.rows import MatchRow
from server.visibility import Aspect, Secrecy, Viewer, may_see

Percepts = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StateView:
    """A match at `step` as a viewer may know it; None is what is not public, or what there is not.

    Attributes:
        n_steps: the last step whose state is known.
        at_ms: when the state was reached, in milliseconds since 1970.
        facts: as rule files write them, in alphabetical order.
        percepts: by role, what was perceived of the moves that led here; in GDL-II alone.
        moves: by role, what was done in this state.
        errors, thinking_ms, origins: of those moves.
        goals: once the match is completed, at its last step.
    """

    match_id: str
    step: int
    n_steps: int
    roles: tuple[str, ...]
    at_ms: int
    facts: tuple[str, ...] | None = None
    percepts: dict[str, Percepts] | None = None
    moves: dict[str, str] | None = None
    errors: dict[str, str] | None = None
    thinking_ms: dict[str, int | None] | None = None
    origins: dict[str, str] | None = None
    goals: dict[str, int | None] | None = None


async def state_at(
    source: MatchSource, match_id: str, step: int, viewer: Principal | None = None, role: str | None = None
) -> StateView:
    """Return the match at *step* as *viewer* may see it; with *role* what that role could know of it.

    Raises:
        UnknownMatchError: there is no such match.
        RequestError: there is no such step or role, or it is not to be seen yet.
    """
    match = await known_match(source, match_id)
    entries = await source.journals.entries(match_id)
    with understood(match_id):
        secrecy = secrecy_at(match, entries, step)
        asker = Viewer.SPECTATOR if role is None else await viewer_of_seat(source, match, role, viewer)
        # Before anything is looked for: how far an owner sees would tell which role's player it is.
        if not may_see(Aspect.PLAY if role is None else Aspect.VIEW, asker, secrecy):
            what = "what happens in this match" if role is None else "what a role perceives"
            raise RequestError("not_public_yet", f"{what} is shown {secrecy.opening}", status=403)
        seen = _seen(entries if asker is Viewer.OWNER else broadcast_of(match, entries), step)
        if role not in (None, *seen.roles):
            raise RequestError("unknown_seat", f"the match has no role {str(role)[:100]!r}", status=404)
        # What is done in a state is known to all only if the state after it is.
        is_known, is_next_known = (not _kind(match, entries, k).is_hidden for k in (step, step + 1))
        if role is None:
            return seen.view(None if secrecy.is_over or is_next_known else ())
        # Its own move a role knows at once, but who asks may not be the role's.
        own = (role,) if secrecy.is_over or asker is Viewer.OWNER else ()
        return seen.view(None if is_known and is_next_known else own, has_facts=is_known)


def _kind(match: MatchRow, entries: Sequence[Entry], step: int) -> Secrecy:
    """Return the secrecy of *step* as it was while the match was played."""
    return replace(secrecy_at(match, entries, step), has_ended=False)


def _seen(entries: Sequence[Entry], step: int) -> _Seen:
    record = record_of(entries)
    whole = record.as_json() if record.has_begun else {"states": []}
    if not 0 <= step < len(whole["states"]):
        raise RequestError("unknown_step", f"the match has no state of step {step}", status=404)
    return _Seen(whole, step)


class _Seen:
    """One step of a whole record."""

    def __init__(self, record: dict[str, Any], step: int) -> None:
        self._record, self._step = record, step
        self.roles: tuple[str, ...] = tuple(record["x-roles"])

    def view(self, only: tuple[str, ...] | None, *, has_facts: bool = True) -> StateView:
        """Return the step with the moves of the roles *only*, None: of all; without facts with their percepts alone."""
        facts = fact_texts(self._record["states"][self._step]) if has_facts else None
        shown = self.roles if only is None else only
        return StateView(
            match_id=self._record["matchId"],
            step=self._step,
            n_steps=len(self._record["states"]) - 1,
            roles=self.roles,
            at_ms=self._record["stateTimes"][self._step],
            facts=None if facts is None else tuple(facts),
            percepts=self._percepts(self.roles if has_facts else shown),
            moves=self._of("moves", self._step, shown),
            errors=self._of("errors", self._step + 1, shown),
            thinking_ms=self._of("x-thinking-ms", self._step + 1, shown),
            origins=self._of("x-origins", self._step, shown),
            goals=self._goals(),
        )

    def _of(self, key: str, index: int, shown: tuple[str, ...]) -> dict[str, Any] | None:
        rows = self._record[key]
        if index >= len(rows):
            return None
        return {role: value for role, value in zip(self.roles, rows[index], strict=True) if role in shown}

    def _percepts(self, shown: tuple[str, ...]) -> dict[str, Percepts] | None:
        if not self._step:
            return None
        found = self._of("x-percepts", self._step - 1, shown) if "x-percepts" in self._record else None
        return None if found is None else {role: tuple(seen) for role, seen in found.items()}

    def _goals(self) -> dict[str, int | None] | None:
        if self._step < len(self._record["states"]) - 1 or "x-goals" not in self._record:
            return None
        return dict(zip(self.roles, self._record["x-goals"], strict=True))
