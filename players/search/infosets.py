"""Monte Carlo tree search over information sets, for imperfect information and chance."""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt
from random import Random
from typing import TypeAlias

from gdl.game import Game, Role
from gdl.language.terms import Term
from players.belief import BeliefState, InformationSet, World
from players.deadline import SearchBudget
from players.search.evaluator import MAX_STEPS, play_out
from players.search.positions import Choice, Positions, SearchPosition
from players.search.uct import EXPLORATION, Report, ignore


def sees_everything(game: Game, role: Role, budget: SearchBudget, n_plays: int = 3) -> bool:
    """Return whether *role* is certain of the state all through *n_plays* random plays; no, if *budget* ends before."""
    random = Random(0)
    return all(_is_certain(game, role, random, budget) for _ in range(n_plays))


def _is_certain(game: Game, role: Role, random: Random, budget: SearchBudget) -> bool:
    """Return whether *role* is certain of the state all through one random play."""
    belief = BeliefState(game, role, random.getrandbits(32))
    state = game.initial_state
    while belief.is_certain and not budget.is_out_of_time:
        moves = tuple(random.choice(state.legal_moves(each)) for each in game.roles)
        percepts = state.percepts(role, moves)
        state = state.next_state(moves)
        if state.is_terminal:
            return True
        belief.advance(moves[belief.me], percepts, budget)
    return False


class Arm:
    """The statistics of one move in one information set: how often the role took it, and the sum of the goals."""

    __slots__ = ("count", "total")

    def __init__(self) -> None:
        self.count = 0
        self.total = 0.0

    def add(self, goal: float) -> None:
        """Count a playout that ended with *goal*."""
        self.count += 1
        self.total += goal

    def bound(self, log_visits: float) -> float:
        """Return the upper confidence bound of the move's goal."""
        return self.total / self.count + EXPLORATION * sqrt(log_visits / self.count)


InformationSets: TypeAlias = tuple[InformationSet | None, ...]


class InformationSetSearch:
    """The trees of all roles, which last for a match."""

    def __init__(self, game: Game, random: Random) -> None:
        self.game, self.random = game, random
        self.positions = Positions(game)
        self.n_rounds = 0
        self._arms: dict[tuple[int, InformationSet | None], dict[Term, Arm]] = {}

    def think(self, belief: BeliefState, budget: SearchBudget, report: Report = ignore) -> Term:
        """Return the best move of the role of *belief*, reporting the best one so far to *report*."""
        moves = belief.state.legal_moves(belief.role)
        if len(moves) == 1:
            return moves[0]
        self._forget()
        self.n_rounds = 0
        best = moves[0]
        report(best)
        while not budget.is_spent(self.n_rounds) and not self.positions.is_full:
            world = belief.sample(self.random)
            self._playout(world, budget)
            self.n_rounds += 1
            found = self._best(belief.me, world.infosets[belief.me], moves)
            if found != best:
                best = found
                report(best)
        return best

    def _forget(self) -> None:
        """Forget all statistics once there are many; most of these information sets cannot come again."""
        if len(self.positions) > self.positions.max_positions // 2:
            self.positions = Positions(self.game)
            self._arms.clear()

    def _playout(self, world: World, budget: SearchBudget) -> None:
        """Let all roles choose until one tries something new, play on at random, and count the goals."""
        position, infosets = self.positions.at(world.state), world.infosets
        path: list[tuple[Arm, ...]] = []
        while not position.is_end and len(path) < MAX_STEPS and not (path and _is_new(path[-1])):
            arms = [self._arms_of(i, infosets[i], moves) for i, moves in enumerate(position.moves)]
            choice = tuple(self._pick(i, options) for i, options in enumerate(arms))
            path.append(tuple(options[move] for options, move in zip(arms, choice, strict=True)))
            infosets = self._infosets_after(infosets, position, choice)
            position = position.after(choice)
        goals = position.goals if position.is_end else play_out(self.game, position.state, self.random, budget)
        if goals is not None:
            for step in path:
                for arm, goal in zip(step, goals, strict=True):
                    arm.add(goal)

    def _arms_of(self, i: int, infoset: InformationSet | None, moves: Sequence[Term]) -> list[Arm]:
        """Return the arm of each of *moves* for role *i* in *infoset*."""
        arms = self._arms.setdefault((i, infoset), {})
        return [arms.setdefault(move, Arm()) for move in moves]

    def _pick(self, i: int, arms: Sequence[Arm]) -> int:
        """Return the index of the arm that role *i* tries: at random for chance, else by its upper bound."""
        if len(arms) == 1:
            return 0
        if i == self.positions.chance:
            return self.random.randrange(len(arms))
        untried = [move for move, arm in enumerate(arms) if not arm.count]
        if untried:
            return self.random.choice(untried)
        log_visits = log(sum(arm.count for arm in arms))
        return max(range(len(arms)), key=lambda move: arms[move].bound(log_visits))

    def _infosets_after(self, infosets: InformationSets, position: SearchPosition, choice: Choice) -> InformationSets:
        after = zip(infosets, position.joint_move(choice), position.percepts(choice), strict=True)
        return tuple(
            None if i == self.positions.chance else InformationSet.of(infoset, move, percepts)
            for i, (infoset, move, percepts) in enumerate(after)
        )

    def _best(self, i: int, infoset: InformationSet | None, moves: Sequence[Term]) -> Term:
        arms = self._arms_of(i, infoset, moves)
        return moves[max(range(len(moves)), key=lambda move: (arms[move].count, arms[move].total))]


def _is_new(step: tuple[Arm, ...]) -> bool:
    return any(arm.count == 0 for arm in step)
