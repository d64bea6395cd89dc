"""The belief state of a role: the possible worlds that agree with its own moves and its percepts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from random import Random
from typing import Final, TypeAlias
from weakref import WeakValueDictionary

from gdl.errors import UnknownRoleError
from gdl.game import RANDOM, Game, JointMove, Role, State
from gdl.language.terms import Compound, Term
from players.deadline import SearchBudget

Percepts: TypeAlias = tuple[Term, ...]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class InformationSet:
    """The moves and percepts of a role, the last step first: its information set. None stands for the first state.

    Equal information sets are one object.
    """

    before: InformationSet | None
    move: Term | None
    percepts: Percepts

    @staticmethod
    def of(before: InformationSet | None, move: Term | None, percepts: Percepts) -> InformationSet:
        """Return the information set after one more step."""
        key = (before, move, percepts)
        found = _INFORMATION_SETS.get(key)
        if found is None:
            found = _INFORMATION_SETS[key] = InformationSet(before, move, percepts)
        return found


_INFORMATION_SETS: Final[WeakValueDictionary[tuple[InformationSet | None, Term | None, Percepts], InformationSet]] = (
    WeakValueDictionary()
)


@dataclass(frozen=True, slots=True)
class World:
    """A state that may be the true one, and the information set of each role if it is."""

    state: State
    infosets: tuple[InformationSet | None, ...]


def infosets_after(game: Game, world: World, moves: JointMove) -> tuple[InformationSet | None, ...]:
    """Return the information set of each role after *moves* in *world*; None for chance."""
    return tuple(
        None if role == RANDOM else InformationSet.of(infoset, move, world.state.percepts(role, moves))
        for role, infoset, move in zip(game.roles, world.infosets, moves, strict=True)
    )


MAX_WORLDS: Final = 200
MAX_OUTCOMES: Final = 2_000
"""With more joint moves in one step, worlds are sampled instead of enumerated."""
MAX_DRAWN: Final = 20
"""The number of worlds found anew when none is left."""
MAX_SEARCHED: Final = 20_000
"""The number of worlds searched to find one of them."""


class BeliefState:
    """The worlds that *role* cannot tell apart. In perfect information there is always exactly one.

    `is_exact` says that `weights` has every possible world; otherwise it is a sample of them.
    `is_lost` says that no world was found that agrees with all percepts: the worlds are mere guesses then.

    Raises:
        UnknownRoleError: the game has no such role.
    """

    def __init__(
        self, game: Game, role: Role, seed: int, max_worlds: int = MAX_WORLDS, max_outcomes: int = MAX_OUTCOMES
    ) -> None:
        if role not in game.roles:
            raise UnknownRoleError(str(role), tuple(map(str, game.roles)))
        self.game, self.role, self.max_worlds, self.max_outcomes = game, role, max_worlds, max_outcomes
        self.me = game.roles.index(role)
        self.random = Random(seed)
        self.steps: list[tuple[Term | None, Percepts]] = []
        self.is_exact = True
        self.is_lost = False
        self.first = World(game.initial_state, (None,) * len(game.roles))
        self.weights: dict[World, float] = {self.first: 1.0}

    @property
    def states(self) -> tuple[State, ...]:
        """The different states among the worlds, the likeliest first."""
        by_state: dict[State, float] = {}
        for world, weight in self.weights.items():
            by_state[world.state] = by_state.get(world.state, 0.0) + weight
        return tuple(sorted(by_state, key=lambda state: -by_state[state]))

    @property
    def state(self) -> State:
        """The likeliest state; in perfect information the true one."""
        return self.states[0]

    @property
    def is_certain(self) -> bool:
        """Whether only one state is possible."""
        return self.is_exact and len(self.states) == 1

    def sample(self, random: Random) -> World:
        """Return a world, drawn by the weights."""
        return random.choices(tuple(self.weights), tuple(self.weights.values()))[0]

    def advance(self, own_move: Term | None, percepts: Sequence[Term], budget: SearchBudget) -> None:
        """Take in one step: the role's own move (None: it does not know it) and its percepts.

        In GDL-I the percepts are the joint move.
        """
        if not self.game.has_imperfect_information:
            self.weights = {World(self.state.next_state(percepts), self.first.infosets): 1.0}
            return
        self.steps.append((own_move, tuple(sorted(set(percepts), key=str))))
        found = self._followers(budget) or self._drawn_anew(budget)
        self.is_lost = not found
        if self.is_lost:
            found = self._guessed() or self.weights
        total = sum(found.values())
        self.weights = {world: weight / total for world, weight in found.items()}

    def _followers(self, budget: SearchBudget) -> dict[World, float]:
        """Return the worlds after the last step that agree with its percepts, with their weights."""
        own_move = self.steps[-1][0]
        n_outcomes = sum(prod(map(len, self._choices(world.state, own_move))) for world in self.weights)
        if n_outcomes > self.max_outcomes:
            self.is_exact = False
            return self._sampled(budget) or self._sampled(budget, by_percepts=True)
        found: dict[World, float] = {}
        for world, weight in self.weights.items():
            for moves, share in self._joint_moves(world.state, own_move):
                follower = self._follower(world, moves, len(self.steps) - 1)
                if follower is not None:
                    found[follower] = found.get(follower, 0.0) + weight * share
            if budget.is_out_of_time:
                self.is_exact = False
                break
        return self._thinned(found)

    def _sampled(self, budget: SearchBudget, *, by_percepts: bool = False) -> dict[World, float]:
        """Return worlds in which the others moved at random, those that agree with the percepts.

        *by_percepts* lets them make the moves that the percepts mention: biased, but it finds what is hard to hit.
        """
        found: dict[World, float] = {}
        own_move, percepts = self.steps[-1]
        said = _parts(percepts)
        for n_tries in range(10 * self.max_worlds):
            if len(found) >= self.max_worlds or budget.is_spent(n_tries):
                break
            world = self.sample(self.random)
            choices = self._choices(world.state, own_move)
            if not all(choices):
                continue
            if by_percepts:
                choices = [tuple(move for move in options if move in said) or options for options in choices]
            moves = tuple(self.random.choice(options) for options in choices)
            follower = self._follower(world, moves, len(self.steps) - 1)
            if follower is not None:
                found[follower] = found.get(follower, 0.0) + 1.0
        return found

    def _drawn_anew(self, budget: SearchBudget) -> dict[World, float]:
        """Return some worlds, each found by its own search from the first state through all steps."""
        self.is_exact = False
        drawn = [self._descend(budget)]
        while drawn[-1] is not None and len(drawn) < MAX_DRAWN:
            drawn.append(self._descend(budget))
        return {world: 1.0 for world in drawn if world is not None}

    def _descend(self, budget: SearchBudget) -> World | None:
        """Return a world that agrees with all steps, by a depth-first search in random order."""
        paths = [iter([self.first])]
        for _ in range(MAX_SEARCHED):
            if not paths or budget.is_out_of_time:
                break
            world = next(paths[-1], None)
            if world is None:
                paths.pop()
            elif len(paths) > len(self.steps):
                return world
            else:
                paths.append(self._shuffled_followers(world, len(paths) - 1))
        return None

    def _guessed(self) -> dict[World, float]:
        """Return worlds after one step without regard to the percepts, so that the number of steps is right."""
        found: dict[World, float] = {}
        for world in self.weights:
            choices = self._choices(world.state, self.steps[-1][0])
            if all(choices):
                moves = tuple(self.random.choice(options) for options in choices)
                state = world.state.next_state(moves)
                if not state.is_terminal:
                    found[World(state, infosets_after(self.game, world, moves))] = 1.0
        return found

    def _shuffled_followers(self, world: World, step: int) -> Iterator[World]:
        """Yield the worlds after one step in random order, those first in which the percepts mention the moves."""
        own_move, percepts = self.steps[step]
        said = _parts(percepts)
        shuffled = (self.random.sample(options, len(options)) for options in self._choices(world.state, own_move))
        for moves in product(*(sorted(options, key=lambda move: move not in said) for options in shuffled)):
            follower = self._follower(world, moves, step)
            if follower is not None:
                yield follower

    def _choices(self, state: State, own_move: Term | None) -> list[tuple[Term, ...]]:
        """Return the legal moves of each role in *state*, for the role itself only its own move."""
        choices = [state.legal_moves(role) for role in self.game.roles]
        if own_move is not None:
            choices[self.me] = (own_move,) if own_move in choices[self.me] else ()
        return choices

    def _joint_moves(self, state: State, own_move: Term | None) -> Iterator[tuple[JointMove, float]]:
        choices = self._choices(state, own_move)
        share = 1 / max(1, prod(map(len, choices)))
        return ((moves, share) for moves in product(*choices))

    def _follower(self, world: World, moves: JointMove, step: int) -> World | None:
        """Return the world after *moves*, None where the role would have perceived something else.

        A terminal state is none of them: the game manager goes on asking, so the play has not ended.
        """
        percepts = world.state.percepts(self.role, moves)
        if percepts != self.steps[step][1]:
            return None
        state = world.state.next_state(moves)
        if state.is_terminal:
            return None
        return World(state, infosets_after(self.game, world, moves))

    def _thinned(self, found: dict[World, float]) -> dict[World, float]:
        if len(found) <= self.max_worlds:
            return found
        self.is_exact = False
        thinned: dict[World, float] = {}
        for world in self.random.choices(tuple(found), tuple(found.values()), k=self.max_worlds):
            thinned[world] = thinned.get(world, 0.0) + 1.0
        return thinned


def _parts(terms: Iterable[Term]) -> set[Term]:
    """Return all terms that occur in *terms*, these included."""
    found: set[Term] = set()
    todo = list(terms)
    while todo:
        top = todo.pop()
        if top not in found:
            found.add(top)
            todo += top.arguments if isinstance(top, Compound) else ()
    return found
