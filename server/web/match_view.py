"""A match as its page shows it, read from its public events: states, joint moves, errors, times, goals, thoughts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final

from aiohttp import web
from cachetools import LRUCache

from gdl.game import NOOP
from gdl.wire.insights import Insight
from server.app_keys import MANAGER
from server.records.record import understood
from server.spectating import events
from server.spectating.broadcast import broadcast_of
from server.spectating.knowledge import KnownFacts
from server.spectating.public_journal import public_events
from server.spectating.viewers import secrecy_of
from server.storage.rows import MatchRow
from server.web.template_filters import error_words, plain_term

WAITING_NAMES: Final = frozenset({NOOP, "wait", "nothing", "idle"})
"""What rule authors call the move of a role that only waits."""
_N_VIEWS: Final = 64


@dataclass(frozen=True, slots=True)
class MoveView:
    """What one role did in a step. *Units*: milliseconds.

    Attributes:
        move: None where it is not to be known yet.
        failure: what its player said of its own code, after the end of the match.
    """

    move: str | None
    error: str
    took_ms: int | None
    origin: str
    failure: str = ""

    @property
    def trouble(self) -> str:
        """What went wrong, in words: with the reply, with the code of the player, or with both."""
        return _trouble(self.error, self.failure)

    @property
    def waits(self) -> bool:
        """Whether the move only waits for another role, as its name says."""
        return self.move in WAITING_NAMES


@dataclass(frozen=True, slots=True)
class StepView:
    """A joint move, the number of the state that it led to, and what roles thought before it, where it may be seen."""

    number: int
    moves: tuple[MoveView, ...]
    insights: tuple[Insight | None, ...] = ()

    def told(self, only: int | None) -> tuple[int, ...]:
        """Return whose moves are worth a line: *only* that role's; else of all that do not wait."""
        if only is not None:
            return (only,)
        found = tuple(number for number, one in enumerate(self.moves) if not one.waits)
        return found or tuple(range(len(self.moves)))


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
        start_errors: what went wrong at START, by seat, as `MoveView.trouble` says it.
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
        return at_start + sum(bool(step.moves[seat].trouble) for step in self.steps)

    def thinking_ms(self, seat: int) -> int:
        """Return how long a seat has thought."""
        return sum(step.moves[seat].took_ms or 0 for step in self.steps)


def view_of(public: Iterable[events.PublicEvent]) -> MatchView:
    """Return the view that the events *public* tell."""
    view = MatchView()
    for event in public:
        view.last = event.number
        _take(view, event.content)
    return view


def _take(view: MatchView, event: events.PublicContent) -> None:
    """Take *event* into *view*."""
    match event:
        case events.PublicStart():
            view.start_clock_s, view.play_clock_s = event.start_clock_s, event.play_clock_s
            view.is_hidden = event.is_hidden
        case events.PublicState():
            seen = None if event.percepts is None else tuple(tuple(map(plain_term, terms)) for terms in event.percepts)
            view.states.append(ReachedState(event.step, event.at_ms, event.state, seen))
            _fill_in(view, event)
        case events.PublicQuestion():
            clock_ends_ms = event.deadline_ms - event.grace_ms
            view.asked[event.seat] = PendingRole(event.seat, event.message.value, clock_ends_ms)
        case events.PublicAnswer():
            view.asked.pop(event.seat, None)
        case events.PublicStep():
            view.asked.clear()
            _take_step(view, event)
        case events.PublicEnd():
            view.end, view.reason = event.kind, event.reason
            view.goals = None if event.goals is None else list(event.goals)
        case events.PublicClose():
            view.asked.clear()


def _fill_in(view: MatchView, event: events.PublicState) -> None:
    """Take in the joint move that led to a state that every role knows, and that was not public with its step."""
    if view.steps and event.moves is not None:
        known = zip(view.steps[-1].moves, event.moves, event.origins or (), strict=True)
        moves = tuple(replace(one, move=plain_term(move), origin=origin.value) for one, move, origin in known)
        view.steps[-1] = replace(view.steps[-1], moves=moves)


def _take_step(view: MatchView, event: events.PublicStep) -> None:
    """Take a joint move into *view*; of a start clock its errors alone."""
    errors, n = tuple(map(error_words, event.errors)), len(event.errors)
    failures = event.failures or ("",) * n
    if event.is_start:
        view.start_errors = tuple(map(_trouble, errors, failures))
        return
    moves = [None] * n if event.moves is None else [plain_term(move) for move in event.moves]
    origins = [origin.value for origin in event.origins or ()] or [""] * n
    shown = tuple(map(MoveView, moves, errors, event.elapsed_ms, origins, failures))
    view.steps.append(StepView(event.step + 1, shown, event.insights or ()))


def _trouble(error: str, failure: str) -> str:
    return "; ".join(filter(None, (error, failure and f"the player failed: {failure}")))


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
        tuple(sum(bool(one.trouble) for one in moves) for moves in seats),
    )


class MatchViews:
    """What is public of matches that are over, which does not change any more."""

    def __init__(self) -> None:
        self._found: LRUCache[str, MatchView] = LRUCache(_N_VIEWS)

    async def of(self, request: web.Request, row: MatchRow) -> MatchView:
        """Return what is public of the match of *row* now."""
        found = self._found.get(row.id)
        if found is None:
            entries = broadcast_of(row, await request.app[MANAGER].journals.entries(row.id))
            with understood(row.id):
                found = view_of(public_events(entries, secrecy_of(row)))
            if secrecy_of(row).is_over:
                self._found[row.id] = found
        return found


VIEWS: Final = web.AppKey("views", MatchViews)
KNOWN_FACTS: Final = web.AppKey("known_facts", KnownFacts)
