"""A person at a terminal as a player."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, TextIO

from gdl.game import Game, Role, State
from gdl.games.about import About
from gdl.terms import Term
from players.deadline import Deadline
from players.errors import GaveUpError, UnclearMoveError
from players.menu import Menu
from players.pictures import about_rules, picture_of
from players.player import Player


class Screen(Protocol):
    """Where a person reads and types."""

    def say(self, text: str) -> None:
        """Show *text* and end the line."""

    def ask(self, prompt: str) -> str | None:
        """Show *prompt* and return the line that was typed, None where there will be no more."""

    @property
    def has_colours(self) -> bool:
        """Whether text may come in colours."""


class Streams:
    """A screen over two text streams."""

    def __init__(self, typed: TextIO, shown: TextIO) -> None:
        self._typed, self._shown = typed, shown

    def say(self, text: str) -> None:
        """Show *text* and end the line."""
        print(text, file=self._shown, flush=True)

    def ask(self, prompt: str) -> str | None:
        """Show *prompt* and return the line that was typed, None at the end of the stream."""
        print(prompt, end="", file=self._shown, flush=True)
        line = self._typed.readline()
        return line.rstrip("\r\n") if line else None

    @property
    def has_colours(self) -> bool:
        """Whether the text goes to a terminal."""
        return self._shown.isatty()


def controlling_terminal() -> Streams:
    """Return the terminal that the process was started from, whatever became of its standard streams.

    Raises:
        OSError: there is none.
    """
    tty = Path("/dev/tty")
    return Streams(tty.open(encoding="utf-8", errors="replace"), tty.open("w", encoding="utf-8"))


class HumanPlayer(Player):
    """Shows what the person may know, and takes the move that the person types.

    *about* tells how to draw the game and which keys it has; without it, the library may know the same rules.
    `q` quits and `c` takes the move of *adviser*, a player that is told the same. A single move without arguments
    (a no-op) is made without asking.
    """

    def __init__(
        self,
        screen: Screen | None = None,
        about: About | None = None,
        adviser: Player | None = None,
        adviser_clock_s: float = 5.0,
    ) -> None:
        self.screen = screen or controlling_terminal()
        self.about = about
        self.adviser, self.adviser_clock_s = adviser, adviser_clock_s
        self._news: dict[str, list[str]] = {}
        self._keys_shown: list[str] = []
        self._before: State

    def join(self, game: Game, role: Role, seed: int) -> None:
        """Sit down at a match, the adviser too."""
        super().join(game, role, seed)
        self.about = self.about or about_rules(game.description)
        if self.adviser is not None:
            self.adviser.join(game, role, seed)
            self.adviser.worlds = self.worlds

    def start(self, deadline: Deadline) -> None:
        """Say who the person is."""
        self.screen.say(f"You are {self.role}.")
        if self.adviser is not None:
            self.adviser.start(deadline.at_most(self.adviser_clock_s))

    def perceive(self, own_move: Term | None, percepts: Sequence[Term]) -> None:
        """Note what happened, to tell it when the person is asked again."""
        if not self.game.has_imperfect_information:
            self._note_moves(percepts)
        elif percepts and not self.worlds.is_certain:
            self._news.setdefault("you perceive", []).extend(map(str, percepts))
        if self.adviser is not None:
            self.adviser.perceive(own_move, percepts)

    def _note_moves(self, moves: Sequence[Term]) -> None:
        for role, move in zip(self.game.roles, moves, strict=True):
            if role != self.role and not Menu(self._before.legal_moves(role)).is_forced:
                self._news.setdefault(str(role), []).append(str(move))

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:  # noqa: ARG002 -- people take their time
        """Return the move that the person types.

        Raises:
            GaveUpError: the person quit.
        """
        menu = Menu(state.legal_moves(role), self.about.keys if self.about else {})
        self._before = state
        self.suggest(menu.moves[0])
        if menu.is_forced:
            return menu.moves[0]
        self.tell_news()
        self._show_known()
        self._show(menu)
        return self._asked(menu)

    def tell_news(self) -> None:
        """Say what happened since the person was last told."""
        for who, what in self._news.items():
            self.screen.say(f"{who}: {', '.join(what)}")
        self._news.clear()

    def draw(self, facts: frozenset[Term]) -> str:
        """Return the picture of *facts*."""
        return picture_of(self.about, in_colour=self.screen.has_colours)(self.game.description, facts)

    def stop(self) -> None:
        """Tell the rest."""
        self.tell_news()

    def _show(self, menu: Menu) -> None:
        """List the moves, unless they are the keys that the person has already seen."""
        lines = menu.lines()
        if not menu.is_by_keys or lines != self._keys_shown:
            self.screen.say("\n".join(lines))
            self._keys_shown = lines

    def _show_known(self) -> None:
        """Draw what is true in all worlds that the person may be in, if these are all known."""
        if self.worlds.is_exact:
            known = frozenset.intersection(*(state.facts for state in self.worlds.states))
            picture = self.draw(known)
            if picture:
                self.screen.say(picture)

    def _asked(self, menu: Menu) -> Term:
        while True:
            typed = self.screen.ask(f"{self.role}> ")
            if typed is None or typed.strip() == "q":
                raise GaveUpError
            try:
                return self._advised() if typed.strip() == "c" and self.adviser is not None else menu.move(typed)
            except UnclearMoveError as error:
                self.screen.say(f"{error}; q quits{', c lets the computer choose' if self.adviser else ''}")

    def _advised(self) -> Term:
        assert self.adviser is not None
        move = self.adviser.move(self.worlds.state, self.role, Deadline.after(self.adviser_clock_s))
        self.screen.say(f"computer's choice: {move}")
        return move
