"""What a tree search asks of an engine, whichever it is: moves, followers, goals, and what plays at random come to."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from random import Random
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from gdl.best import BestGame
from gdl.game import RANDOM, Game, State
from gdl.terms import Term
from players.deadline import Budget, Deadline
from players.playouts import play_out
from players.positions import goal_shares

Spot = TypeVar("Spot", bound=Hashable)
Move = TypeVar("Move")
Shares: TypeAlias = tuple[float, ...]
"""The goals of the roles on a scale from 0 to 1."""

MAX_STATES: Final = 50_000


class Evaluator(Protocol[Spot, Move]):
    """An engine at the service of a search, which knows states as spots and moves as the engine likes them best.

    `max_leaves` are worth evaluating at once; `max_plays` at random cost hardly more than one, and multiples of it are
    cheapest; `max_spots` fit into memory.
    """

    max_leaves: int
    max_plays: int
    max_spots: int

    @property
    def chance(self) -> int | None:
        """The number of the role that is chance."""

    def spot(self, state: State) -> Spot:
        """Return the spot of *state*."""

    def moves(self, spot: Spot) -> tuple[Sequence[Move], ...]:
        """Return the legal moves of every role in role order, nothing in a terminal state."""

    def term(self, move: Move) -> Term:
        """Return *move* as the rules write it."""

    def after(self, spot: Spot, moves: Sequence[Move]) -> Spot:
        """Return the spot after one legal move of each role."""

    def goals(self, spot: Spot) -> Shares:
        """Return the goals at *spot*, one half where there is no single value."""

    def play_out(self, spots: Sequence[Spot], n_each: int, random: Random, budget: Budget) -> Sequence[Shares] | None:
        """Return the mean goals of *n_each* plays at random from each spot, None where time ran out before."""


class StateEvaluator:
    """One play at a time, through the states of whatever engine the game has."""

    max_leaves = max_plays = 1
    max_spots = MAX_STATES

    def __init__(self, game: Game) -> None:
        self.game = game
        self.chance = chance_of(game)

    def spot(self, state: State) -> State:
        """Return *state* itself."""
        return state

    def moves(self, spot: State) -> tuple[Sequence[Term], ...]:
        """Return the legal moves of every role in role order, nothing in a terminal state."""
        return () if spot.is_terminal else tuple(spot.legal_moves(role) for role in self.game.roles)

    def term(self, move: Term) -> Term:
        """Return *move* itself."""
        return move

    def after(self, spot: State, moves: Sequence[Term]) -> State:
        """Return the state after one legal move of each role."""
        return spot.next_state(moves)

    def goals(self, spot: State) -> Shares:
        """Return the goals at *spot*, one half where there is no single value."""
        return goal_shares(spot, self.game.roles)

    def play_out(self, spots: Sequence[State], n_each: int, random: Random, budget: Budget) -> Sequence[Shares] | None:
        """Return the mean goals of *n_each* plays at random from each spot, None where time ran out before."""
        found = []
        for spot in spots:
            ends = [play_out(self.game, spot, random, budget) for _ in range(n_each)]
            played = [end for end in ends if end is not None]
            if len(played) < n_each:
                return None
            found.append(tuple(sum(goals) / n_each for goals in zip(*played, strict=True)))
        return found


def chance_of(game: Game) -> int | None:
    """Return the number of the role that is chance, None where there is no such role."""
    return game.roles.index(RANDOM) if RANDOM in game.roles else None


def evaluator_of(game: Game) -> Evaluator[Any, Any]:
    """Return the fastest evaluator that there is for *game* by now."""
    if game.engine != "compiled":
        return StateEvaluator(game)
    from players.lanes import LaneEvaluator, compiled_game_of  # noqa: PLC0415 -- large libraries, loaded when needed

    return LaneEvaluator(compiled_game_of(game))


def wait_for_compilation(game: Game, deadline: Deadline) -> None:
    """Wait until *game* is compiled, or known not to be, or *deadline* comes."""
    if isinstance(game, BestGame):
        game.wait(deadline.remaining_s)
