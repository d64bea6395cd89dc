"""A bar on the terminal while a match waits for its players."""

from __future__ import annotations

from contextlib import ExitStack
from types import TracebackType
from typing import Final, Self

from rich.console import Console

from server.match.events import Answered, Event, Message, Sent
from server.terminal.progress import DELAY_S, progress

_ASKING: Final = {Message.START: "the players prepare", Message.PLAY: "the players think"}


class Waiting:
    """Takes the events of one match, before whoever prints them: the bar is gone when there is something to say.

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
