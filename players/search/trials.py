"""Short matches in the start clock, in which weights of fluents show whether a search is better with them.

How well weights explain the results of random plays does not tell: in reversi, random plays are won with many pieces
early on, and matches lost by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Final

from gdl.compiler.compiled import CompiledGame
from gdl.errors import StuckPlayError
from gdl.game import Role, State
from gdl.language.terms import Term
from players.deadline import Deadline, SearchBudget
from players.search.tree.search import CompiledSearch, SearchSettings
from players.search.tree.weights import FluentWeights, WeightLearner

LEAST_S: Final = 0.4
"""In less time nothing can be learned."""
_LEARNING_SHARE: Final = 1 / 4
_N_MATCHES: Final = 12
"""How many matches are meant to fit into the time; moves that would be too short for a search last longer."""
_LEAST_MATCHES: Final = 3
"""After fewer of them nothing is known, and each won one counts twice; weights that are bad lose nearly all."""
_SURE: Final = 5
"""So many matches more that one side has won decide."""
_SHORTEST_MOVE_S: Final = 0.004
_OPENING_STEPS: Final = 4
_MEMORY_MB: Final = 32.0
_MAX_STEPS: Final = 600


def tried_weights(game: CompiledGame, settings: SearchSettings, seed: int, deadline: Deadline) -> FluentWeights | None:
    """Return weights learned until *deadline* by which a search wins as many matches as without; else None.

    A search with *settings* learns from plays as it makes them itself; where plays say much of moves anyway (AMAF)
    it has no use for weights.
    """
    small = replace(settings, memory_mb=_MEMORY_MB)
    plain = CompiledSearch(game, seed, small)
    if plain.uses_amaf:
        return None
    learner = WeightLearner(game, plain.played, seed)
    if not learner.learn(deadline.at_most(_LEARNING_SHARE * deadline.remaining_s)):
        return None
    weights = learner.found()
    if weights is None:
        return None
    weighing = CompiledSearch(game, seed + 1, small)
    weighing.weigh(weights)
    move_s = max(_SHORTEST_MOVE_S, deadline.remaining_s / _N_MATCHES / learner.mean_length)
    try:
        is_better = _Trial(game, (plain, weighing), move_s, Random(seed)).is_won(deadline)
    except StuckPlayError:
        return None
    return weights if is_better else None


class _Trial:
    """Matches of two roles between two searches, *move_s* seconds a move; the first steps are drawn at random."""

    def __init__(self, game: CompiledGame, searches: Sequence[CompiledSearch], move_s: float, random: Random) -> None:
        self._game, self._searches, self._move_s, self._random = game, searches, move_s, random

    def is_won(self, deadline: Deadline) -> bool:
        """Return whether the second search wins at least as many matches until *deadline* as the first.

        Each opening is played twice. It ends before where one side is far ahead.
        """
        balance = n_matches = 0
        while not deadline.has_passed and abs(balance) < _SURE:
            opening = self._opening()
            for first in (0, 1):
                result = self._result(opening, first, deadline)
                if result is not None:
                    balance, n_matches = balance + result, n_matches + 1
        return n_matches + balance >= _LEAST_MATCHES and balance >= 0

    def _opening(self) -> State:
        state = self._game.initial_state
        for _ in range(_OPENING_STEPS):
            moves = tuple(self._random.choice(_legal(state, role)) for role in self._game.roles)
            following = state.next_state(moves)
            if following.is_terminal:
                break
            state = following
        return state

    def _result(self, state: State, first: int, deadline: Deadline) -> int | None:
        """Return 1 where the second search wins, -1 where it loses, 0 for a draw, None where there is no end in time.

        Search *first* has the first role.
        """
        seats = (self._searches[first], self._searches[1 - first])
        for _ in range(_MAX_STEPS):
            if state.is_terminal or deadline.has_passed:
                break
            state = state.next_state(tuple(self._move(search, state, n, deadline) for n, search in enumerate(seats)))
        if not state.is_terminal:
            return None
        ours, theirs = (state.goal(self._game.roles[number]) or 0 for number in (1 - first, first))
        return (ours > theirs) - (ours < theirs)

    def _move(self, search: CompiledSearch, state: State, number: int, deadline: Deadline) -> Term:
        role = self._game.roles[number]
        legal = _legal(state, role)
        if len(legal) == 1:
            return legal[0]
        return search.think(state, role, SearchBudget(deadline=deadline.at_most(self._move_s)))


def _legal(state: State, role: Role) -> Sequence[Term]:
    legal = state.legal_moves(role)
    if not legal:
        raise StuckPlayError
    return legal
