"""The belief state of a role: the possible worlds that agree with its own moves and its percepts."""

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from random import Random
from typing import Final

from gdl.game import Game, Role, State, no_such_role
from gdl.language.terms import Term
from players import worlds
from players.deadline import Deadline, SearchBudget
from players.histories import MAX_OUTCOMES, HistorySampler
from players.worlds import InformationSet, Percepts, World, infosets_after

__all__ = ["BeliefState", "InformationSet", "Percepts", "World", "infosets_after"]

MAX_WORLDS: Final = 200
MIN_WORLDS: Final = 20
"""With fewer in a sample, worlds are drawn anew beside them."""
_ANEW: Final = 0.5
"""The share of the time left that drawing anew may take as long as there is any world at all."""
_AT_LEAST_S: Final = 0.3
"""What it may take where there is none: without any, not even the legal moves are known."""


class BeliefState:
    """The worlds that *role* cannot tell apart. In perfect information there is always exactly one.

    `weights` has their probabilities, where chance plays each move with equal probability and the others play as
    `model` says, or at random too. `is_exact` says that it has every possible world; otherwise it is a sample of them,
    drawn and weighted by their probabilities. Each world agrees with all percepts, unless `is_lost`: no world was found
    in time that does so, or there is none, and the worlds are mere guesses.

    Raises:
        UnknownRoleError: the game has no such role.
        WrongTypeError: *role* is no term.
    """

    def __init__(
        self, game: Game, role: Role, seed: int, max_worlds: int = MAX_WORLDS, max_outcomes: int = MAX_OUTCOMES
    ) -> None:
        if role not in game.roles:
            raise no_such_role(role, game.roles)
        self.game, self.role, self.max_worlds, self.max_outcomes = game, role, max_worlds, max_outcomes
        self.me = game.roles.index(role)
        self.random = Random(seed)
        self.steps: list[worlds.Step] = []
        self.is_exact = True
        self.is_lost = False
        self.first = World(game.initial_state, (None,) * len(game.roles))
        self.weights: dict[World, float] = {self.first: 1.0}
        self._many: dict[World, float] = {}
        """The worlds of the last step before all but some were dropped."""
        self._choices, self._steps = worlds.WorldChoices(game, self.me), worlds.WorldSteps(game, self.me)
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
    def model(self) -> worlds.ChoiceModel | None:
        """How the other roles choose; None where they play each move with equal probability."""
        return self._choices.model

    @model.setter
    def model(self, model: worlds.ChoiceModel | None) -> None:
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
        many, self._many = self._many, {}
        found = following = self._followers(self.weights, budget)
        if self.is_lost:  # what follows guesses need not agree with the steps before
            found, self._many = {}, {}
        if self._are_few(found) and many:
            found = self._joined(found, self._followers_of_many(many, budget))
        if self._are_few(found):
            found = self._joined(found, self._drawn_anew(budget, has_some=bool(found)))
        self.is_lost = not found
        self.weights = _scaled(found or following or self._guessed() or self.weights)

    def _are_few(self, found: Mapping[World, float]) -> bool:
        return not found or (not self.is_exact and len(found) < min(MIN_WORLDS, self.max_worlds))

    def _followers(self, weights: Mapping[World, float], budget: SearchBudget) -> dict[World, float]:
        """Return the worlds after the last step that agree with its percepts, with their weights."""
        own_move, percepts = self.steps[-1]
        options = {world: self._choices.options(world, own_move) for world in weights}
        n_outcomes = sum(map(worlds.n_joint_moves, options.values()))
        if n_outcomes <= self.max_outcomes:
            outcomes = list(self._all_outcomes(weights, options))
        else:
            self.is_exact = False
            outcomes = self._some_outcomes(weights, options, n_outcomes / len(options), worlds.parts_of(percepts))
        order = self.random.sample(range(len(outcomes)), len(outcomes))  # there may not be time for all: these are any
        following, is_whole = self._steps.followers([outcomes[i][0] for i in order], percepts, budget)
        found: dict[World, float] = {}
        for i, world in sorted(zip(order, following, strict=False), key=itemgetter(0)):
            weight = outcomes[i][1]
            if world is not None and weight > 0:
                found[world] = found.get(world, 0.0) + weight
        self.is_exact &= is_whole and len(found) <= self.max_worlds
        if len(found) <= self.max_worlds:
            return found
        self._many = found
        return _resampled(found, self.max_worlds, self.random)

    def _followers_of_many(self, many: Mapping[World, float], budget: SearchBudget) -> dict[World, float]:
        """Return worlds that follow those that were dropped before: as many of them as it takes, in random order."""
        found: dict[World, float] = {}
        shuffled = self.random.sample(tuple(many), len(many))
        for begin in range(0, len(shuffled), self.max_worlds):
            if self._many or len(found) >= MIN_WORLDS or budget.is_out_of_time:
                break
            some = {world: many[world] for world in shuffled[begin : begin + self.max_worlds]}
            for world, weight in self._followers(some, budget).items():
                found[world] = found.get(world, 0.0) + weight
        return found

    def _all_outcomes(
        self, weights: Mapping[World, float], options: Mapping[World, worlds.Options]
    ) -> Iterator[tuple[worlds.Outcome, float]]:
        for world, weight in weights.items():
            for moves, share in worlds.joint_moves(options[world]):
                yield (world, moves), weight * share

    def _some_outcomes(
        self,
        weights: Mapping[World, float],
        options: Mapping[World, worlds.Options],
        branching: float,
        said: set[Term],
    ) -> list[tuple[worlds.Outcome, float]]:
        """Return outcomes with weights that stand for all: those of some worlds, or some of each if they are many."""
        n_worlds = int(self.max_outcomes / branching)
        if n_worlds >= MIN_WORLDS:
            return list(self._all_outcomes(_resampled(weights, n_worlds, self.random), options))
        n_draws = max(self.max_outcomes, 10 * self.max_worlds)
        share = sum(weights.values()) / n_draws
        found: dict[worlds.Outcome, float] = {}
        for world, count in _draws(weights, n_draws, self.random).items():
            if not all(options[world]):
                continue
            moves_of_world = worlds.MoveDraws(options[world], said)
            for _ in range(count):
                moves, factor = moves_of_world.draw(self.random)
                found[world, moves] = found.get((world, moves), 0.0) + factor * share
        return list(found.items())

    def _drawn_anew(self, budget: SearchBudget, *, has_some: bool) -> dict[World, float]:
        """Return worlds that are found by walks from the first state; where there are some, not at any cost."""
        self.is_exact = False
        if budget.deadline is not None:
            left_s = budget.deadline.remaining_s
            seconds = _ANEW * left_s if has_some else max(left_s, _AT_LEAST_S)
            budget = SearchBudget(deadline=Deadline.after(seconds, budget.deadline.clock))
        drawn = self._histories.draw(self.steps, self.random, budget, self.max_worlds, has_some=has_some)
        return drawn if len(drawn) <= self.max_worlds else _resampled(drawn, self.max_worlds, self.random)

    def _joined(self, found: dict[World, float], others: dict[World, float]) -> dict[World, float]:
        """Return both samples as one, in which each counts as much as it has different worlds.

        *Source*: the effective sample size, of Kong 1992.
        """
        if not (found and others):
            return found or others
        joined: dict[World, float] = {}
        for sample in map(_scaled, (found, others)):
            effective = 1 / sum(weight**2 for weight in sample.values())
            for world, weight in sample.items():
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
    """Return *n* draws of *weights*, some of them of the same world, that have the same sum."""
    share = sum(weights.values()) / n
    return {world: count * share for world, count in _draws(weights, n, random).items()}


def _draws(weights: Mapping[World, float], n: int, random: Random) -> dict[World, int]:
    """Return how often each world is drawn when *n* are, at equal distances along their weights.

    So each count differs by less than 1 from its mean. Source: systematic resampling, Carpenter and others, 1999.
    """
    distance = sum(weights.values()) / n
    found: dict[World, int] = {}
    at, end = random.random() * distance, 0.0
    for world, weight in weights.items():
        end += weight
        while at < end:
            found[world] = found.get(world, 0) + 1
            at += distance
    return found
