"""A match as its page shows it, read from its public events: states, joint moves, errors, times, goals, requests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from server.spectating.events import PublicEvent
from server.web.rendering import error_words, plain_term


@dataclass(frozen=True, slots=True)
class MoveView:
    """What one role did in a step: `move` is None where it is not to be known yet. *Units*: milliseconds."""

    move: str | None
    error: str
    took_ms: int | None
    origin: str

    @property
    def is_plain(self) -> bool:
        """Whether the move is a bare constant, such as `noop`."""
        return self.move is not None and not self.move.startswith("(")


@dataclass(frozen=True, slots=True)
class StepView:
    """A joint move, and the number of the state that it led to."""

    number: int
    moves: tuple[MoveView, ...]


@dataclass(frozen=True, slots=True)
class ReachedState:
    """A state: its text is None where it is not public yet; `percepts` are by role, of the move before."""

    number: int
    at_ms: int
    text: str | None
    percepts: tuple[tuple[str, ...], ...] | None


@dataclass(frozen=True, slots=True)
class PendingRole:
    """A question that is not answered yet, and when its clock ends; a reply may come for a little longer."""

    seat: int
    message: str
    clock_ends_ms: int


@dataclass(slots=True)
class MatchView:
    """What every viewer may know of a match now.

    Attributes:
        start_errors: what went wrong at START, by seat.
        end: how it ended, in a word; empty while it is played.
        last: the number of the last event.
    """

    start_clock_s: int = 0
    play_clock_s: int = 0
    is_hidden: bool = False
    states: list[ReachedState] = field(default_factory=list)
    steps: list[StepView] = field(default_factory=list)
    start_errors: tuple[str, ...] = ()
    asked: dict[int, PendingRole] = field(default_factory=dict)
    goals: Sequence[int | None] | None = None
    end: str = ""
    reason: str = ""
    last: int = -1

    @property
    def n_steps(self) -> int:
        """The number of the last state."""
        return max(0, len(self.states) - 1)

    def state(self, step: int) -> ReachedState | None:
        """Return state number *step*, if there is one yet."""
        return self.states[step] if 0 <= step < len(self.states) else None

    def step_to(self, step: int) -> StepView | None:
        """Return the joint move that led to state number *step*."""
        return next((found for found in self.steps[max(0, step - 1) : step] if found.number == step), None)

    def n_errors(self, seat: int) -> int:
        """Return how many errors a seat has made."""
        at_start = bool(self.start_errors and self.start_errors[seat])
        return at_start + sum(bool(step.moves[seat].error) for step in self.steps)

    def thinking_ms(self, seat: int) -> int:
        """Return how long a seat has thought."""
        return sum(step.moves[seat].took_ms or 0 for step in self.steps)


def view_of(events: Iterable[PublicEvent]) -> MatchView:
    """Return the view that *events* tell."""
    view = MatchView()
    for event in events:
        view.last = event.number
        _take(view, event.kind, event.data)
    return view


def _take(view: MatchView, kind: str, data: Mapping[str, Any]) -> None:
    """Take the event of *kind* into *view*."""
    match kind:
        case "started":
            view.start_clock_s, view.play_clock_s = data["startClock"], data["playClock"]
            view.is_hidden = data["isHidden"]
        case "state":
            view.states.append(_state(data))
            _fill_in(view, data)
        case "asked":
            view.asked[data["seat"]] = PendingRole(data["seat"], data["message"], data["deadlineMs"] - data["graceMs"])
        case "answered":
            view.asked.pop(data["seat"], None)
        case "step":
            view.asked.clear()
            _take_step(view, data)
        case "completed" | "aborted" | "failed":
            view.end, view.reason, view.goals = kind, data.get("reason", ""), data.get("goals")
        case "closed":
            view.asked.clear()


def _state(data: Mapping[str, Any]) -> ReachedState:
    percepts = data.get("percepts")
    seen = None if percepts is None else tuple(tuple(map(plain_term, terms)) for terms in percepts)
    return ReachedState(data["step"], data["at"], data.get("state"), seen)


def _fill_in(view: MatchView, data: Mapping[str, Any]) -> None:
    """Take in the joint move that led to a state that every role knows, and that was not public with its step."""
    if view.steps and data.get("moves") is not None:
        known = zip(view.steps[-1].moves, data["moves"], data["origins"], strict=True)
        moves = tuple(replace(one, move=plain_term(move), origin=origin) for one, move, origin in known)
        view.steps[-1] = replace(view.steps[-1], moves=moves)


def _take_step(view: MatchView, data: Mapping[str, Any]) -> None:
    """Take a joint move into *view*; of a start clock its errors alone."""
    errors = tuple(map(error_words, data["errors"]))
    if data["isStart"]:
        view.start_errors = errors
        return
    n = len(errors)
    moves = [None] * n if data.get("moves") is None else [plain_term(move) for move in data["moves"]]
    origins = data.get("origins") or [""] * n
    view.steps.append(StepView(data["step"] + 1, tuple(map(MoveView, moves, errors, data["elapsedMs"], origins))))


@dataclass(frozen=True, slots=True)
class HiddenSteps:
    """Steps one after the other of which no move may be known yet: how long each seat thought, how often it erred."""

    first: int
    last: int
    took_ms: tuple[int, ...]
    n_errors: tuple[int, ...]


def rows_of(view: MatchView) -> list[StepView | HiddenSteps]:
    """Return the steps as a table shows them: those of which nothing may be known yet are one row."""
    rows: list[StepView | HiddenSteps] = []
    for is_hidden, found in groupby(view.steps, lambda step: all(one.move is None for one in step.moves)):
        steps = list(found)
        rows += [_hidden(steps)] if is_hidden else steps
    return rows


def _hidden(steps: Sequence[StepView]) -> HiddenSteps:
    seats = list(zip(*(step.moves for step in steps), strict=True))
    return HiddenSteps(
        steps[0].number,
        steps[-1].number,
        tuple(sum(one.took_ms or 0 for one in moves) for moves in seats),
        tuple(sum(bool(one.error) for one in moves) for moves in seats),
    )
