"""What happens in a match, told on a terminal or in a log: boards, moves, errors, the result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from gdl.game import Role
from server.match.events import Aborted, Event, Failed, Started, StateReached, StepFinished
from server.terminal.picture import Draw


class Commentary:
    """Tells the events of one match line by line; with *draw* also its states."""

    def __init__(self, say: Callable[[str], None], draw: Draw | None) -> None:
        self._say, self._draw = say, draw
        self._roles: tuple[Role, ...] = ()

    def __call__(self, event: Event) -> None:
        """Tell *event*, if people want to know it."""
        match event:
            case Started(roles=roles, setup=setup):
                self._roles = roles
                players = {seat.role: seat.player_name for seat in setup.seats}
                self._say("  ".join(f"{role}: {players.get(role, 'chance')}" for role in roles))
            case StateReached(facts=facts) if self._draw is not None:
                self._say(f"\n{self._draw(facts)}\n")
            case StepFinished():
                self._tell_step(event)
            case Aborted(reason=reason) | Failed(message=reason):
                self._say(f"aborted: {reason}")

    def _tell_step(self, event: StepFinished) -> None:
        if event.moves is not None:
            self._say(f"step {event.step + 1}  {moves_text(self._roles, event.moves)}")
        for role, error, detail in zip(self._roles, event.errors, event.details, strict=True):
            if error:
                self._say(f"  {role}: {error} ({detail})")


def moves_text(roles: Sequence[object], moves: Sequence[object]) -> str:
    """Return a joint move as one line: `white: (move 4 1 5 2)  black: noop`."""
    return "  ".join(f"{role}: {move}" for role, move in zip(roles, moves, strict=True))


def result_line(goals: Iterable[tuple[object, int | None]]) -> str:
    """Return the goals in role order as scripts read them: `result: white=100 black=0`; no goal, no word."""
    return " ".join(("result:", *(f"{role}={goal}" for role, goal in goals if goal is not None)))
