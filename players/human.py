"""A person at a terminal as a player: the board, the menu of moves, and the reading of typed moves."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final, Protocol, TextIO, TypeAlias

import click

from gdl.boards import GameMetadata, board_of, layout_of, text_of
from gdl.boards.pieces import printable
from gdl.errors import GdlError
from gdl.game import Game, Role, State
from gdl.games.library import named_games
from gdl.language.rules import Description
from gdl.language.terms import Constant, Term
from players.deadline import Deadline
from players.player import GaveUpError, Player, UnclearMoveError, check_not_terminal

MAX_SHOWN: Final = 60


class Menu:
    """The legal moves of one turn, numbered from 1; *keys* maps keys to the texts of moves."""

    def __init__(self, moves: Sequence[Term], keys: Mapping[str, str] = MappingProxyType({})) -> None:
        self.moves = tuple(moves)
        by_text = {str(move): move for move in moves}
        self.keys: dict[str, Term] = {key: by_text[text] for key, text in keys.items() if text in by_text}
        self._has_numerals = any(_folded(text).isdecimal() for text in by_text)

    @property
    def is_forced(self) -> bool:
        """Whether the only move is a constant, as a no-op is."""
        return len(self.moves) == 1 and isinstance(self.moves[0], Constant)

    @property
    def is_by_keys(self) -> bool:
        """Whether every move has a key."""
        return bool(self.keys) and set(self.keys.values()) == set(self.moves)

    def lines(self) -> list[str]:
        """Return the moves as a terminal shows them: by their keys where all have one, otherwise by their numbers.

        Moves that are numbers themselves would be taken for those of others: then there are only the texts of moves.
        """
        if self.is_by_keys:
            return [printable(", ".join(f"{key or 'Enter'} = {_bare(move)}" for key, move in self.keys.items()))]
        listed = enumerate(self.moves[:MAX_SHOWN], 1)
        shown = [printable(str(move) if self._has_numerals else f"{number}. {move}") for number, move in listed]
        n_more = len(self.moves) - len(shown)
        more = [f"... and {n_more} more: type how a move begins to see those"] if n_more else []
        return [*_columns(shown), *more]

    def move(self, typed: str) -> Term:
        """Return the move that *typed* means.

        Raises:
            UnclearMoveError: none, or several; it lists them.
        """
        key = typed.strip()
        if key in self.keys:
            return self.keys[key]
        if key.isascii() and key.isdecimal() and not self._has_numerals:
            return self._numbered(key)
        wanted = _folded(key)
        fits = [move for move in self.moves if _folded(str(move)).startswith(wanted)] if wanted else []
        exact = [move for move in fits if _folded(str(move)) == wanted]
        found = exact or fits
        if len(found) == 1:
            return found[0]
        raise UnclearMoveError(key, [str(move) for move in found[:MAX_SHOWN]])

    def _numbered(self, digits: str) -> Term:
        number = int(digits) if len(digits) < 10 else 0
        if not 1 <= number <= len(self.moves):
            raise UnclearMoveError(digits, [])
        return self.moves[number - 1]


def _folded(text: str) -> str:
    """Return *text* without parentheses, in one case, with single blanks: `move up` means `(move up)`."""
    return " ".join(text.replace("(", " ").replace(")", " ").casefold().split())


def _bare(move: Term) -> str:
    return str(move).removeprefix("(").removesuffix(")")


def _columns(texts: Sequence[str], width: int = 78) -> list[str]:
    """Return *texts* in columns, read from left to right."""
    cell = max((len(text) for text in texts), default=0) + 2
    n_columns = max(1, width // cell)
    rows = (texts[i : i + n_columns] for i in range(0, len(texts), n_columns))
    return ["".join(text.ljust(cell) for text in row).rstrip() for row in rows]


Picture: TypeAlias = Callable[[Description, frozenset[Term]], str]
"""Draws facts of a state as text."""


def picture_of(metadata: GameMetadata | None, *, in_colour: bool) -> Picture:
    """Return what draws facts by the layout that *metadata* gives; without one it is guessed from the rules."""

    def draw(description: Description, facts: frozenset[Term]) -> str:
        board = board_of(layout_of(description, metadata), description, facts)
        return text_of(board, _painted) if in_colour else text_of(board)

    return draw


def _painted(symbol: str, colour: str | None) -> str:
    return click.style(symbol, fg=colour, bold=True) if colour else symbol


_CONSTANT: Final = re.compile(r"(?<![^\s(])[^\s()?][^\s()]*")


def metadata_for_rules(description: Description) -> GameMetadata | None:
    """Return the description of the first named game with exactly these rules, None where there is no such game.

    A player over HTTP gets rules without a name. Named are the games of the library, and those of the folder in
    `GGP_GAMES`.
    """
    words = {word.lower() for rule in description.rules for word in _CONSTANT.findall(str(rule.head.term))}
    for file in named_games():
        try:
            # Reading the rules of all games would take seconds: most texts lack one of the words.
            text = file.text().lower()
            if all(word in text for word in words) and file.read().rules == description.rules:
                return file.metadata()
        except (GdlError, OSError, UnicodeDecodeError):  # a broken file is no game that we know
            continue
    return None


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
    """Shows the person what the role knows, and takes the move that the person types.

    *metadata* describes the board and the keys of the game; without it, a named game may have the same rules.
    `q` quits and `c` takes the move of *adviser*, a player with the same percepts. A single move without arguments
    (a no-op) is made without asking.
    """

    def __init__(
        self,
        screen: Screen | None = None,
        metadata: GameMetadata | None = None,
        adviser: Player | None = None,
        adviser_clock_s: float = 5.0,
    ) -> None:
        self.screen = screen or controlling_terminal()
        self.metadata = metadata
        self.adviser, self.adviser_clock_s = adviser, adviser_clock_s
        self._events: dict[str, list[str]] = {}
        self._keys_shown: list[str] = []
        self._before: State
        self._chosen: Term | None = None

    def join(self, game: Game, role: Role, seed: int) -> None:
        """Prepare for a match, the adviser too."""
        super().join(game, role, seed)
        self._before, self._chosen = game.initial_state, None
        self._events.clear()
        self.metadata = self.metadata or metadata_for_rules(game.description)
        if self.adviser is not None:
            self.adviser.join(game, role, seed)
            self.adviser.worlds = self.worlds

    def start(self, deadline: Deadline) -> None:
        """Say who the person is."""
        self._tell(f"You are {self.role}.")
        if self.adviser is not None:
            self.adviser.start(deadline.at_most(self.adviser_clock_s))

    def perceive(self, own_move: Term | None, percepts: Sequence[Term]) -> None:
        """Note the step, to show it before the next question."""
        if self._chosen is not None and own_move not in (None, self._chosen):
            self._events[f"{self._chosen} does not count; made instead"] = [str(own_move)]
        if not self.game.has_imperfect_information:
            self._note_moves(percepts)
        elif percepts and not self.worlds.is_certain:
            self._events.setdefault("you perceive", []).extend(map(str, percepts))
        if self.adviser is not None:
            self.adviser.perceive(own_move, percepts)

    def _note_moves(self, moves: Sequence[Term]) -> None:
        for role, move in zip(self.game.roles, moves, strict=True):
            if role != self.role and not Menu(self._before.legal_moves(role)).is_forced:
                self._events.setdefault(str(role), []).append(str(move))
        self._before = self.worlds.state

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:  # noqa: ARG002 -- people take their time
        """Return the move that the person types.

        Raises:
            GaveUpError: the person quit.
        """
        check_not_terminal(state)
        menu = Menu(state.legal_moves(role), self.metadata.keys if self.metadata else {})
        self._chosen = menu.moves[0]
        self.suggest(self._chosen)
        if not menu.is_forced:
            self.show_events()
            self._show_known()
            self._show(menu)
            self._chosen = self._asked(menu)
        return self._chosen

    def show_events(self) -> None:
        """Show the moves and percepts since the last time."""
        for who, what in self._events.items():
            self._tell(f"{who}: {', '.join(what)}")
        self._events.clear()

    def draw(self, facts: frozenset[Term]) -> str:
        """Return the picture of *facts*."""
        return picture_of(self.metadata, in_colour=self.screen.has_colours)(self.game.description, facts)

    def stop(self) -> None:
        """Show the last moves and percepts."""
        self.show_events()

    def _show(self, menu: Menu) -> None:
        """List the moves, unless they are the keys that the person has already seen."""
        lines = menu.lines()
        if not menu.is_by_keys or lines != self._keys_shown:
            self.screen.say("\n".join(lines))
            self._keys_shown = lines

    def _show_known(self) -> None:
        """Draw the facts that are true in all possible worlds, if these are all known."""
        if self.worlds.is_exact:
            known = frozenset.intersection(*(state.facts for state in self.worlds.states))
            picture = self.draw(known)
            if picture:
                self.screen.say(picture)

    def _asked(self, menu: Menu) -> Term:
        while True:
            typed = self.screen.ask(printable(f"{self.role}> "))
            if typed is None or typed.strip() == "q":
                raise GaveUpError
            try:
                return self._advised() if typed.strip() == "c" and self.adviser is not None else menu.move(typed)
            except UnclearMoveError as error:
                self._tell(f"{error}; q quits{', c lets the computer choose' if self.adviser else ''}")

    def _advised(self) -> Term:
        assert self.adviser is not None
        move = self.adviser.move(self.worlds.state, self.role, Deadline.after(self.adviser_clock_s))
        self._tell(f"computer's choice: {move}")
        return move

    def _tell(self, line: str) -> None:
        """Show a line, which may quote the rules, without orders to the terminal."""
        self.screen.say(printable(line))
