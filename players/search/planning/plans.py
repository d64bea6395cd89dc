"""Plans for one role: the best one known is kept and followed; several searches take turns to find a better one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final, Protocol

from gdl.compiler.compiled import CompiledGame, CompiledState
from gdl.game import Game, State
from gdl.language.terms import Term
from players.deadline import SearchBudget
from players.search import evaluator
from players.search.planning import answersets, nested
from players.search.planning.circuits import Moves, best_goal_of, has_clock
from players.search.planning.conditions import ConditionSearch
from players.search.planning.graphs import GraphSearch
from players.search.planning.patterns.beams import BeamSearch
from players.search.planning.policy_adaptation import PolicySearch
from players.search.positions import Report, ignore

SLICE_S: Final = 0.05
"""About how long a search works before the next one takes its turn."""
LEADING: Final = 3
"""How many times as long the search works that found the best plan known."""
MIN_SOLVING_S: Final = 1.0
"""With less time the solver is not asked: what comes before it begins would take all."""
LONG_SLICE_S: Final = 0.2
"""The same of the searches that soon end where they are of no use."""

_KERNEL_PATIENCE_S: Final = 0.01


class PlanFinder(Protocol):
    """A search from one state: `goal` and `plan` are the best end found and the moves to it, -1 and none before.

    `is_done` says that going on is useless, `has_seen_all` that no plan is better, `is_refuted` that no plan reaches
    the best goal; `n_iterations` counts nodes or plays.
    """

    goal: int
    plan: Moves
    is_done: bool
    has_seen_all: bool
    is_refuted: bool

    @property
    def n_iterations(self) -> int:
        """How many nodes were expanded, or plays made."""

    def advance(self, n_units: int) -> bool:
        """Work for about *n_units* units; return whether a better end was found."""

    def pause(self) -> None:
        """Stop what works by itself until the next turn."""

    def close(self) -> None:
        """Give back what the search holds."""


@dataclass(slots=True)
class _Turn:
    """A search, and how much of its work fits into a slice."""

    finder: PlanFinder
    slice_s: float = SLICE_S
    is_leading: bool = False
    n_units: int = 1
    last_s: float = 0.0

    def advance(self, budget: SearchBudget) -> bool:
        """Let the search work for a slice; return whether it found something better."""
        if budget.max_iterations is not None:
            return self.finder.advance(1)
        began_s, slice_s = budget.now_s(), self.slice_s * (LEADING if self.is_leading else 1)
        found = self.finder.advance(self.n_units)
        self.last_s = budget.now_s() - began_s
        if self.last_s < slice_s / 2:
            self.n_units *= 2
        elif self.last_s > 2 * slice_s:
            self.n_units = max(1, self.n_units // 2)
        return found

    def fits(self, budget: SearchBudget) -> bool:
        """Return whether a slice is likely to end in time; what is left decides how much work it is."""
        if budget.deadline is None or budget.max_iterations is not None:
            return True
        left_s = budget.deadline.remaining_s
        while self.n_units > 1 and self.last_s > left_s:
            self.n_units, self.last_s = self.n_units // 2, self.last_s / 2
        return self.last_s <= left_s


def _slice_s(finder: PlanFinder) -> float:
    return LONG_SLICE_S if isinstance(finder, ConditionSearch | BeamSearch) else SLICE_S


@dataclass(slots=True)
class Plan:
    """Moves that lead to an end: `states[i]` is the packed state in which `moves[i]` is made."""

    goal: int = -1
    moves: Moves = ()
    states: list[bytes] = field(default_factory=list)

    def rest_from(self, packed: bytes) -> Plan | None:
        """Return what is left of the plan in the state *packed*, None where the plan does not go through it.

        Where it comes back to the state, the way round is left out: a play would else never end.
        """
        if packed not in self.states:
            return None
        i = len(self.states) - 1 - self.states[::-1].index(packed)
        return Plan(self.goal, self.moves[i:], self.states[i:])


def checked_plan(game: CompiledGame, packed: bytes, moves: Sequence[int]) -> Plan | None:
    """Return the plan of making *moves* from *packed* on to the end, None where they cannot be made or are too few."""
    states = []
    for move in moves:
        legal, is_terminal = game.legal_and_terminal(packed)
        if is_terminal or move not in legal:
            return None
        states.append(packed)
        packed = game.step(packed, (move,))
    if not game.legal_and_terminal(packed)[1]:
        return None
    return Plan(game.goals_of(packed)[0] or 0, tuple(moves), states)


class PlanSearch:
    """A search of a game with a single role; the best plan ever met lasts for a match.

    Attributes:
        plan: the best plan known from the last state on.
        n_iterations: nodes expanded and plays made for the last move.
    """

    def __init__(self, game: CompiledGame, random: Random) -> None:
        self.game, self.random = game, random
        self.plan = Plan()
        self.n_iterations = 0
        self._best_goal = best_goal_of(game)
        below = (goal for goal in game.rules.goals[0] if goal is not None and goal < self._best_goal)
        self._second_goal = max(below, default=0)
        self._has_clock = has_clock(game)
        self._root: bytes | None = None
        self._is_best = self._is_refuted = False
        self._turns: list[_Turn] = []

    def think(self, state: CompiledState, budget: SearchBudget, report: Report = ignore) -> Term:
        """Return the next move of the best plan that *budget* finds, telling *report* of the best one so far."""
        self._go_to(state.packed)
        self.n_iterations = 0
        first = self._next_move()
        report(self.game.moves[first])
        if len(self.game.legal_and_terminal(state.packed)[0]) > 1:
            try:
                self._improve(budget, report)
            finally:
                self._pause()
        return self.game.moves[self._next_move()]

    def _go_to(self, packed: bytes) -> None:
        """Keep what is left of the plan if the play has followed it to *packed*; else begin again."""
        rest = self.plan.rest_from(packed)
        if rest is None:
            self.plan, self._is_best, self._is_refuted = Plan(), False, False
        else:
            self.plan = rest
        if packed != self._root:
            self.close()
        self._root = packed

    def _next_move(self) -> int:
        if self.plan.moves:
            return self.plan.moves[0]
        assert self._root is not None
        return int(self.game.legal_and_terminal(self._root)[0][0])

    def _improve(self, budget: SearchBudget, report: Report) -> None:
        if not self._turns and not self._has_best():
            self._begin(budget)
        has_worked = True
        while has_worked:
            has_worked = False
            for turn in self._turns:
                if self._has_best() or budget.is_spent(self.n_iterations):
                    break
                if not turn.finder.is_done and turn.fits(budget):
                    has_worked = True
                    self._advance(turn, budget, report)
        if self._has_best():
            self.close()

    def _advance(self, turn: _Turn, budget: SearchBudget, report: Report) -> None:
        """Let a search have its turn, and take over what it has found out."""
        before = turn.finder.n_iterations
        if turn.advance(budget) and self._take(turn.finder):
            report(self.game.moves[self._next_move()])
            for other in self._turns:
                other.is_leading = other is turn
        self.n_iterations += turn.finder.n_iterations - before
        self._is_best |= turn.finder.has_seen_all
        self._is_refuted |= turn.finder.is_refuted

    def _pause(self) -> None:
        for turn in self._turns:
            turn.finder.pause()

    def _has_best(self) -> bool:
        best = self._second_goal if self._is_refuted else self._best_goal
        return self._is_best or self.plan.goal >= best

    def _begin(self, budget: SearchBudget) -> None:
        assert self._root is not None
        self._turns = [_Turn(finder, _slice_s(finder)) for finder in self._finders(self._root, budget)]
        for turn in self._turns:
            self._take(turn.finder)

    def _finders(self, root: bytes, budget: SearchBudget) -> list[PlanFinder]:
        found: list[PlanFinder] = [ConditionSearch(self.game, root), GraphSearch(self.game, root, is_timeless=False)]
        if self._has_clock:
            found.insert(1, GraphSearch(self.game, root, is_timeless=True))
        patience_s = _KERNEL_PATIENCE_S if budget.max_iterations is None else math.inf
        found.append(BeamSearch(self.game, root, self.random, patience_s))
        found.append(PolicySearch(self.game, root, self.random))
        is_long = budget.deadline is None or budget.deadline.remaining_s >= MIN_SOLVING_S
        # What the solver does within a number of iterations is not repeatable.
        if is_long and budget.max_iterations is None:
            found.append(answersets.AnswerSetSearch(self.game, root))
        return found

    def _take(self, finder: PlanFinder) -> bool:
        """Take over the plan of *finder* if it is better; return whether it is."""
        if finder.goal <= self.plan.goal or self._root is None:
            return False
        found = checked_plan(self.game, self._root, finder.plan)
        if found is None or found.goal <= self.plan.goal:
            return False
        self.plan = found
        return True

    def close(self) -> None:
        """Give back what the searches hold; the plan remains."""
        for turn in self._turns:
            turn.finder.close()
        self._turns = []


class OneRoleSearch:
    """Plans where the game is compiled, nested search where it is not (yet), or in states that no play reaches."""

    def __init__(self, game: Game, random: Random) -> None:
        self.game, self.random = game, random
        self.nested = nested.NestedSearch(game, random)
        self.plans: PlanSearch | None = None

    def think(self, state: State, budget: SearchBudget, report: Report = ignore) -> Term:
        """Return the best move that *budget* finds, telling *report* of the best one so far."""
        here = self._compiled(state)
        if here is None:
            return self.nested.think(state, budget, report)
        if self.plans is None:
            self.plans = PlanSearch(evaluator.compiled_game_of(self.game), self.random)
        return self.plans.think(here, budget, report)

    def _compiled(self, state: State) -> CompiledState | None:
        if self.game.engine != "compiled":
            return None
        return evaluator.compiled_game_of(self.game).compiled_state(state)

    def close(self) -> None:
        """Give back what the searches hold."""
        if self.plans is not None:
            self.plans.close()
