"""Nested Monte Carlo search for one role: every move is tried by a search of one level less, down to random plays.

It works on any engine.
Source: Cazenave, "Nested Monte-Carlo Search", 2009.
"""

from contextlib import suppress
from random import Random
from typing import Final, TypeAlias

from gdl.game import Game, State
from gdl.language.terms import Term
from players.deadline import SearchBudget
from players.search.evaluator import MAX_STEPS
from players.search.positions import Report, goal_shares, ignore

Line: TypeAlias = tuple[Term, ...]
LEVEL: Final = 2
NO_GOAL: Final = -1.0


class SpentError(Exception):
    """The budget ended; `NestedSearch.think` catches it."""


class NestedSearch:
    """A search of a game with a single role; the best line of moves ever met lasts for a match."""

    def __init__(self, game: Game, random: Random, level: int = LEVEL) -> None:
        self.game, self.random, self.level = game, random, level
        self.n_iterations = 0
        self.best_goal, self.best_line = NO_GOAL, Line()
        self._root: State | None = None
        self._budget = SearchBudget()

    def think(self, state: State, budget: SearchBudget, report: Report = ignore) -> Term:
        """Return the first move of the best line that *budget* finds, telling *report* of the best one so far."""
        moves = state.legal_moves(self.game.roles[0])
        self._continue(state)
        self._budget, self.n_iterations = budget, 0
        report(self.best_line[0] if self.best_line else moves[0])
        while self.best_goal < 1.0 and not budget.is_spent(self.n_iterations):
            goal_before = self.best_goal
            with suppress(SpentError):
                self._search(state, self.level, ())
            if self.best_goal > goal_before:
                report(self.best_line[0])
        return self.best_line[0] if self.best_line else moves[0]

    def _continue(self, state: State) -> None:
        """Keep what is left of the best line if the play has followed it to *state*."""
        expected = None
        if self._root is not None and self.best_line:
            expected = self._root.next_state(self.best_line[:1])
        if state == expected:
            self.best_line = self.best_line[1:]
        elif state != self._root:
            self.best_goal, self.best_line = NO_GOAL, Line()
        self._root = state

    def _search(self, state: State, level: int, path: Line) -> tuple[float, Line]:
        """Return the best goal met from *state*, reached by *path*, and the line from there to it."""
        if level == 0:
            return self._play_out(state, path)
        best, best_line, done = NO_GOAL, Line(), Line()
        for _ in range(MAX_STEPS):
            if state.is_terminal or best >= 1.0:
                break
            for move in self._shuffled_moves(state):
                goal, line = self._search(state.next_state((move,)), level - 1, (*path, *done, move))
                if goal > best:
                    best, best_line = goal, (*done, move, *line)
            if len(best_line) <= len(done):
                break
            move = best_line[len(done)]
            state, done = state.next_state((move,)), (*done, move)
        return (best, best_line) if best > NO_GOAL else self._play_out(state, path)

    def _shuffled_moves(self, state: State) -> list[Term]:
        moves = state.legal_moves(self.game.roles[0])
        return self.random.sample(moves, len(moves))

    def _play_out(self, state: State, path: Line) -> tuple[float, Line]:
        """Return goal and moves of a random play from *state*, and keep the best line that was found."""
        if self._budget.is_spent(self.n_iterations):
            raise SpentError
        self.n_iterations += 1
        line: list[Term] = []
        while not state.is_terminal and len(line) < MAX_STEPS:
            moves = state.legal_moves(self.game.roles[0])
            if not moves:
                break
            if self._budget.is_out_of_time:
                raise SpentError
            line.append(self.random.choice(moves))
            state = state.next_state((line[-1],))
        goal = goal_shares(state, self.game.roles)[0]
        if goal > self.best_goal:
            self.best_goal, self.best_line = goal, (*path, *line)
        return goal, tuple(line)
