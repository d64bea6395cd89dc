"""A proof search beside another search: it gets a share of a player's time, larger where it finds proofs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.compiled import CompiledGame, CompiledState
from gdl.errors import LimitExceeded, StuckPlayError
from gdl.game import RANDOM, Game, Role, State
from gdl.language.terms import Term
from players.deadline import Deadline, SearchBudget
from players.player import Insight
from players.search.proof.solver import DEFAULT_TABLE_MB, ProofSearch, load_proof_kernel

_FIRST_SHARE: Final = 1 / 8
_MOST_SHARE: Final = 1 / 2
_LEAST_SHARE: Final = 1 / 64
"""The shares of the time left for a move; the first one at the start too."""
_START_S: Final = 5.0
"""The most that is spent before the first move."""
_N_PLAYS: Final = 512


@dataclass(frozen=True, slots=True)
class Settled:
    """A state, as words, and the goals of all roles that it is proven to lead to."""

    words: NDArray[np.uint64]
    goals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ProofFinding:
    """What was proven of a state: a move to make and the goal that it brings, or else what some moves are worth."""

    move: Term | None = None
    value: int = 0
    settled: tuple[Settled, ...] = ()


class Prover:
    """Looks for proofs in a game of two roles whose goals add up to the same in every end.

    Its share of a move's time is doubled where the state is solved, and halved where nothing is found.
    """

    def __init__(self, game: CompiledGame, table_mb: int = DEFAULT_TABLE_MB) -> None:
        load_proof_kernel()
        self.search = ProofSearch(game, table_mb)
        self.share = _FIRST_SHARE
        total = goal_sum(game)
        self.total = 0 if total is None else total
        if total is None:
            self.share = 0.0

    def begin(self, deadline: Deadline) -> None:
        """Look for what the first state is worth to each role, within the share of the start clock."""
        for role in self.search.game.roles:
            end = deadline.at_most(min(self.share * deadline.remaining_s, _START_S) / 2)
            if self.share:
                self.search.solve(self.search.game.initial_state, role, SearchBudget(deadline=end))

    def think(self, state: State, role: Role, deadline: Deadline) -> ProofFinding:
        """Return what is proven about *state*, where *role* is to move, within a share of the time until *deadline*."""
        if not self.share:
            return ProofFinding()
        end = deadline.at_most(self.share * deadline.remaining_s)
        solution = self.search.solve(state, role, SearchBudget(deadline=end))
        if self.search.is_refused:
            self.share = 0.0
            return ProofFinding()
        settled = self.search.settled()
        if solution is not None:
            self.share = min(_MOST_SHARE, 2 * self.share)
        elif not settled:
            self.share = max(_LEAST_SHARE, self.share / 2)
        if solution is None:
            return ProofFinding(settled=self._for_all(settled, role))
        if solution.move is None or solution.value == self.search.goals[0]:
            return ProofFinding()  # all is lost, and another search knows better how long that takes
        return ProofFinding(solution.move, solution.value)

    def _for_all(self, settled: Sequence[tuple[Term, NDArray[np.uint64], int]], role: Role) -> tuple[Settled, ...]:
        is_first = role == self.search.game.roles[0]
        found = []
        for _, words, goal in settled:
            other = self.total - goal
            found.append(Settled(words, (goal, other) if is_first else (other, goal)))
        return tuple(found)

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


def is_provable(game: Game) -> bool:
    """Return whether proofs are looked for in *game*: two roles play it without chance."""
    return len(game.roles) == 2 and RANDOM not in game.roles


def goal_sum(game: CompiledGame) -> int | None:
    """Return what the goals of both roles add up to wherever a play ends, None where that is not always the same.

    It is seen by the goals that the rules know, and by the ends of random plays.
    """
    ours, theirs = ({goal for goal in goals if goal is not None} for goals in game.rules.goals)
    if not ours or not theirs:
        return None
    total = min(ours) + max(theirs)
    state = game.initial_state
    if {total - goal for goal in ours} != theirs or not isinstance(state, CompiledState):
        return None
    packed = np.frombuffer(state.packed, np.uint8)[None]
    try:
        plays = game.playouts_each(packed, _N_PLAYS, seed=1)
    except (StuckPlayError, LimitExceeded):
        return None
    (a, b), (a_squares, b_squares) = plays.goal_sums[0].tolist(), plays.goal_squares[0].tolist()
    n = int(plays.n[0])
    is_same = a + b == n * total and b_squares == n * total**2 - 2 * total * a + a_squares
    return total if is_same and bool((plays.n_scored[0] == n).all()) else None
