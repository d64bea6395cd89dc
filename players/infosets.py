"""Monte Carlo tree search over what each role has been through, for imperfect information and chance.

Every playout draws a world that the role may be in. Each role then has a tree of its own, whose nodes are its views
(its moves and percepts), so that no role, the opponents' models included, ever chooses by what it cannot know.

Source: Cowling, Powley & Whitehouse, "Information Set Monte Carlo Tree Search", 2012 (multiple-observer variant).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt
from random import Random
from typing import TypeAlias

from gdl.game import Game
from gdl.terms import Term
from players.deadline import Budget
from players.playouts import MAX_STEPS, play_out
from players.positions import Choice, Position, Positions
from players.uct import EXPLORATION, Report, ignore
from players.views import View, World
from players.worlds import Worlds


class Arm:
    """How often a role took one move in one view, and with what goals."""

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


Views: TypeAlias = tuple[View | None, ...]


class ViewSearch:
    """The trees of all roles, which last for a match."""

    def __init__(self, game: Game, random: Random) -> None:
        self.game, self.random = game, random
        self.positions = Positions(game)
        self.n_rounds = 0
        self._arms: dict[tuple[int, View | None], dict[Term, Arm]] = {}

    def think(self, worlds: Worlds, budget: Budget, report: Report = ignore) -> Term:
        """Return the best move of the role that *worlds* belongs to, telling *report* of the best one so far."""
        moves = worlds.state.legal_moves(worlds.role)
        if len(moves) == 1:
            return moves[0]
        self._forget()
        self.n_rounds = 0
        best = moves[0]
        report(best)
        while not budget.is_spent(self.n_rounds) and not self.positions.is_full:
            world = worlds.sample(self.random)
            self._playout(world, budget)
            self.n_rounds += 1
            found = self._best(worlds.me, world.views[worlds.me], moves)
            if found != best:
                best = found
                report(best)
        return best

    def _forget(self) -> None:
        """Start afresh once much is remembered; most of it cannot come again."""
        if len(self.positions) > self.positions.max_positions // 2:
            self.positions = Positions(self.game)
            self._arms.clear()

    def _playout(self, world: World, budget: Budget) -> None:
        """Let all roles choose until one tries something new, play on at random, and count the goals."""
        position, views = self.positions.at(world.state), world.views
        path: list[tuple[Arm, ...]] = []
        while not position.is_end and len(path) < MAX_STEPS and not (path and _is_new(path[-1])):
            arms = [self._arms_of(i, views[i], moves) for i, moves in enumerate(position.moves)]
            choice = tuple(self._pick(i, options) for i, options in enumerate(arms))
            path.append(tuple(options[move] for options, move in zip(arms, choice, strict=True)))
            views = self._views_after(views, position, choice)
            position = position.after(choice)
        goals = position.goals if position.is_end else play_out(self.game, position.state, self.random, budget)
        if goals is not None:
            for step in path:
                for arm, goal in zip(step, goals, strict=True):
                    arm.add(goal)

    def _arms_of(self, i: int, view: View | None, moves: Sequence[Term]) -> list[Arm]:
        """Return what is known of each of *moves* to role *i* that has been through *view*."""
        arms = self._arms.setdefault((i, view), {})
        return [arms.setdefault(move, Arm()) for move in moves]

    def _pick(self, i: int, arms: Sequence[Arm]) -> int:
        if len(arms) == 1:
            return 0
        if i == self.positions.chance:
            return self.random.randrange(len(arms))
        untried = [move for move, arm in enumerate(arms) if not arm.count]
        if untried:
            return self.random.choice(untried)
        log_visits = log(sum(arm.count for arm in arms))
        return max(range(len(arms)), key=lambda move: arms[move].bound(log_visits))

    def _views_after(self, views: Views, position: Position, choice: Choice) -> Views:
        after = zip(views, position.joint_move(choice), position.percepts(choice), strict=True)
        return tuple(
            None if i == self.positions.chance else View.of(view, move, percepts)
            for i, (view, move, percepts) in enumerate(after)
        )

    def _best(self, i: int, view: View | None, moves: Sequence[Term]) -> Term:
        arms = self._arms_of(i, view, moves)
        return moves[max(range(len(moves)), key=lambda move: (arms[move].count, arms[move].total))]


def _is_new(step: tuple[Arm, ...]) -> bool:
    return any(arm.count == 0 for arm in step)
