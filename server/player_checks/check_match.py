"""A match with the player under test, to see what it does: the engine referees and plays the other roles."""

import asyncio
import itertools
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Final

from gdl.engines import make_game
from gdl.errors import MessageError
from gdl.game import Game, Role, State
from gdl.games.library import find_game
from gdl.language.terms import Term
from gdl.quantities import quantity
from gdl.wire.info import is_busy
from gdl.wire.messages import Abort, Dialect, Message, Play, Start, Stop, to_text
from gdl.wire.replies import BARE_HINT, find_move, first_term, is_bare
from gdl.wire.scrambling import Scrambling
from server.player_checks.probe import Observed, Probe, Request

BUSY_PAUSE_S: Final = 0.5
N_BUSY_TRIES: Final = 4
"""How often a player that is busy gets START: the match before may be over for it a moment later than for us."""
GRACE_S: Final = 1.0
"""How long after the end of a clock an answer is still waited for, to tell late from silent."""


class CheckFailedError(Exception):
    """The player did something that it should not have done."""


class PlayerBusyError(Exception):
    """The player takes no match now, so that what should be checked in one cannot be."""

    def __str__(self) -> str:
        return "START is answered with busy: it plays another match, or takes none, so this was not checked"


@dataclass(frozen=True, slots=True)
class Clocks:
    """The clocks of every match of an examination. *Units*: whole seconds."""

    start_s: int = 5
    play_s: int = 3


@dataclass
class Spelling:
    """How a match is written on the wire: rules, terms out and in, and the text of a whole message."""

    rules: Callable[[str], str] = str
    term: Callable[[Term], Term] = field(default=lambda term: term)
    heard: Callable[[Term], Term] = field(default=lambda term: term)
    text: Callable[[str], str] = str


def as_written(_game: Game) -> Spelling:
    """Spell everything as the rules do."""
    return Spelling()


def scrambled(game: Game) -> Spelling:
    """Rename all constants but the keywords, as servers do against players that go by names."""
    scrambling = Scrambling(game.description, seed=7)
    return Spelling(lambda _: scrambling.rules(), scrambling.scrambled, scrambling.original)


def upper_case(_game: Game) -> Spelling:
    """Write everything but the match id in upper case, as one server does."""
    return Spelling(text=str.upper)


def spaced(_game: Game) -> Spelling:
    """Write every parenthesis on a line of its own, with blanks around it."""
    return Spelling(text=lambda text: text.replace("(", "\r\n ( ").replace(")", " )\t"))


@dataclass(frozen=True, slots=True)
class Setting:
    """What is played: a game of the library, the index of the player's role, and how it is written.

    With `lingers` it is seen after each reply what comes then.
    """

    game: str = "tictactoe"
    role: int = 0
    spelling: Callable[[Game], Spelling] = as_written
    dialect: Dialect = Dialect.GDL1
    lingers: bool = False


TICTACTOE: Final = Setting()


_NUMBERS: Final = itertools.count(1)


@cache
def library_game(name: str) -> Game:
    """Return a game of the library."""
    return make_game(find_game(name).read())


class CheckMatch:
    """One match of a player; the other roles move at random, always in the same way."""

    def __init__(self, probe: Probe, clocks: Clocks, setting: Setting) -> None:
        self.probe, self.clocks, self.dialect, self.lingers = probe, clocks, setting.dialect, setting.lingers
        self.game = library_game(setting.game)
        self.role: Role = self.game.roles[setting.role]
        self.spelling = setting.spelling(self.game)
        self.state: State = self.game.initial_state
        self.match_id = f"Check.{setting.game}-{next(_NUMBERS)}.Ab"
        self.last_seen: tuple[Term, ...] | None = None
        self.own_move: Term | None = None
        self.turn = 0
        self.is_open = False
        self._random = Random(1)

    async def start(self) -> Observed:
        """Send START; return what was observed, answered in time.

        Raises:
            CheckFailedError: there is no reply, or a late one.
            PlayerBusyError: the player takes no match.
        """
        role = self.spelling.term(self.role)
        rules = self.spelling.rules(self.game.description.source.text)
        message = Start(self.match_id, role, rules, self.clocks.start_s, self.clocks.play_s)  # type: ignore[arg-type]  # a renamed constant is one
        for _ in range(N_BUSY_TRIES):
            self.is_open = True
            observed = await self.send(message, self.clocks.start_s, "START")
            self.is_open = not is_busy(observed.text)
            if self.is_open:
                return observed
            await asyncio.sleep(BUSY_PAUSE_S)
        raise PlayerBusyError

    async def ask(self) -> Term:
        """Send PLAY; return the legal move that is answered in time.

        Raises:
            CheckFailedError: it is late, garbled, or no legal move.
        """
        return self.legal((await self.ask_observed()).text)

    async def ask_observed(self) -> Observed:
        """Send PLAY; return what was observed, answered in time.

        Raises:
            CheckFailedError: there is no reply, or a late one.
        """
        moves = " ".join(str(self.spelling.term(move)) for move in self.state.legal_moves(self.role))
        legal_line = self._spelled(f"(LEGAL {self.match_id} ({moves}))")
        name = f"PLAY of step {self.turn + 1}"
        return await self.send(self._message(Play), self.clocks.play_s, name, legal_line)

    def legal(self, reply: str) -> Term:
        """Return the legal move that *reply* names, as the rules spell it.

        Raises:
            CheckFailedError: it names none.
        """
        moves = self.state.legal_moves(self.role)
        try:
            term = self.spelling.heard(first_term(reply))
        except MessageError as error:
            raise CheckFailedError(f"step {self.turn + 1}: the reply is no move: {error}") from error
        found = find_move(term, moves)
        if found is None:
            some = ", ".join(str(self.spelling.term(move)) for move in moves[:4])
            more = " ..." if len(moves) > 4 else ""
            said = f"{reply.strip()[:60]!r} is not one of {quantity(len(moves), 'legal move')} ({some}{more})"
            hint = f"; {BARE_HINT}" if is_bare(term, moves) else ""
            raise CheckFailedError(f"step {self.turn + 1}: {said}{hint}")
        return found

    def advance(self, own_move: Term) -> None:
        """Make a step in which the player makes *own_move*."""
        moves = tuple(
            own_move if role == self.role else self._random.choice(self.state.legal_moves(role))
            for role in self.game.roles
        )
        self.last_seen = self.state.percepts(self.role, moves)
        self.own_move = own_move
        self.state = self.state.next_state(moves)
        self.turn += 1

    async def play(self, max_steps: int = 100) -> None:
        """Play on until the end of the game, or for *max_steps*.

        Raises:
            CheckFailedError: as `ask`.
        """
        for _ in range(max_steps):
            if self.state.is_terminal:
                return
            self.advance(await self.ask())

    async def stop(self) -> Observed:
        """Send STOP with the last step; return what was observed."""
        observed = await self.send(self._message(Stop), self.clocks.play_s, "STOP")
        self.is_open = False
        return observed

    async def close(self) -> None:
        """Abort the match if it is still open, and let go of what the probe holds for it."""
        if self.is_open:
            with suppress(CheckFailedError):
                await self.abort()
        await self.probe.end_match(self.match_id)

    async def abort(self) -> Observed:
        """Send ABORT; return what was observed."""
        self.is_open = False
        return await self.send(Abort(self.match_id), self.clocks.play_s, "ABORT")

    def text_of(self, message: Message) -> str:
        """Return *message* as this match spells it; the match id stays as it is."""
        return self._spelled(to_text(message, self.dialect))

    def _spelled(self, text: str) -> str:
        head, found, tail = text.partition(self.match_id)
        return self.spelling.text(head) + found + self.spelling.text(tail)

    async def send(self, message: Message, clock_s: float, name: str, legal_line: str = "") -> Observed:
        """Send *message*; return what was observed, answered within *clock_s*.

        Raises:
            CheckFailedError: there is no reply, or a late one.
        """
        body = self.text_of(message).encode()
        request = Request(body, match_id=self.match_id, step=self.turn, legal_line=legal_line, lingers=self.lingers)
        observed = await self.probe.exchange(request, clock_s + GRACE_S)
        if observed.trouble:
            raise CheckFailedError(f"{name}: {observed.trouble}")
        if observed.took_s > clock_s:
            raise CheckFailedError(f"{name}: answered after {observed.took_s:.2f} s, its clock has {clock_s:g} s")
        return observed

    def _message(self, kind: type[Play] | type[Stop]) -> Play | Stop:
        last_seen = None if self.last_seen is None else tuple(map(self.spelling.term, self.last_seen))
        own_move = None if self.own_move is None else self.spelling.term(self.own_move)
        return kind(self.match_id, last_seen, self.turn, own_move)

    def other_moves(self, move: Term) -> Iterator[Term]:
        """Yield the legal moves but *move*."""
        return (other for other in self.state.legal_moves(self.role) if other != move)
