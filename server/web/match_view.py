"""A match as its page shows it, told by its public events: states, joint moves, errors, times, goals, who is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from server.records.entries import ENDS
from server.spectating.events import Curtain, PublicEvent
from server.web.words import error_words, plain_term


@dataclass(frozen=True, slots=True)
class MoveView:
    """What one role did in a step: `move` is None where it is not to be known yet. *Units*: milliseconds."""

    move: str | None
    error: str
    took_ms: int | None
    origin: str

    @property
    def is_plain(self) -> bool:
        """Whether the move says no more than that somebody waits or must: a no-op."""
        return self.move is not None and not self.move.startswith("(")


@dataclass(frozen=True, slots=True)
class StepView:
    """A joint move, and the number of the state that it led to."""

    number: int
    moves: tuple[MoveView, ...]


@dataclass(frozen=True, slots=True)
class StateView:
    """A state: its text is None where nobody may know it yet; `percepts` are by role, of the move before."""

    number: int
    at_ms: int
    text: str | None
    percepts: tuple[tuple[str, ...], ...] | None


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that is not answered yet."""

    seat: int
    message: str
    deadline_ms: int


@dataclass(slots=True)
class MatchView:
    """What anybody may know of a match now.

    Attributes:
        start_errors: what went wrong at START, by seat.
        end: how it ended, in a word; empty while it is played.
        last: the number of the last event.
    """

    start_clock_s: int = 0
    play_clock_s: int = 0
    is_hidden: bool = False
    states: list[StateView] = field(default_factory=list)
    steps: list[StepView] = field(default_factory=list)
    start_errors: tuple[str, ...] = ()
    asked: dict[int, Asked] = field(default_factory=dict)
    goals: Sequence[int | None] | None = None
    end: str = ""
    reason: str = ""
    last: int = -1

    @property
    def n_steps(self) -> int:
        """The number of the last state."""
        return max(0, len(self.states) - 1)

    def state(self, step: int) -> StateView | None:
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


def public_events(entries: Sequence[Mapping[str, Any]], *, has_ended: bool) -> Iterable[PublicEvent]:
    """Yield what anybody may know of a journal's entries."""
    if entries:
        curtain = Curtain(dict(entries[0]), has_ended)
        for number, entry in enumerate(entries):
            event = curtain.public(number, dict(entry))
            if event is not None:
                yield event


def _take(view: MatchView, kind: str, data: Mapping[str, Any]) -> None:
    match kind:
        case "started":
            view.start_clock_s, view.play_clock_s = data["startClock"], data["playClock"]
            view.is_hidden = data["isHidden"]
        case "state":
            view.states.append(_state(data))
        case "asked":
            view.asked[data["seat"]] = Asked(data["seat"], data["message"], data["deadlineMs"])
        case "answered":
            view.asked.pop(data["seat"], None)
        case "step":
            view.asked.clear()
            _take_step(view, data)
        case _ if kind in ENDS:
            view.end, view.reason, view.goals = kind, data.get("reason", ""), data.get("goals")
        case "closed":
            view.asked.clear()


def _state(data: Mapping[str, Any]) -> StateView:
    percepts = data.get("percepts")
    seen = None if percepts is None else tuple(tuple(map(plain_term, terms)) for terms in percepts)
    return StateView(data["step"], data["at"], data.get("state"), seen)


def _take_step(view: MatchView, data: Mapping[str, Any]) -> None:
    errors = tuple(map(error_words, data["errors"]))
    if data["isStart"]:
        view.start_errors = errors
        return
    n = len(errors)
    moves = [None] * n if data.get("moves") is None else [plain_term(move) for move in data["moves"]]
    origins = data.get("origins") or [""] * n
    view.steps.append(StepView(data["step"] + 1, tuple(map(MoveView, moves, errors, data["elapsedMs"], origins))))
