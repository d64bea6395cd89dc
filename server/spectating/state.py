"""A match at one of its steps: the state, what was done there, and what each role perceived."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from server.access.role import Principal
from server.errors import RequestError
from server.records.replay import facts_of
from server.spectating.record import journal, known_match
from server.spectating.seat import may_see_seat
from server.spectating.source import Source

Percepts = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StateView:
    """What somebody may know of a match at `step`; None is what they may not, or what there is not.

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
    source: Source, match_id: str, step: int, viewer: Principal | None = None, role: str | None = None
) -> StateView:
    """Return the match at *step* as *viewer* may see it; with *role* what that role could know of it.

    Raises:
        UnknownMatchError: there is no such match.
        RequestError: there is no such step or role, or it is not to be seen yet.
    """
    match = await known_match(source, match_id)
    record = await journal(source, match_id)
    if not record.has_begun or not 0 <= step <= record.n_steps:
        raise RequestError("unknown_step", f"the match has no state of step {step}", status=404)
    seen = _Seen(record.as_json(), step)
    if role is None:
        if not record.has_ended and seen.is_hidden:
            raise RequestError("not_public_yet", "what happens in this match is shown after its end", status=403)
        return seen.everything()
    if not record.has_ended and not await may_see_seat(source, match, role, viewer):
        raise RequestError("not_public_yet", "what a role perceives is shown after the match", status=403)
    if role not in seen.roles:
        raise RequestError("unknown_seat", f"the match has no role {role[:100]!r}", status=404)
    return seen.by(role)


class _Seen:
    """One step of a whole record."""

    def __init__(self, record: dict[str, Any], step: int) -> None:
        self._record, self._step = record, step
        self.roles: tuple[str, ...] = tuple(record["x-roles"])

    @property
    def is_hidden(self) -> bool:
        return bool(self._record["x-gdl2"] or self._record["scrambled"])

    def everything(self) -> StateView:
        return self._view(self.roles, sorted(map(str, facts_of(self._record["states"][self._step]))))

    def by(self, role: str) -> StateView:
        if not self.is_hidden:
            return self.everything()
        return self._view((role,), None)

    def _view(self, shown: tuple[str, ...], facts: list[str] | None) -> StateView:
        return StateView(
            match_id=self._record["matchId"],
            step=self._step,
            n_steps=len(self._record["states"]) - 1,
            roles=self.roles,
            at_ms=self._record["stateTimes"][self._step],
            facts=None if facts is None else tuple(facts),
            percepts=self._percepts(shown),
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
