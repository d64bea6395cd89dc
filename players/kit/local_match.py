"""A match between players of one process: no messages, no server, each player gets only its own percepts."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from gdl.display import board_svg
from gdl.errors import NoLegalMoveError
from gdl.game import Game, Role, State, no_such_move
from gdl.language.terms import Term
from players.deadline import Deadline, SearchBudget
from players.player import Player


@dataclass(frozen=True, slots=True)
class LocalStep:
    """One step of a match: the joint move, in the order of the roles, and the state that it led to."""

    moves: tuple[Term, ...]
    state: State


WhileThinking: TypeAlias = Callable[[Role], AbstractContextManager[object]]


class LocalMatch:
    """A match between *players*, one for each role that is not chance; equal seeds draw equal chance moves.

    *Units*: seconds for the clock of a move, and for that of the start, which is as long unless it is given; None lets
    players think as long as they like.

    Attributes:
        state: the state now.
        steps: what was played so far.
    """

    def __init__(  # noqa: PLR0913 -- the last one by name
        self,
        game: Game,
        players: Mapping[Role, Player],
        seed: int,
        clock_s: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        *,
        start_clock_s: float | None = None,
    ) -> None:
        self.game, self.players = game, players
        self.random = Random(seed)
        self.state = game.initial_state
        self.steps: list[LocalStep] = []
        self._clock_s, self._clock = clock_s, clock
        self._start_clock_s = clock_s if start_clock_s is None else start_clock_s

    def play(self, while_thinking: WhileThinking = nullcontext) -> Iterator[LocalStep]:
        """Play to the end, yielding every step.

        *while_thinking* makes what surrounds the thinking of a role, such as a sign that it goes on. Where the rules
        hide from a role which moves it has, a random legal move is substituted for one that its percepts allow.

        Raises:
            IllegalMoveError: a player moved as it may not, whatever state it takes for the true one.
            WrongTypeError: what a player returned is no term.
            NoLegalMoveError: the rules leave a role without a move.
        """
        for role, player in self.players.items():
            player.join(self.game, role, self.random.getrandbits(32))
            with while_thinking(role):
                player.start(self._deadline(self._start_clock_s))
        while not self.state.is_terminal:
            yield self._step(while_thinking)
        for player in self.players.values():
            player.stop()

    def _repr_svg_(self) -> str:
        return board_svg(self.game.description, self.state.facts)

    def _deadline(self, clock_s: float | None) -> Deadline:
        return Deadline.after(float("inf") if clock_s is None else clock_s, self._clock)

    def _step(self, while_thinking: WhileThinking) -> LocalStep:
        before = self.state
        moves = tuple(self._move(role, while_thinking) for role in self.game.roles)
        self.state = before.next_state(moves)
        for role, player in self.players.items():
            self._report(before, role, player, moves)
        self.steps.append(LocalStep(moves, self.state))
        return self.steps[-1]

    def _move(self, role: Role, while_thinking: WhileThinking) -> Term:
        """Return the move of *role*, a random one for chance; raises as `play`."""
        legal = self.state.legal_moves(role)
        if not legal:
            raise NoLegalMoveError(str(role), len(self.steps))
        if role not in self.players:
            return self.random.choice(legal)
        player = self.players[role]
        with while_thinking(role):
            move = player.move(player.worlds.state, role, self._deadline(self._clock_s))
        if move in legal:
            return move
        if any(move in state.legal_moves(role) for state in player.worlds.states):
            return self.random.choice(legal)
        raise no_such_move(role, move)

    def _report(self, before: State, role: Role, player: Player, moves: tuple[Term, ...]) -> None:
        own_move, percepts = moves[self.game.roles.index(role)], before.percepts(role, moves)
        if not self.state.is_terminal:
            player.worlds.advance(own_move, percepts, SearchBudget(deadline=self._deadline(self._clock_s)))
        player.perceive(own_move, percepts)
