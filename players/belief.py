"""The belief state of a role: the possible worlds that agree with its own moves and its percepts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Final

from gdl.errors import UnknownRoleError
from gdl.game import Game, Role, State
from gdl.language.terms import Term
from players.deadline import SearchBudget
from players.histories import MAX_OUTCOMES, HistorySampler
from players.worlds import (
    ChoiceModel,
    Choices,
    InformationSet,
    Options,
    Outcome,
    Percepts,
    Step,
    World,
    WorldSteps,
    drawn_moves,
    infosets_after,
    joint_moves,
    n_joint_moves,
    parts_of,
)

__all__ = ["BeliefState", "InformationSet", "Percepts", "World", "infosets_after"]

MAX_WORLDS: Final = 200
MIN_WORLDS: Final = 20
"""With fewer in a sample, worlds are drawn anew beside them."""
_ANEW: Final = 0.5
"""The share of the time left that drawing anew may take as long as there is any world at all."""


class BeliefState:
    """The worlds that *role* cannot tell apart. In perfect information there is always exactly one.

    `weights` has their probabilities, where chance plays each move with equal probability and the others play as
    `model` says, or at random too. `is_exact` says that it has every possible world; otherwise it is a sample of them,
    drawn and weighted by their probabilities. Each world agrees with all percepts, unless `is_lost`: no world was found
    in time that does so, or there is none, and the worlds are mere guesses.

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
        self.steps: list[Step] = []
        self.is_exact = True
        self.is_lost = False
        self.first = World(game.initial_state, (None,) * len(game.roles))
        self.weights: dict[World, float] = {self.first: 1.0}
        self._choices, self._steps = Choices(game, self.me), WorldSteps(game, self.me)
        self._histories = HistorySampler(self.first, self._choices, self._steps)

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

    @property
    def model(self) -> ChoiceModel | None:
        """How the other roles choose; None where they play each move with equal probability."""
        return self._choices.model

    @model.setter
    def model(self, model: ChoiceModel | None) -> None:
        self._choices.model = model
        self._histories.forget()

    def advance(self, own_move: Term | None, percepts: Sequence[Term], budget: SearchBudget) -> None:
        """Take in one step: the role's own move (None: it does not know it) and its percepts.

        In GDL-I the percepts are the joint move.
        """
        if not self.game.has_imperfect_information:
            self.weights = {World(self.state.next_state(percepts), self.first.infosets): 1.0}
            return
        self.steps.append((own_move, tuple(sorted(set(percepts), key=str))))
        found = self._followers(budget)
        if not found or (not self.is_exact and len(found) < min(MIN_WORLDS, self.max_worlds)):
            found = self._joined_by_new_ones(found, budget)
        self.is_lost = not found
        if self.is_lost:
            found = self._guessed() or self.weights
        self.weights = _scaled(found)

    def _followers(self, budget: SearchBudget) -> dict[World, float]:
        """Return the worlds after the last step that agree with its percepts, with their weights."""
        own_move, percepts = self.steps[-1]
        options = {world: self._choices.options(world, own_move) for world in self.weights}
        n_outcomes = sum(map(n_joint_moves, options.values()))
        if n_outcomes <= self.max_outcomes:
            outcomes = list(self._all_outcomes(self.weights, options))
        else:
            self.is_exact = False
            outcomes = self._some_outcomes(options, n_outcomes / len(options), parts_of(percepts))
        following, is_whole = self._steps.followers([outcome for outcome, _ in outcomes], percepts, budget)
        found: dict[World, float] = {}
        for world, (_, weight) in zip(following, outcomes, strict=False):
            if world is not None and weight > 0:
                found[world] = found.get(world, 0.0) + weight
        self.is_exact &= is_whole and len(found) <= self.max_worlds
        return found if len(found) <= self.max_worlds else _resampled(found, self.max_worlds, self.random)

    def _all_outcomes(
        self, weights: Mapping[World, float], options: Mapping[World, Options]
    ) -> Iterator[tuple[Outcome, float]]:
        for world, weight in weights.items():
            for moves, share in joint_moves(options[world]):
                yield (world, moves), weight * share

    def _some_outcomes(
        self, options: Mapping[World, Options], branching: float, said: set[Term]
    ) -> list[tuple[Outcome, float]]:
        """Return outcomes with weights that stand for all: those of some worlds, or some of each if they are many."""
        n_worlds = int(self.max_outcomes / branching)
        if n_worlds >= MIN_WORLDS:
            return list(self._all_outcomes(_resampled(self.weights, n_worlds, self.random), options))
        drawn = _resampled(self.weights, max(self.max_outcomes, 10 * self.max_worlds), self.random)
        found = []
        for world, weight in drawn.items():
            n_moves = round(weight)
            for _ in range(n_moves if all(options[world]) else 0):
                moves, factor = drawn_moves(options[world], said, self.random)
                found.append(((world, moves), factor))
        return found

    def _joined_by_new_ones(self, found: dict[World, float], budget: SearchBudget) -> dict[World, float]:
        """Return *found* with worlds that are drawn anew, both counting as much as they have different worlds.

        *Source*: the effective sample size, of Kong 1992.
        """
        self.is_exact = False
        if found and budget.deadline is not None:
            budget = SearchBudget(deadline=budget.deadline.at_most(_ANEW * budget.deadline.remaining_s))
        anew = self._histories.draw(self.steps, self.random, budget, self.max_worlds, has_some=bool(found))
        if not (found and anew):
            return found or anew
        joined: dict[World, float] = {}
        for sample in (found, anew):
            effective = sum(sample.values()) ** 2 / sum(weight**2 for weight in sample.values())
            for world, weight in _scaled(sample).items():
                joined[world] = joined.get(world, 0.0) + weight * effective
        return joined if len(joined) <= self.max_worlds else _resampled(joined, self.max_worlds, self.random)

    def _guessed(self) -> dict[World, float]:
        """Return worlds after one step without regard to the percepts, so that the number of steps is right."""
        found: dict[World, float] = {}
        for world in self.weights:
            options = self._choices.options(world, self.steps[-1][0])
            if all(options):
                moves = tuple(self.random.choice(tuple(of_role)) for of_role in options)
                state = world.state.next_state(moves)
                if not state.is_terminal:
                    found[World(state, infosets_after(self.game, world, moves))] = 1.0
        return found


def _scaled(weights: Mapping[World, float]) -> dict[World, float]:
    """Return *weights* divided by their sum."""
    total = sum(weights.values())
    return {world: weight / total for world, weight in weights.items()}


def _resampled(weights: Mapping[World, float], n: int, random: Random) -> dict[World, float]:
    """Return how often each world is drawn when *n* are, at equal distances along their weights.

    So each count differs by less than 1 from its mean. Source: systematic resampling, Carpenter and others, 1999.
    """
    distance = sum(weights.values()) / n
    found: dict[World, float] = {}
    at, end = random.random() * distance, 0.0
    for world, weight in weights.items():
        end += weight
        count = 0
        while at < end:
            count += 1
            at += distance
        if count:
            found[world] = float(count)
    return found
