"""What a state is worth to a role, proven to the ends of the play: the Python side of the proof search."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from gdl.compiler.compiled import CompiledGame, CompiledState
from gdl.compiler.kernels.packing import n_words, words_of
from gdl.compiler.kernels.words import rows
from gdl.game import RANDOM, Role, State
from gdl.language.terms import Term
from players.deadline import SearchBudget
from players.search.proof.descent import DECIDED, UNDECIDED, descend, path_for
from players.search.proof.expansion import room_for

DEFAULT_TABLE_MB: Final = 64
_ROW_BYTES: Final = 64
_FIRST_NODES: Final = 500
_TURN_S: Final = 0.02
"""How long a call of the kernel should take: then the clock is asked again."""
_MAX_NODES: Final = 1_000_000
_SALT: Final = 0xD1B54A32D192ED03
_WORD: Final = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Solution:
    """What a state is worth to a role: the goal that it can be sure of, and a move that keeps it.

    The move is None where another role is to move.
    """

    value: int
    move: Term | None


class ProofSearch:
    """A proof search in a compiled game, whose table lasts: what was proven once need not be proven again.

    It decides goal by goal whether a role can reach it whatever the others do, by depth-first proof-number search. In a
    game of two roles whose goals always have the same sum, that is the value of the state. States are known in the
    table by 64 bits, so that a proof could rest on two that are mistaken for one, about once in 10^11 states.

    Attributes:
        n_nodes: how many states the last call expanded.
    """

    def __init__(self, game: CompiledGame, table_mb: int = DEFAULT_TABLE_MB) -> None:
        self.game = game
        self.n_nodes = 0
        self._tables = game.rules.single
        self._n_words = n_words(len(game.fluents))
        self._room = room_for(self._tables)
        self._path = path_for(self._n_words)
        self._table = rows(1 << ((table_mb * 1024 * 1024 // _ROW_BYTES).bit_length() - 1))
        self._speed = _FIRST_NODES / _TURN_S

    def solve(self, state: State, role: Role, budget: SearchBudget) -> Solution | None:
        """Return what *state* is worth to *role*, None where *budget* does not suffice to say.

        Its rounds are states that are expanded. None, too, where roles move at the same time, where chance plays, and
        where a state cannot be reached or a play may be without an end.

        Raises:
            UnknownRoleError: the game has no such role.
        """
        self.n_nodes = 0
        if state.is_terminal:
            goal = state.goal(role)
            return None if goal is None else Solution(goal, None)
        here = state if isinstance(state, CompiledState) else self.game.state(state.facts)
        moves = here.legal_moves(role)
        if RANDOM in self.game.roles or not isinstance(here, CompiledState):
            return None
        return self._value(here, self.game.roles.index(role), moves, budget)

    def _value(self, state: CompiledState, role: int, moves: Sequence[Term], budget: SearchBudget) -> Solution | None:
        """Return the highest goal that can be reached for sure, by halves; every goal is at least the lowest."""
        goals = sorted({goal for goal in self.game.rules.goals[role] if goal is not None})
        low, high, best = 0, len(goals) - 1, None
        while low < high:
            middle = (low + high + 1) // 2
            found = self._reaches(state, role, goals[middle], budget)
            if found is None:
                return None
            if found[0]:
                low, best = middle, found[1]
            else:
                high = middle - 1
        move = None if best is None else self.game.moves[best]
        if len(moves) == 1 or move not in moves:
            move = moves[0] if moves and (low == 0 or len(moves) == 1) else None
        return Solution(goals[low], move)

    def _reaches(self, state: CompiledState, role: int, goal: int, budget: SearchBudget) -> tuple[bool, int] | None:
        """Return whether *role* can be sure of *goal* or more, and by which move; None where the budget ends."""
        values = self.game.rules.goals
        wins = np.array([value is not None and value >= goal for value in values[role]], np.bool_)
        first = sum(map(len, values[:role]))
        salt = np.uint64((_SALT * (1 + 101 * role + goal)) & _WORD)
        self._path.words[0] = words_of(state.packed, len(self.game.fluents))
        result = np.zeros(4, np.int64)
        while not budget.is_spent(self.n_nodes):
            n_nodes = self._turn(budget)
            begun_s = time.perf_counter()
            found = descend(self._tables, wins, first, self._room, self._table, self._path, role, salt, n_nodes, result)
            self.n_nodes += int(result[3])
            self._speed = max(result[3] / max(time.perf_counter() - begun_s, 1e-6), 1.0)
            if found == DECIDED:
                return result[0] == 0, int(result[2])
            if found != UNDECIDED:
                return None
        return None

    def _turn(self, budget: SearchBudget) -> int:
        """Return how many states to expand before the budget is looked at again; the same each time without a clock."""
        n = _MAX_NODES if budget.deadline is None else max(_FIRST_NODES // 10, int(self._speed * _TURN_S))
        left = n if budget.max_rounds is None else budget.max_rounds - self.n_nodes
        return max(1, min(n, left))
