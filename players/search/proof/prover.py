"""A proof search beside another search: how much of a player's time it gets, and what it tells of a move."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import exp, inf, log
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.compiled import CompiledGame, CompiledState
from gdl.compiler.kernels.packing import words_of
from gdl.errors import LimitExceeded, StuckPlayError
from gdl.game import Role, State
from gdl.language.terms import Term
from players.deadline import Deadline, SearchBudget
from players.player import Insight
from players.search.background_task import BackgroundTask
from players.search.proof.solver import DEFAULT_TABLE_MB, ProofSearch, Solution, load_proof_kernel
from players.search.tree.memory import ProvenState

_FIRST_SHARE: Final = 1 / 8
MOST_SHARE: Final = 1 / 2
_LEAST_SHARE: Final = 1 / 64
"""The shares of the time left for a move; the first one at the start too."""
_START_S: Final = 5.0
"""The most that is spent before the first move."""
_FALLING: Final = 0.3
"""A proof that seems to take ten times as long as there is has half of that share: guesses are as far off as that."""
_AT_ONCE: Final = 16
"""So many states are expanded to see what was proven before."""
_N_PLAYS: Final = 512
_NODES_PER_S: Final = 100_000.0
"""How many states a second are expanded, as long as that was not measured."""
_MEASURED: Final = 1_000
"""So many states are enough to measure it, and how far off the guess is of how many there are."""
_LONGEST: Final = 4.0
"""A play that lasts so many times as long as plays that are short enough do in the mean says that the end is far."""
_N_SKIPPED: Final = 10
"""So many times it is not looked again whether it still is, some three moves."""


ExpectedState: TypeAlias = tuple[State, float | None]
"""A state, and the goal that another search expects of it, if any."""


@dataclass(frozen=True, slots=True)
class ProofFinding:
    """What was proven of a state: a move to make and the goal that it brings, or else what some moves are worth.

    Where it is *solved* but lost, or another role is to move, no move is named.
    """

    move: Term | None = None
    value: int = 0
    proven_states: tuple[ProvenState, ...] = ()
    solved: ProvenState | None = None

    @property
    def is_solved(self) -> bool:
        """Whether it is known what the state is worth."""
        return self.solved is not None


class Prover:
    """Looks for proofs in a game of two roles whose goals add up to the same in every end.

    Where random plays end so soon that a proof seems to fit into half of a move's time, it has that, and less the
    longer it seems to take. It has at least a share that is doubled where the state is solved, and halved where nothing
    is found.
    """

    def __init__(self, game: CompiledGame, table_mb: int = DEFAULT_TABLE_MB) -> None:
        load_proof_kernel()
        self.search = ProofSearch(game, table_mb)
        self.share = _FIRST_SHARE
        self.total = game.goal_sum or 0
        if game.goal_sum is None:
            self.share = 0.0
        self._nodes_per_s, self._n_skipped = _NODES_PER_S, 0
        self._guess: tuple[State, float] | None = None
        self._log_error = 0.0

    def begin(self, deadline: Deadline) -> bool:
        """Look for what the first state is worth to each role, within the share of the start clock.

        Returns whether that is known.
        """
        n_solved = 0
        for role in self.search.game.roles:
            end = deadline.at_most(min(self.share * deadline.remaining_s, _START_S) / 2)
            if self.share:
                n_solved += self._solve(self.search.game.initial_state, role, SearchBudget(deadline=end)) is not None
        return n_solved == len(self.search.game.roles)

    def think(self, state: State, role: Role, deadline: Deadline) -> ProofFinding:
        """Return what is proven about *state*, where *role* is to move, within a share of the time until *deadline*."""
        if not self.share:
            return ProofFinding()
        share = self.share_for(state, deadline.remaining_s)
        budget = SearchBudget(deadline=deadline.at_most(share * deadline.remaining_s))
        found = self.prove(state, role, budget)
        self.learn_from(found)
        return found

    def share_for(self, state: State, seconds: float) -> float:
        """Return which share of the *seconds* for a move a proof of what *state* is worth is to have."""
        if not self.share:
            return 0.0
        excess = max(0.0, self.log_excess(state, MOST_SHARE * seconds))
        return max(self.share, MOST_SHARE * exp(-_FALLING * excess))

    def learn_from(self, found: ProofFinding) -> None:
        """Take more of the next moves where a move's share has *found* what its state is worth, else less."""
        if found.is_solved:
            self.share = min(MOST_SHARE, 2 * self.share)
        elif not found.proven_states:
            self.share = 0.0 if self.search.is_refused else max(_LEAST_SHARE, self.share / 2)

    def prove(self, state: State, role: Role, budget: SearchBudget, expected: float | None = None) -> ProofFinding:
        """Return what is proven about *state* for *role* by all of a *budget*.

        Another search may have told what goal is *expected*. That says nothing of what the share should be.
        """
        solution = self._solve(state, role, budget, expected)
        self._learn_error(state, is_solved=solution is not None)
        if solution is None and not self.search.is_refused:
            return ProofFinding(proven_states=self._proven_states(role))
        return self._finding(state, role, solution)

    def known(self, state: State, role: Role) -> ProofFinding:
        """Return what was proven of *state* before, where *role* is to move, or is to be seen at once."""
        solution = self.search.solve(state, role, SearchBudget(_AT_ONCE)) if self.share else None
        return self._finding(state, role, solution)

    def _finding(self, state: State, role: Role, solution: Solution | None) -> ProofFinding:
        here = None if solution is None else self.search.game.compiled_state(state)
        if solution is None or here is None:
            return ProofFinding()
        solved = self._proven_state(words_of(here.packed, len(self.search.game.fluents)), solution.value, role)
        if solution.move is None or solution.value == min(self.search.goals, default=0):
            return ProofFinding(solved=solved)  # all is lost: another search knows better how long that takes
        return ProofFinding(solution.move, solution.value, solved=solved)

    def _solve(self, state: State, role: Role, budget: SearchBudget, expected: float | None = None) -> Solution | None:
        """Return what *state* is worth, if *budget* suffices to find it, and measure how fast the search is."""
        begun_s = 0.0 if budget.deadline is None else budget.deadline.clock()
        solution = self.search.solve(state, role, budget, expected)
        took_s = 0.0 if budget.deadline is None else budget.deadline.clock() - begun_s
        if self.search.n_nodes >= _MEASURED and took_s > 0:
            self._nodes_per_s = self.search.n_nodes / took_s
        return solution

    def log_excess(self, state: State, seconds: float) -> float:
        """Return the logarithm of how many times *seconds* a proof of what *state* is worth seems to take.

        Infinity where the end is far: then that is not looked at again for a few states.
        """
        here = self.search.game.compiled_state(state) if self.share else None
        if here is None or self._n_skipped > 0:
            self._n_skipped = max(0, self._n_skipped - 1)
            return inf
        limit = log(max(self._nodes_per_s * seconds, 2.0))
        if self._guess is not None and self._guess[0] is state:
            effort = self._guess[1]
        else:
            effort = log_effort(self.search.game, here, limit)
        self._guess = (state, effort) if effort < inf else None
        if effort == inf:
            self._n_skipped = _N_SKIPPED
        return effort + self._log_error - limit

    def _learn_error(self, state: State, *, is_solved: bool) -> None:
        """Learn from the proof of a state that was guessed at last how far off guesses are in this game."""
        if self._guess is None or self._guess[0] is not state or self.search.n_nodes < _MEASURED:
            return
        error = log(self.search.n_nodes) - self._guess[1]
        self._log_error = (self._log_error + error) / 2 if is_solved else max(self._log_error, error)

    def _proven_states(self, role: Role) -> tuple[ProvenState, ...]:
        return tuple(self._proven_state(words, goal, role) for _, words, goal in self.search.proven_moves())

    def _proven_state(self, words: NDArray[np.uint64], goal: int, role: Role) -> ProvenState:
        other = self.total - goal
        return ProvenState(words, (goal, other) if role == self.search.game.roles[0] else (other, goal))

    def insight(self, finding: ProofFinding) -> Insight:
        """Return what a player can say of a move that is proven."""
        return Insight(
            n_leaves=self.search.n_nodes,
            n_playouts=0,
            depth=0.0,
            value=float(finding.value),
            line=(str(finding.move),),
            is_proven=True,
        )


class BackgroundProof:
    """Looks for what *states* are worth to *role*, one after the other as long as each is solved, in a thread.

    It does so until *deadline*, or `stop`. The prover is not to be asked meanwhile.
    """

    def __init__(self, prover: Prover, states: Sequence[ExpectedState], role: Role, deadline: Deadline) -> None:
        self._stopped = threading.Event()
        budget = SearchBudget(deadline=deadline, is_wanted=lambda: not self._stopped.is_set())
        self._proof = BackgroundTask(partial(_prove_all, prover, states, role, budget), "proof")

    @property
    def has_ended(self) -> bool:
        """Whether the thread has ended: what all states are worth is known, or the deadline has passed."""
        return self._proof.has_ended

    def stop(self) -> ProofFinding:
        """Return what was found of the last state that was looked at, when the thread has ended."""
        self._stopped.set()
        return self._proof.get(inf) or ProofFinding()


def _prove_all(prover: Prover, states: Sequence[ExpectedState], role: Role, budget: SearchBudget) -> ProofFinding:
    found = ProofFinding()
    for state, expected in states:
        found = prover.prove(state, role, budget, expected)
        if not found.is_solved:
            break
    return found


def log_effort(game: CompiledGame, state: CompiledState, limit: float) -> float:
    """Return the logarithm of about how many states a proof of what *state* is worth takes; infinity far above *limit*.

    It follows all moves of one role and one of the other, as far as random plays last in the mean; so it is the root of
    how many lines there are. *Source*: Knuth and Moore, "An analysis of alpha-beta pruning", 1975.
    """
    log_moves = max(log(max(len(state.legal_moves(role)), 2)) for role in game.roles)
    try:
        plays = game.playouts(state, _N_PLAYS, seed=1, max_steps=int(_LONGEST * 2 * limit / log_moves))
    except (StuckPlayError, LimitExceeded):
        return inf
    return log_moves / 2 * plays.n_steps / plays.n_plays
