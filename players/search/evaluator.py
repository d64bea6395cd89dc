"""What a tree search asks of an engine: moves, successors, goals, and the value of random plays."""

from bisect import bisect_left
from collections.abc import Hashable, Sequence
from itertools import pairwise
from random import Random
from typing import Any, Final, Protocol, TypeAlias, TypeVar

import numpy as np

from gdl.compiler.compiled import CompiledGame
from gdl.engines import BestGame
from gdl.errors import LimitExceeded, StuckPlayError
from gdl.game import RANDOM, Game, State
from gdl.language.terms import Term
from players.deadline import Deadline, SearchBudget
from players.search.positions import goal_shares

MAX_STEPS: Final = 1_000
"""A random play that lasts longer counts with the goals of the state that it has come to."""


def play_out(game: Game, state: State, random: Random, budget: SearchBudget) -> tuple[float, ...] | None:
    """Return the goals, from 0 to 1, of a play from *state* in which everyone moves at random.

    None where time ran out before its end.
    """
    for _ in range(MAX_STEPS):
        if state.is_terminal:
            break
        if budget.is_out_of_time:
            return None
        moves = tuple(state.legal_moves(role) for role in game.roles)
        if not all(moves):
            break
        state = state.next_state(tuple(random.choice(legal) for legal in moves))
    return goal_shares(state, game.roles)


NodeKey = TypeVar("NodeKey", bound=Hashable)
Move = TypeVar("Move")
Shares: TypeAlias = tuple[float, ...]
"""The goals of the roles on a scale from 0 to 1."""

MAX_STATES: Final = 50_000
_TELLING_ENDS: Final = 64
"""After so many ends with one sum of goals that counts as a law of the game, where the engine does not tell."""


class Evaluator(Protocol[NodeKey, Move]):
    """What a search needs of an engine; node keys stand for states, and moves for terms, in the engine's own form.

    `max_leaves` leaves are worth evaluating at once; `max_plays` random plays cost hardly more than one, and multiples
    of it are cheapest; `max_nodes` nodes fit into memory.
    """

    max_leaves: int
    max_plays: int
    max_nodes: int

    @property
    def chance(self) -> int | None:
        """The number of the role that is chance."""

    @property
    def is_opposed(self) -> bool:
        """Whether what one of two roles wins the other loses, as far as plays tell."""

    def node_key(self, state: State) -> NodeKey:
        """Return the node key of *state*."""

    def moves(self, node_key: NodeKey) -> tuple[Sequence[Move], ...]:
        """Return the legal moves of every role in role order, nothing in a terminal state."""

    def term(self, move: Move) -> Term:
        """Return *move* as the rules write it."""

    def after(self, node_key: NodeKey, moves: Sequence[Move]) -> NodeKey:
        """Return the node key after one legal move of each role."""

    def goals(self, node_key: NodeKey) -> Shares:
        """Return the goals at *node_key*, one half where there is no single value."""

    def play_out(
        self, node_keys: Sequence[NodeKey], n_each: int, random: Random, budget: SearchBudget
    ) -> Sequence[Shares] | None:
        """Return the mean goals of *n_each* random plays from each node key, None where time ran out before."""


class StateEvaluator:
    """One play at a time, through the states of whatever engine the game has."""

    max_leaves = max_plays = 1
    max_nodes = MAX_STATES

    def __init__(self, game: Game) -> None:
        self.game = game
        self.chance = chance_of(game)
        self._players = [i for i in range(len(game.roles)) if i != self.chance]
        self._goal_sums: set[float] = set()
        self._n_ends = 0

    @property
    def is_opposed(self) -> bool:
        """Whether two roles play, whose goals had one sum at all ends so far, and there were some."""
        return len(self._players) == 2 and len(self._goal_sums) == 1 and self._n_ends >= _TELLING_ENDS

    def _note(self, goals: Shares) -> None:
        if len(self._goal_sums) < 2:
            self._goal_sums.add(round(sum(goals[i] for i in self._players), 6))
            self._n_ends += 1

    def node_key(self, state: State) -> State:
        """Return *state* itself."""
        return state

    def moves(self, node_key: State) -> tuple[Sequence[Term], ...]:
        """Return the legal moves of every role in role order, nothing in a terminal state."""
        return () if node_key.is_terminal else tuple(node_key.legal_moves(role) for role in self.game.roles)

    def term(self, move: Term) -> Term:
        """Return *move* itself."""
        return move

    def after(self, node_key: State, moves: Sequence[Term]) -> State:
        """Return the state after one legal move of each role."""
        return node_key.next_state(moves)

    def goals(self, node_key: State) -> Shares:
        """Return the goals at *node_key*, one half where there is no single value."""
        found = goal_shares(node_key, self.game.roles)
        self._note(found)
        return found

    def play_out(
        self, node_keys: Sequence[State], n_each: int, random: Random, budget: SearchBudget
    ) -> Sequence[Shares] | None:
        """Return the mean goals of *n_each* random plays from each node key, None where time ran out before."""
        found = []
        for node_key in node_keys:
            ends = [play_out(self.game, node_key, random, budget) for _ in range(n_each)]
            played = [end for end in ends if end is not None]
            if len(played) < n_each:
                return None
            for end in played:
                self._note(end)
            found.append(tuple(sum(goals) / n_each for goals in zip(*played, strict=True)))
        return found


def chance_of(game: Game) -> int | None:
    """Return the number of the role that is chance, None where there is no such role."""
    return game.roles.index(RANDOM) if RANDOM in game.roles else None


def evaluator_of(game: Game) -> Evaluator[Any, Any]:
    """Return the fastest evaluator of *game*: that of the compiled engine, once compiled."""
    if game.engine != "compiled":
        return StateEvaluator(game)

    return LaneEvaluator(compiled_game_of(game))


def wait_for_compilation(game: Game, deadline: Deadline) -> None:
    """Wait until *game* is compiled, or known not to be, or *deadline* comes."""
    if isinstance(game, BestGame):
        game.wait(deadline.remaining_s)


N_LANES: Final = 512
MAX_LEAVES: Final = 64
MAX_PACKED: Final = 200_000


class LaneEvaluator:
    """Plays from many states at once, in all the lanes of the kernel; not to be shared by threads."""

    max_nodes = MAX_PACKED

    def __init__(self, game: CompiledGame) -> None:
        self.game = game
        self.chance = chance_of(game)
        self.max_leaves, self.max_plays = MAX_LEAVES, N_LANES
        self._borders = [numbers.start for numbers in game.moves_of] + [len(game.moves)]
        self._single = StateEvaluator(game)

    @property
    def is_opposed(self) -> bool:
        """Whether two roles play whose goals add up to the same wherever a play ends."""
        return self.game.goal_sum is not None

    def node_key(self, state: State) -> bytes:
        """Return the packed *state*, which may be one of another engine."""
        return self.game.pack(state)

    def moves(self, node_key: bytes) -> tuple[Sequence[int], ...]:
        """Return the numbers of the legal moves of every role in role order, nothing in a terminal state."""
        legal, is_terminal = self.game.legal_and_terminal(node_key)
        if is_terminal:
            return ()
        numbers = legal.tolist()
        cuts = [bisect_left(numbers, border) for border in self._borders]
        return tuple(numbers[begin:end] for begin, end in pairwise(cuts))

    def term(self, move: int) -> Term:
        """Return *move* as the rules write it."""
        return self.game.moves[move]

    def after(self, node_key: bytes, moves: Sequence[int]) -> bytes:
        """Return the packed state after one legal move of each role."""
        return self.game.step(node_key, moves)

    def goals(self, node_key: bytes) -> Shares:
        """Return the goals at *node_key*, one half where there is no single value."""
        return tuple(0.5 if goal is None else min(max(goal, 0), 100) / 100 for goal in self.game.goals_of(node_key))

    def play_out(
        self, node_keys: Sequence[bytes], n_each: int, random: Random, budget: SearchBudget
    ) -> Sequence[Shares] | None:
        """Return the mean goals of *n_each* random plays from each node key, None where time ran out before.

        Plays that are too long for the lanes, or get stuck, are played singly and cut short.
        """
        packed = np.frombuffer(b"".join(node_keys), np.uint8).reshape(len(node_keys), -1)
        try:
            played = self.game.playouts_each(packed, n_each, random.getrandbits(32), max_steps=MAX_STEPS)
        except (LimitExceeded, StuckPlayError):
            self.max_leaves = self.max_plays = 1
            return self._single.play_out([self.game.unpack(node_key) for node_key in node_keys], n_each, random, budget)
        means = played.goal_sums / (100 * n_each)
        return list(map(tuple, means.clip(0, 1).tolist()))


def compiled_game_of(game: Game) -> CompiledGame:
    """Return the compiled game behind *game*, or *game* itself.

    Raises:
        ValueError: it is not compiled.
    """
    found = game.compiled if isinstance(game, BestGame) else game
    if not isinstance(found, CompiledGame):
        raise ValueError("the game is not compiled")
    return found
