"""Alpha-beta with iterative deepening on the compiled engine: the Python side."""

from random import Random
from typing import Final

import numpy as np

from gdl.compiler.compiled import CompiledGame, CompiledState
from gdl.compiler.kernels.packing import n_words, words_of
from gdl.compiler.warm_up import tiny_rules
from gdl.game import RANDOM, Role, State
from gdl.language.terms import Term
from players.deadline import SearchBudget
from players.search.alphabeta import window
from players.search.alphabeta.window import BEST, BEST_CHILD, DONE, IS_CUT, LEVEL, N_CHILDREN, N_STATES, NEXT, PAUSED
from players.search.expansion.room import room_for
from players.search.expansion.table import table_of
from players.search.kernel_calls import Pace
from players.search.positions import Report, ignore

TABLE_MB: Final = 64
_ALL: Final = 1_000_000


class RefusedError(Exception):
    """Roles move at the same time somewhere, or there is no room; `CompiledAlphaBeta.think` returns None then."""


class CompiledAlphaBeta:
    """A search for one role in a compiled game without chance, in which one role chooses at a time.

    Its values are those of `AlphaBeta`, and its table lasts for a match.

    Attributes:
        n_states: how many states the last call of `think` judged.
        value: what the best move is worth, from -1 to 1, by the last search that came to its end.
        depth: how many steps that looked ahead.
    """

    def __init__(self, game: CompiledGame, role: Role, random: Random, table_mb: int = TABLE_MB) -> None:
        self.game, self.role, self.random = game, role, random
        self.n_states, self.value, self.depth = 0, 0.0, 0
        self._is_cut = True
        self._tables = game.rules.single
        self._judge = window.Judge(
            goals=np.array([-1 if goal is None else goal for goals in game.rules.goals for goal in goals], np.int64),
            goal_start=np.cumsum([0, *map(len, game.rules.goals)]).astype(np.int64),
            me=np.array([game.roles.index(role)], np.int64),
        )
        self._room = room_for(self._tables)
        self._way = window.way_for(n_words(len(game.fluents)))
        self._table = table_of(table_mb)
        self._pace = Pace()
        window.begin(self._way, self._way.words[0], 1)
        self._call(0)  # loads the kernel, which takes longer than a clock

    def think(self, state: State, budget: SearchBudget, report: Report = ignore) -> Term | None:
        """Return the best move that *budget* finds, looking ever further, telling *report* of the best one so far.

        None where the game cannot be searched like that. Iterations of the budget are states.
        """
        here = self.game.compiled_state(state)
        if here is None or RANDOM in self.game.roles:
            return None
        moves = here.legal_moves(self.role)
        best = self.random.choice(moves)
        report(best)
        self.n_states = self.depth = 0
        try:
            while len(moves) > 1 and self.depth + 1 < window.MAX_DEPTH and not self.is_over:
                depth = self.depth
                best = self.deepen(here, best, budget)
                report(best)
                if self.depth == depth:
                    break
        except RefusedError:
            return None
        return best

    def deepen(self, state: CompiledState, before: Term, budget: SearchBudget) -> Term:
        """Look a step further ahead than the last time; return the best move, *before* where nothing better is known.

        Raises:
            RefusedError: the game cannot be searched like that.
        """
        window.begin(self._way, words_of(state.packed, len(self.game.fluents)), self.depth + 1)
        return self._found(before, is_done=self._finish(budget))

    @property
    def is_over(self) -> bool:
        """Whether looking further ahead than the last time would change nothing."""
        return self.depth > 0 and (abs(self.value) >= 1.0 or not self._is_cut)

    def _finish(self, budget: SearchBudget) -> bool:
        """Look as far ahead as begun; return whether the budget was enough for it."""
        while not budget.is_spent(self.n_states):
            n = _ALL if budget.deadline is None else self._pace.n_steps
            if budget.max_iterations is not None:
                n = min(n, budget.max_iterations - self.n_states)
            before = int(self._way.clock[N_STATES])
            self._pace.begin()
            ending = self._call(n)
            n_done = int(self._way.clock[N_STATES]) - before
            self._pace.end(n_done)
            self.n_states += n_done
            if ending == DONE:
                root = self._way.node[0]
                self.value, self.depth = int(root[BEST]) / window.WON, self.depth + 1
                self._is_cut = bool(root[IS_CUT])
                return True
            if ending != PAUSED:
                raise RefusedError
        return False

    def _call(self, n_states: int) -> int:
        return int(window.look_ahead(self._tables, self._judge, self._room, self._table, self._way, n_states))

    def _found(self, before: Term, *, is_done: bool) -> Term:
        """Return the best move known now, where *before* was the best of a search that looked less far ahead."""
        root = self._way.node[0]
        if root[N_CHILDREN] <= 0:
            return before
        if root[BEST_CHILD] >= 0 and root[BEST] > -window.WON:
            return self._move(int(root[BEST_CHILD]))
        if is_done or self._way.clock[LEVEL] == 0:  # all is lost: the move before held out longest
            return before
        return self._move(int(self._way.order[root[NEXT] - 1]))  # what was tried loses, what is being tried may not

    def _move(self, child: int) -> Term:
        return self.game.moves[int(self._way.move[child])]


def load_window_kernel() -> None:
    """Load the kernels of the search, compiled to the cache on disk the first time on a machine."""
    rules, role = tiny_rules(), np.zeros(1, np.int64)
    way, table = window.way_for(n_words(len(rules.fluents))), table_of(0)
    window.begin(way, np.zeros(1, np.uint64), 1)
    judge = window.Judge(np.zeros(rules.single.goal_value.shape[1], np.int64), np.zeros(2, np.int64), role)
    window.look_ahead(rules.single, judge, room_for(rules.single), table, way, 1)
