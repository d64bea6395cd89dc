"""Strategies that nothing can exploit, for small games: regret minimisation (CFR+) on their sequence form.

Source: Oskari Tammelin, Solving large imperfect information games using CFR+, 2014.
"""

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Final, TypeAlias

import numpy as np

from gdl.game import Game, Role
from gdl.language.terms import Term
from players.belief import InformationSet, Percepts
from players.deadline import Deadline, SearchBudget
from players.search.evaluator import wait_for_compilation
from players.search.information.sequences import (
    Floats,
    Level,
    RoleSequences,
    SequenceForm,
    is_certainly_large,
    sequence_form,
)

MixedMove: TypeAlias = Mapping[Term, float]
"""The probability of each move in an information set."""

PRECISION: Final = 1e-4
"""What a role can gain by another strategy, of a goal from 0 to 1, when a search is content."""
MAX_ITERATIONS: Final = 10_000


class RoleRegrets:
    """What a role regrets, and its strategies, past and present.

    *Shapes*: all (sequences,). `strategy` has the probability of each move in its information set, `plan` (the
    realisation plan) that of all moves on the way to it, `total` the sum of all plans, the later ones weighing more.
    """

    def __init__(self, sequences: RoleSequences) -> None:
        self.sequences, self.levels = sequences, sequences.levels()
        self._regrets = np.zeros(sequences.n_sequences)
        self.total = np.zeros(sequences.n_sequences)
        self.strategy = self._matched(self._regrets)
        self.plan = self.plan_of(self.strategy)

    def plan_of(self, strategy: Floats) -> Floats:
        """Return the probability of all the role's moves on the way to each of its sequences."""
        plan = np.ones(len(strategy))
        for level in self.levels:
            plan[level.sequences] = strategy[level.sequences] * np.repeat(plan[level.before], level.sizes)
        return plan

    def learn(self, values: Floats, weight: float) -> None:
        """Take in what ends after each sequence are worth against the others, and choose what is regretted.

        *values* is changed: to what each sequence is worth with all that follows.
        """
        for level in reversed(self.levels):
            here = values[level.sequences]
            worth = np.add.reduceat(self.strategy[level.sequences] * here, level.starts)
            self._regrets[level.sequences] += here - np.repeat(worth, level.sizes)
            np.add.at(values, level.before, worth)
        np.maximum(self._regrets, 0, out=self._regrets)
        self.strategy = self._matched(self._regrets)
        self.plan = self.plan_of(self.strategy)
        self.total += weight * self.plan

    def best_response(self, values: Floats) -> float:
        """Return what the best strategy is worth where *values* are as for `learn`; they are changed."""
        for level in reversed(self.levels):
            np.add.at(values, level.before, np.maximum.reduceat(values[level.sequences], level.starts))
        return float(values[0])

    def average(self) -> Floats:
        """Return the average strategy, which is what comes close to an equilibrium."""
        return self._matched(self.total, self.strategy)

    def _matched(self, weights: Floats, otherwise: Floats | None = None) -> Floats:
        """Return the strategy in proportion to *weights*, *otherwise* (or uniform) where these are all 0."""
        found = np.ones(len(weights))
        for level in self.levels:
            here = weights[level.sequences]
            sums = np.repeat(np.add.reduceat(here, level.starts), level.sizes)
            spare = _uniform(level) if otherwise is None else otherwise[level.sequences]
            found[level.sequences] = np.where(sums > 0, here / np.where(sums > 0, sums, 1), spare)
        return found


def _uniform(level: Level) -> Floats:
    return np.repeat(1 / level.sizes, level.sizes)


class RegretSearch:
    """Regret minimisation in a game of sequence form: every iteration lets all roles learn, one after the other.

    In games of two roles whose goals have a constant sum the average strategies come close to an equilibrium; in
    others they are what the roles regret least.
    """

    def __init__(self, form: SequenceForm) -> None:
        self.form = form
        self.roles = tuple(map(RoleRegrets, form.roles))
        self.n_iterations = 0

    def run(self, budget: SearchBudget) -> None:
        """Iterate until *budget* is spent, or until there is hardly anything to gain."""
        start, next_look = self.n_iterations, max(2 * self.n_iterations, 32)
        while self.n_iterations < MAX_ITERATIONS and not budget.is_spent(self.n_iterations - start):
            if self.n_iterations >= next_look:
                if self.gain() <= PRECISION:
                    break
                next_look *= 2
            self.iterate()

    def iterate(self) -> None:
        """Let every role learn once from the present strategies of the others."""
        self.n_iterations += 1
        for i, role in enumerate(self.roles):
            if role.levels:
                role.learn(self.values(i, [each.plan for each in self.roles]), self.n_iterations**2)

    def values(self, i: int, plans: Sequence[Floats]) -> Floats:
        """Return what the ends right after each sequence of role *i* are worth to it, where the others play *plans*."""
        worth = self.form.shares[:, i].copy()
        for j, plan in enumerate(plans):
            if j != i and len(plan) > 1:
                worth *= plan[self.form.ends[:, j]]
        values: Floats = np.bincount(self.form.ends[:, i], worth, self.form.roles[i].n_sequences).astype(np.float64)
        return values

    def best_responses(self, strategies: Sequence[Floats] | None = None) -> tuple[float, ...]:
        """Return what each role gets by its best response to the *strategies* of the others, or to the average ones."""
        plans = self._plans(strategies)
        return tuple(role.best_response(self.values(i, plans)) for i, role in enumerate(self.roles))

    def expectations(self, strategies: Sequence[Floats] | None = None) -> tuple[float, ...]:
        """Return what each role gets where all play *strategies*, or the average ones."""
        plans = self._plans(strategies)
        return tuple(float(self.values(i, plans) @ plan) for i, plan in enumerate(plans))

    def gain(self) -> float:
        """Return the most that a role can gain by deviating from the average strategies."""
        return max(best - mean for best, mean in zip(self.best_responses(), self.expectations(), strict=True))

    def _plans(self, strategies: Sequence[Floats] | None) -> list[Floats]:
        if strategies is None:
            strategies = [role.average() for role in self.roles]
        return [role.plan_of(strategy) for role, strategy in zip(self.roles, strategies, strict=True)]


class MixedStrategy:
    """The average strategy of a regret search for the role number *me*, each move drawn by its probability."""

    def __init__(self, search: RegretSearch, me: int) -> None:
        self.search, self.me = search, me
        self._strategy = search.roles[me].average()

    def improve(self, budget: SearchBudget) -> None:
        """Go on with the search until *budget* is spent, or there is hardly anything to gain."""
        self.search.run(budget)
        self._strategy = self.search.roles[self.me].average()

    def choose(self, steps: Iterable[tuple[Term | None, Percepts]], random: Random) -> Term | None:
        """Return a move drawn for what the role did and perceived in *steps*; None where `mixed_move` is."""
        mixed = self.mixed_move(steps)
        return None if mixed is None else random.choices(tuple(mixed), tuple(mixed.values()))[0]

    def mixed_move(self, steps: Iterable[tuple[Term | None, Percepts]]) -> MixedMove | None:
        """Return the probability of each move after *steps*, None where there is no choice, or they are not known."""
        infoset = None
        for move, percepts in steps:
            infoset = InformationSet.of(infoset, move, percepts)
        role = self.search.form.roles[self.me]
        moves = role.moves.get(infoset)
        if moves is None:
            return None
        first = role.first[infoset]
        return dict(zip(moves, self._strategy[first : first + len(moves)].tolist(), strict=True))


_COMPILING: Final = 0.3
_BUILDING: Final = 0.7
"""The shares of the start clock that compiling may take, and then, of the rest, to find all information sets."""


def mixed_strategy(game: Game, role: Role, deadline: Deadline) -> MixedStrategy | None:
    """Return a strategy of *role* that has been improved until *deadline*; None where *game* is too large for that."""
    if is_certainly_large(game, SearchBudget(deadline=deadline.at_most(_BUILDING * deadline.remaining_s))):
        return None
    wait_for_compilation(game, deadline.at_most(_COMPILING * deadline.remaining_s))
    form = sequence_form(game, SearchBudget(deadline=deadline.at_most(_BUILDING * deadline.remaining_s)))
    if form is None:
        return None
    found = MixedStrategy(RegretSearch(form), game.roles.index(role))
    found.improve(SearchBudget(deadline=deadline))
    return found
