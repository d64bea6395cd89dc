"""The states of a search: moves, goals and successors, each computed by the engine once and then kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import prod
from statistics import fmean
from typing import Final, TypeAlias

from gdl.game import RANDOM, Game, Role, State
from gdl.language.terms import Term

Choice: TypeAlias = tuple[int, ...]
"""A joint move as indices into `SearchPosition.moves`, one per role."""

Report: TypeAlias = Callable[[Term], None]
"""Takes the best move so far."""

MAX_POSITIONS: Final = 50_000


def ignore(_move: Term) -> None:
    """Ignore the move."""


class SearchPosition:
    """A state of a game in a search: its legal moves, its goals, and the positions after it.

    `moves` holds the legal moves of every role in role order; `is_end` says that the play ends here: the state is
    terminal, or (in faulty rules) a role has no legal move.
    """

    __slots__ = ("_goals", "_graph", "_percepts", "is_end", "moves", "state", "successors")

    def __init__(self, graph: Positions, state: State) -> None:
        self._graph = graph
        self.state = state
        self.successors: dict[Choice, SearchPosition] = {}
        self.moves: tuple[tuple[Term, ...], ...] = (
            () if state.is_terminal else tuple(state.legal_moves(role) for role in graph.game.roles)
        )
        self.is_end = not self.moves or not all(self.moves)
        self._goals: tuple[float, ...] | None = None
        self._percepts: dict[Choice, tuple[tuple[Term, ...], ...]] = {}

    @property
    def goals(self) -> tuple[float, ...]:
        """The goal values of the roles on a scale from 0 to 1, one half where the rules give no single value."""
        if self._goals is None:
            self._goals = goal_shares(self.state, self._graph.game.roles)
        return self._goals

    @property
    def n_choices(self) -> int:
        """How many joint moves there are."""
        return prod(len(moves) for moves in self.moves)

    def choices(self) -> Iterator[Choice]:
        """Yield every joint move, in the order of the moves' texts."""
        return product(*(range(len(moves)) for moves in self.moves))

    def joint_move(self, choice: Choice) -> tuple[Term, ...]:
        """Return the moves that *choice* stands for."""
        return tuple(moves[i] for moves, i in zip(self.moves, choice, strict=True))

    def after(self, choice: Choice) -> SearchPosition:
        """Return the position after *choice*, remembered for the next time unless there are too many."""
        found = self.successors.get(choice)
        if found is None:
            found = self._graph.at(self.state.next_state(self.joint_move(choice)))
            if not self._graph.is_full:
                self.successors[choice] = found
        return found

    def percepts(self, choice: Choice) -> tuple[tuple[Term, ...], ...]:
        """Return the percepts of each role after *choice*; none for chance."""
        found = self._percepts.get(choice)
        if found is None:
            moves = self.joint_move(choice)
            roles = self._graph.game.roles
            found = tuple(() if role == RANDOM else self.state.percepts(role, moves) for role in roles)
            self._percepts[choice] = found
        return found


def has_two_sides(game: Game) -> bool:
    """Return whether two roles play *game* without chance."""
    return len(game.roles) == 2 and RANDOM not in game.roles


def goal_shares(state: State, roles: Sequence[Role]) -> tuple[float, ...]:
    """Return the goal values of *roles* on a scale from 0 to 1, one half where the rules give no single value."""
    goals = (state.goal(role) for role in roles)
    return tuple(0.5 if goal is None else min(max(goal, 0), 100) / 100 for goal in goals)


def points(goals: Sequence[int], place: int) -> float:
    """Return what the role at *place* gets against all others in the mean: 1 for more, 1/2 for as much, 0 for less."""
    others = [goal for other, goal in enumerate(goals) if other != place]
    return fmean(1.0 if goals[place] > goal else 0.5 if goals[place] == goal else 0.0 for goal in others)


class Positions:
    """The positions of a game that a search has met, one for equal states.

    Beyond *max_positions* no position is remembered, until `keep` has made room.
    """

    def __init__(self, game: Game, max_positions: int = MAX_POSITIONS) -> None:
        self.game = game
        self.chance = game.roles.index(RANDOM) if RANDOM in game.roles else None
        self.max_positions = max_positions
        self.by_state: dict[State, SearchPosition] = {}

    def __len__(self) -> int:
        return len(self.by_state)

    def __contains__(self, state: State) -> bool:
        return state in self.by_state

    @property
    def is_full(self) -> bool:
        """Whether there is no room for more positions before the next `keep`."""
        return len(self.by_state) >= self.max_positions

    def at(self, state: State) -> SearchPosition:
        """Return the position of *state*."""
        found = self.by_state.get(state)
        if found is None:
            found = SearchPosition(self, state)
            if not self.is_full:
                self.by_state[state] = found
        return found

    def keep(self, state: State) -> SearchPosition:
        """Return the position of *state* and forget every position that cannot follow it."""
        root = self.at(state)
        kept = {root.state: root}
        todo = [root]
        while todo:
            for follower in todo.pop().successors.values():
                if follower.state not in kept:
                    kept[follower.state] = follower
                    todo.append(follower)
        if len(kept) > self.max_positions // 2:
            root.successors = {}
            kept = {root.state: root}
        self.by_state = kept
        return root
