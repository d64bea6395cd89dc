"""A match in a terminal: boards as text, moves, errors, the result."""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Final, Self, TypeAlias

from rich.console import Console
from rich.errors import StyleSyntaxError
from rich.style import Style

from gdl import boards
from gdl.diagnostics import escaped
from gdl.game import Role
from gdl.games.library import GameFile
from gdl.language.rules import Description
from gdl.language.terms import Term
from server.match.exchange import Aborted, Answered, Event, Failed, Message, Sent, Started, StateReached, StepFinished
from server.match.position import facts_in
from server.terminal.progress import DELAY_S, progress

Draw: TypeAlias = Callable[[Iterable[Term]], str]


def coloured(symbol: str, colour: str | None) -> str:
    """Return *symbol* in *colour*, a name that rich knows; a Paint for terminals."""
    try:
        return symbol if colour is None else Style.parse(colour).render(symbol)
    except StyleSyntaxError:
        return symbol


def plain(symbol: str, colour: str | None) -> str:  # noqa: ARG001 -- a Paint that paints nothing
    """Return *symbol* as it is; the Paint for everything but terminals."""
    return symbol


def is_screen() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout.isatty()


def screen_paint() -> boards.Paint:
    """Return the Paint for standard output: colours on a terminal only."""
    return coloured if is_screen() else plain


def has_unicode() -> bool:
    """Return whether standard output is a terminal that shows Unicode, as far as its encoding tells."""
    return is_screen() and (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def drawer(description: Description, game: GameFile | None, paint: boards.Paint = plain) -> Draw:
    """Return what draws the states of the game; *game* is where its layout may be found, else one is guessed.

    On a terminal that has Unicode it draws with that.

    Raises:
        OSError: as `GameFile.about`.
        MetadataError: as `GameFile.about`.
    """
    layout = boards.layout_of(description, game.metadata() if game is not None else None)

    is_unicode = has_unicode()

    def draw(facts: Iterable[Term]) -> str:
        known = tuple(facts)
        board = boards.board_of(layout, description, known)
        return boards.text_of(boards.in_unicode(board) if is_unicode else board, paint) or facts_text(known)

    return draw


def facts_text(facts: Iterable[Term]) -> str:
    """Return the facts, one a line, ordered by text."""
    return "\n".join(sorted(escaped(str(fact)) for fact in facts))


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
                self._say(escaped("  ".join(f"{role}: {players.get(role, 'chance')}" for role in roles)))
            case StateReached(text=text) if self._draw is not None:
                self._say(f"\n{self._draw(facts_in(text))}\n")
            case StepFinished():
                self._tell_step(event)
            case Aborted(reason=reason) | Failed(message=reason):
                self._say(escaped(f"aborted: {reason}"))

    def _tell_step(self, event: StepFinished) -> None:
        """Print the joint move of a step, the errors, and the failures of players."""
        if event.moves is not None:
            self._say(f"step {event.step + 1}  {moves_text(self._roles, event.moves)}")
        for role, error, detail in zip(self._roles, event.errors, event.details, strict=True):
            if error:
                self._say(escaped(f"  {role}: {error} ({detail})"))
        for role, failure in zip(self._roles, event.failures, strict=False):
            if failure:
                self._say(escaped(f"  {role}: the player failed: {failure}"))


def moves_text(roles: Sequence[object], moves: Sequence[object]) -> str:
    """Return a joint move as one line: `white: (move 4 1 5 2)  black: noop`."""
    return escaped("  ".join(f"{role}: {move}" for role, move in zip(roles, moves, strict=True)))


def error_lines(
    roles: Sequence[object], errors: Sequence[Sequence[str]], failures: Sequence[Sequence[str]]
) -> Iterator[str]:
    """Yield what went wrong in a match, a line for each seat where something did, from what its record tells.

    Example:
        >>> list(error_lines(["red", "blue"], [["", ""], ["TO", ""], ["TO", ""]], [["", ""], ["", "KeyError"]]))
        ['errors of red: TO 2', 'errors of blue: the player failed in 1 of 2 answers, first: KeyError']
    """
    for index, role in enumerate(roles):
        kinds = Counter(step[index].partition(" ")[0] for step in errors if index < len(step) and step[index])
        parts = [f"{kind} {n}" for kind, n in kinds.items()]
        failed = [step[index] for step in failures if index < len(step) and step[index]]
        if failed:
            parts.append(f"the player failed in {len(failed)} of {len(failures)} answers, first: {failed[0]}")
        if parts:
            yield escaped(f"errors of {role}: {', '.join(parts)}")


def result_line(goals: Iterable[tuple[object, int | None]]) -> str:
    """Return the goals in role order as scripts read them: `result: white=100 black=0`; no goal, no word."""
    return escaped(" ".join(("result:", *(f"{role}={goal}" for role, goal in goals if goal is not None))))


_ASKING: Final = {Message.START: "the players prepare", Message.PLAY: "the players think"}


class Waiting:
    """Takes the events of one match, before their printer: the bar is gone when there is something to print.

    `is_waiting` says that the bar comes if it takes long until players are there, or their answers.
    """

    def __init__(self, console: Console | None = None, delay_s: float = DELAY_S) -> None:
        self._console, self._delay_s = console, delay_s
        self._bar = ExitStack()
        self.is_waiting = False

    def __enter__(self) -> Self:
        self._open("the players are started")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._close()

    def __call__(self, event: Event) -> None:
        """Show a bar from the first question of a step until all is answered, if that takes long."""
        match event:
            case Sent(message=message) if message in _ASKING:
                self._open(_ASKING[message])
            case Sent() | Answered():
                pass
            case _:
                self._close()

    def _open(self, what: str) -> None:
        if not self.is_waiting:
            self._bar.enter_context(progress(what, delay_s=self._delay_s, console=self._console))
            self.is_waiting = True

    def _close(self) -> None:
        self._bar.close()
        self.is_waiting = False
