"""Alpha-beta with iterative deepening and a transposition table, for any number of roles."""

from dataclasses import dataclass
from enum import Enum, auto
from itertools import product
from math import inf
from random import Random
from typing import Final

from gdl.game import Game, Role, State
from gdl.language.terms import Term
from players.deadline import SearchBudget
from players.search.positions import Choice, Positions, Report, SearchPosition, ignore

GOAL_WEIGHT: Final = 0.9
MOBILITY_WEIGHT: Final = 0.09


def difference(position: SearchPosition, me: int, others: tuple[int, ...]) -> float:
    """Return the goal of role number *me* minus the mean goal of *others*; alone, its goal."""
    goals = position.goals
    return goals[me] - sum(goals[i] for i in others) / max(1, len(others))


def estimate(position: SearchPosition, me: int, others: tuple[int, ...]) -> float:
    """Return a guess at the worth of *position*: the goals as they stand now, then who has more moves.

    What has ended is worth exactly its goals; what has not ended never reaches a won or a lost end.
    """
    if position.is_end:
        return difference(position, me, others)
    theirs = sum(_mobility(position, i) for i in others) / max(1, len(others))
    return GOAL_WEIGHT * difference(position, me, others) + MOBILITY_WEIGHT * (_mobility(position, me) - theirs)


def _mobility(position: SearchPosition, i: int) -> float:
    """Return a number from 0, for a single move, towards 1 for very many."""
    n_alternatives = len(position.moves[i]) - 1
    return n_alternatives / (n_alternatives + 10)


MAX_DEPTH: Final = 200
"""A bound on how deep the search recurses. *Units*: steps."""


class Bound(Enum):
    """How a remembered value relates to the true one."""

    EXACT = auto()
    LOWER = auto()
    UPPER = auto()


@dataclass(frozen=True, slots=True)
class TableEntry:
    """What was found for a position, looking *depth* steps ahead (infinite: to the end of every line)."""

    depth: float
    value: float
    bound: Bound
    best: int

    def answers(self, depth: int, alpha: float, beta: float) -> bool:
        """Whether the entry says all that is asked."""
        if self.depth < depth:
            return False
        if self.bound is Bound.EXACT:
            return True
        return self.value >= beta if self.bound is Bound.LOWER else self.value <= alpha


class OutOfBudgetError(Exception):
    """The budget ended within an iteration; `AlphaBeta.think` catches it."""


class AlphaBeta:
    """A search for one role, whose table lasts for a match."""

    def __init__(self, game: Game, role: Role, random: Random) -> None:
        self.game, self.role, self.random = game, role, random
        self.positions = Positions(game)
        self.me = game.roles.index(role)
        self.others = tuple(i for i in range(len(game.roles)) if i not in (self.me, self.positions.chance))
        self.n_iterations = 0
        self.value = 0.0
        self._table: dict[SearchPosition, TableEntry] = {}
        self._n_cuts = 0
        self._budget = SearchBudget()

    def think(self, state: State, budget: SearchBudget, report: Report = ignore) -> Term:
        """Return the best move that *budget* finds, looking ever further, telling *report* of the best one so far."""
        root = self.positions.keep(state)
        self._table = {position: entry for position, entry in self._table.items() if position.state in self.positions}
        self._budget, self.n_iterations = budget, 0
        moves = root.moves[self.me]
        order = self.random.sample(range(len(moves)), len(moves))
        report(moves[order[0]])
        for depth in range(1, MAX_DEPTH if len(moves) > 1 else 0):
            order, is_finished = self._deepen(root, depth, order)
            report(moves[order[0]])
            if is_finished:
                break
        return moves[order[0]]

    def _deepen(self, root: SearchPosition, depth: int, order: list[int]) -> tuple[list[int], bool]:
        """Return the moves of *root*, the best first, and whether looking further would change nothing."""
        values: dict[int, float] = {}
        best, before = -inf, self._n_cuts
        try:
            for move in order:
                values[move] = self._after_move(root, move, depth, best, inf)
                best = max(best, values[move])
        except OutOfBudgetError:
            return _reordered(order, values), True
        self.value = best
        if best <= -1.0:  # all is lost: the order before held out longest
            return order, True
        return _reordered(order, values), best >= 1.0 or self._n_cuts == before

    def _value(self, position: SearchPosition, depth: int, alpha: float, beta: float) -> float:
        """Return the value of *position* within the window of *alpha* and *beta*, looking *depth* steps ahead."""
        self.n_iterations += 1
        if self._budget.is_spent(self.n_iterations):
            raise OutOfBudgetError
        if position.is_end or depth == 0:
            self._n_cuts += not position.is_end
            return estimate(position, self.me, self.others)
        entry = self._table.get(position)
        if entry is not None and entry.answers(depth, alpha, beta):
            self._n_cuts += entry.depth < inf
            return entry.value
        return self._search(position, depth, alpha, beta, 0 if entry is None else entry.best)

    def _search(self, position: SearchPosition, depth: int, alpha: float, beta: float, first: int) -> float:
        """Return the most that the role can get here, trying its move number *first* first."""
        best, best_move, before = -inf, first, self._n_cuts
        n_moves = len(position.moves[self.me])
        for move in (first, *(i for i in range(n_moves) if i != first)):
            value = self._after_move(position, move, depth, max(alpha, best), beta)
            if value > best:
                best, best_move = value, move
            if best >= beta:
                break
        bound = Bound.LOWER if best >= beta else Bound.EXACT if best > alpha else Bound.UPPER
        if not self.positions.is_full:
            self._table[position] = TableEntry(inf if self._n_cuts == before else depth, best, bound, best_move)
        return best

    def _after_move(self, position: SearchPosition, move: int, depth: int, alpha: float, beta: float) -> float:
        """Return the least to which the others can hold the role's *move*."""
        options = [range(len(moves)) if i in self.others else (0,) for i, moves in enumerate(position.moves)]
        options[self.me] = (move,)
        worst = inf
        for choice in product(*options):
            worst = min(worst, self._expected(position, choice, depth, alpha, min(beta, worst)))
            if worst <= alpha:
                break
        return worst

    def _expected(self, position: SearchPosition, choice: Choice, depth: int, alpha: float, beta: float) -> float:
        """Return the mean value over the moves of chance."""
        chance = self.positions.chance
        n_outcomes = 1 if chance is None else len(position.moves[chance])
        if chance is None or n_outcomes == 1:
            return self._value(position.after(choice), depth - 1, alpha, beta)
        outcomes = ((*choice[:chance], i, *choice[chance + 1 :]) for i in range(n_outcomes))
        return sum(self._value(position.after(outcome), depth - 1, -inf, inf) for outcome in outcomes) / n_outcomes


def _reordered(order: list[int], values: dict[int, float]) -> list[int]:
    """Return *order* by falling value; moves without a value stand before those that lose, behind the others."""
    known = sorted(values, key=lambda move: -values[move])
    kept = [move for move in known if values[move] > -1.0]
    return kept + [move for move in order if move not in values] + [move for move in known if values[move] <= -1.0]
