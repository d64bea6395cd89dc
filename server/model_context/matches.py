"""Matches that a language model plays against players of ours, move by move."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from mcp.server.mcpserver.exceptions import ToolError

from gdl.errors import GdlError
from gdl.game import Role, State, played_roles
from gdl.language.terms import Term
from players.deadline import Deadline
from players.kit.local_match import LocalMatch, LocalStep
from players.player import Player
from players.registry import PLAYERS, find_player
from server.model_context.positions import NamedGame, legal_move, told

MAX_SEATS: Final = 16
"""How many matches are kept at once; the oldest one is given up for a new one."""
CLOCK_S: Final = 2.0
"""How long the other players think about a move."""
OPPONENTS: Final = tuple(name for name in PLAYERS if name not in ("human", "llm", "openspiel"))


class _Seated(Player):
    """The player of a model's role: makes the move that was submitted."""

    submitted: Term

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:  # noqa: ARG002 -- the signature is the kit's
        """Return the move that was submitted."""
        return self.submitted


@dataclass(eq=False)
class ModelSeat:
    """A role of a match that a model plays against players of ours; a move that is the only one is made by itself."""

    named: NamedGame
    role: Role
    match: LocalMatch
    player: _Seated
    percepts: list[list[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begin the match."""
        self._steps: Iterator[LocalStep] = self.match.play()
        self._n_seen_steps = 0
        self._go_on()

    def make(self, text: str) -> dict[str, Any]:
        """Make the move that *text* writes, and return the position in which the role chooses next.

        Raises:
            ToolError: it is no legal move, or the match is over.
        """
        if self.match.state.is_terminal:
            raise ToolError("the match is over")
        move = legal_move(self.match.state, self.role, text)
        self._n_seen_steps = len(self.match.steps)
        self._step(move)
        self._go_on()
        return self.view()

    def view(self) -> dict[str, Any]:
        """Return what the role knows: of a game of hidden information a position that agrees with what it saw.

        Where nothing is hidden, that is also which moves were made since it chose last, its own among them.
        """
        of, state = self.match.game, self.match.state
        # Every role knows the first state; before the first step there are no worlds to take one from.
        is_hidden = of.has_imperfect_information and not state.is_terminal and bool(self.percepts)
        shown = self.player.worlds.state if is_hidden else state
        found = {"role": str(self.role), "steps": len(self.percepts), "seen": self.percepts[-10:], "isGuess": is_hidden}
        if not of.has_imperfect_information:
            found["moves"] = [
                {str(role): str(move) for role, move in zip(of.roles, step.moves, strict=True)}
                for step in self.match.steps[self._n_seen_steps :]
            ]
        return found | told(self.named, shown, [self.role])

    def _go_on(self) -> None:
        """Make steps as long as the role has one legal move alone."""
        while not self.match.state.is_terminal:
            legal = self.match.state.legal_moves(self.role)
            if len(legal) != 1:
                return
            self._step(legal[0])

    def _step(self, move: Term) -> None:
        before = self.match.state
        self.player.submitted = move
        step = next(self._steps, None)
        if step is None:  # a StopIteration would never leave the thread
            raise ToolError("the match cannot go on")
        self.percepts.append([str(percept) for percept in before.percepts(self.role, step.moves)])


class Seats:
    """The matches that models play, by their ids."""

    def __init__(self, clock_s: float = CLOCK_S) -> None:
        self._seats: dict[str, ModelSeat] = {}
        self._clock_s = clock_s

    def begin(self, name: str, role: str, opponent: str) -> dict[str, Any]:
        """Begin a match in which a model has *role*, and *opponent* all others; return its first position.

        Raises:
            ToolError: the game has no such role, there is no such opponent, or a player fails.
            UnknownNameError: there is no such game.
        """
        named = NamedGame.find(name)
        of = named.game
        roles = {str(each): each for each in played_roles(of)}
        if role not in roles:
            raise ToolError(f"the roles of {name} are {', '.join(roles)}, not {role[:200]!r}")
        if opponent not in OPPONENTS:
            raise ToolError(f"opponents are {', '.join(OPPONENTS)}, not {opponent[:200]!r}")
        player, make = _Seated(), find_player(opponent)
        players = {each: player if each == roles[role] else make() for each in roles.values()}
        with _failures_told():
            seat = ModelSeat(named, roles[role], LocalMatch(of, players, secrets.randbits(32), self._clock_s), player)
            view = seat.view()
        match_id = secrets.token_hex(4)
        while len(self._seats) >= MAX_SEATS:
            del self._seats[next(iter(self._seats))]
        self._seats[match_id] = seat
        return {"match": match_id} | view

    def move(self, match_id: str, move: str) -> dict[str, Any]:
        """Make a move of the model's role; a match in which a player fails is given up.

        Raises:
            ToolError: there is no such match, the move is not legal, or a player fails.
        """
        if match_id not in self._seats:
            raise ToolError(f"there is no match {match_id[:200]!r}: begin one with begin_match")
        with _failures_told(lambda: self._seats.pop(match_id)):
            return self._seats[match_id].make(move)


@contextmanager
def _failures_told(give_up: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Call *give_up* where a match fails, and raise a ToolError that says why; a ToolError is none of its failures."""
    try:
        yield
    except ToolError:
        raise
    except Exception as error:  # a player may fail in any way
        give_up()
        reason = str(error) if isinstance(error, GdlError) else f"{type(error).__name__}: {error}"
        raise ToolError(f"the match has failed and is given up: {reason}") from error
