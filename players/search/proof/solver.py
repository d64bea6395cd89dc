"""What a state is worth to a role, proven to the ends of the play: the Python side of the proof search.

Beside another search it gets a share of a player's time, larger where it finds proofs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.compiled import CompiledGame, CompiledState, tiny_rules
from gdl.compiler.kernels.packing import n_words, words_of
from gdl.compiler.kernels.words import rows
from gdl.errors import LimitExceeded, StuckPlayError
from gdl.game import RANDOM, Role, State
from gdl.language.terms import Term
from players.deadline import Deadline, SearchBudget
from players.player import Insight
from players.search.kernel_calls import Pace
from players.search.proof.descent import DECIDED, FIRST, UNDECIDED, N, descend, path_for
from players.search.proof.expansion import room_for
from players.search.proof.table import n_rows

DEFAULT_TABLE_MB: Final = 64
_FIRST_NODES: Final = 500
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
        is_refused: whether the last call found that roles move at the same time, or that no end is near.
        goals: the goals that the rules know for the role of the last call.
        bounds: between which goals each move, by number, is worth, as far as the last call found out.
    """

    def __init__(self, game: CompiledGame, table_mb: int = DEFAULT_TABLE_MB) -> None:
        self.game = game
        self.n_nodes = 0
        self.is_refused = False
        self.goals: list[int] = []
        self.bounds: dict[int, tuple[int, int]] = {}
        self._tables = game.rules.single
        self._n_words = n_words(len(game.fluents))
        self._room = room_for(self._tables)
        self._path = path_for(self._n_words)
        self._table = rows(n_rows(table_mb))
        self._pace = Pace()

    def solve(self, state: State, role: Role, budget: SearchBudget) -> Solution | None:
        """Return what *state* is worth to *role*, None where *budget* does not suffice to say.

        Its rounds are states that are expanded. None, too, where roles move at the same time, where chance plays, and
        where a state cannot be reached or a play may be without an end.

        Raises:
            UnknownRoleError: the game has no such role.
        """
        self.n_nodes, self.is_refused, self.bounds = 0, False, {}
        if state.is_terminal:
            goal = state.goal(role)
            return None if goal is None else Solution(goal, None)
        here = state if isinstance(state, CompiledState) else self.game.state(state.facts)
        moves = here.legal_moves(role)
        if RANDOM in self.game.roles or not isinstance(here, CompiledState):
            return None
        return self._value(here, self.game.roles.index(role), moves, budget)

    def _value(self, state: CompiledState, role: int, moves: Sequence[Term], budget: SearchBudget) -> Solution | None:
        """Return the highest goal that can be reached for sure; every goal is at least the lowest.

        The goals in the middle of those in question take turns, each twice as long as the last.
        """
        self._begin(state, role)
        goals, turn = self.goals, _FIRST_NODES
        low, high, best = 0, len(goals) - 1, None
        while low < high:
            for middle in {(low + high + 1) // 2, (low + high) // 2 + 1}:
                found = self._reaches(role, goals[middle], self._until(turn, budget))
                if found is not None:
                    break
                if self.is_refused or budget.is_spent(self.n_nodes):
                    return None
            if found is None:
                turn *= 2
            elif found[0]:
                low, best = middle, found[1]
            else:
                high = middle - 1
        move = None if best is None else self.game.moves[best]
        if len(moves) == 1 or move not in moves:
            move = moves[0] if moves and (low == 0 or len(moves) == 1) else None
        return Solution(goals[low], move)

    def _begin(self, state: CompiledState, role: int) -> None:
        self.goals = sorted({goal for goal in self.game.rules.goals[role] if goal is not None})
        self.bounds = {}
        self._path.words[0] = words_of(state.packed, len(self.game.fluents))

    def _until(self, turn: int, budget: SearchBudget) -> SearchBudget:
        """Return *budget*, or what of it is for the next *turn* states."""
        end = self.n_nodes + turn
        return SearchBudget(end if budget.max_rounds is None else min(end, budget.max_rounds), budget.deadline)

    def _reaches(self, role: int, goal: int, budget: SearchBudget) -> tuple[bool, int] | None:
        """Return whether *role* can be sure of *goal* or more, and by which move; None where the budget ends."""
        values = self.game.rules.goals
        wins = np.array([value is not None and value >= goal for value in values[role]], np.bool_)
        first = sum(map(len, values[:role]))
        salt = np.uint64((_SALT * (1 + 101 * role + goal)) & _WORD)
        result = np.zeros(4, np.int64)
        while not budget.is_spent(self.n_nodes):
            n_nodes = self._turn(budget)
            here = self._room, self._table, self._path
            self._pace.begin()
            found = descend(self._tables, wins, first, *here, role, salt, n_nodes, result)
            self._pace.end(int(result[3]))
            self.n_nodes += int(result[3])
            if found not in {DECIDED, UNDECIDED}:
                self.is_refused = True
                return None
            self._note_moves(goal)
            if found == DECIDED:
                return result[0] == 0, int(result[2])
        return None

    def _note_moves(self, goal: int) -> None:
        """Note which moves at the root are proven to reach *goal*, and which cannot."""
        numbers, moves, _ = self._moves()
        for number, (proof, disproof) in zip(moves.tolist(), numbers.tolist(), strict=True):
            low, high = self.bounds.get(number, (self.goals[0], self.goals[-1]))
            if proof == 0:
                low = max(low, goal)
            elif disproof == 0:
                high = min(high, self.goals[self.goals.index(goal) - 1])
            self.bounds[number] = low, high

    def _moves(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint64]]:
        """Return the numbers of the moves at the root, which they are, and the words of what they lead to."""
        first, n = int(self._path.node[0, FIRST]), int(self._path.node[0, N])
        here = slice(first, first + n)
        return self._path.child_number[here], self._path.child_move[here], self._path.child_words[here]

    def settled(self) -> list[tuple[Term, NDArray[np.uint64], int]]:
        """Return the moves of which the last call found what they are worth, each with the words of the state after."""
        found = []
        _, moves, words = self._moves()
        for move, after in zip(moves.tolist(), words, strict=True):
            low, high = self.bounds.get(move, (0, 1))
            if low == high:
                found.append((self.game.moves[move], after.copy(), low))
        return found

    def _turn(self, budget: SearchBudget) -> int:
        """Return how many states to expand before the budget is looked at again; the same each time without a clock."""
        n = _MAX_NODES if budget.deadline is None else self._pace.n_steps
        left = n if budget.max_rounds is None else budget.max_rounds - self.n_nodes
        return max(1, min(n, left))


def load_proof_kernel() -> None:
    """Load the kernels of the search, compiled to the cache on disk the first time on a machine."""
    rules = tiny_rules()
    wins, path = np.zeros(rules.single.goal_value.shape[1], np.bool_), path_for(n_words(len(rules.fluents)))
    table, salt, result = rows(1), np.uint64(1), np.zeros(4, np.int64)
    descend(rules.single, wins, 0, room_for(rules.single), table, path, 0, salt, 1, result)


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

    def begin(self, deadline: Deadline) -> bool:
        """Look for what the first state is worth to each role, within the share of the start clock.

        Returns whether that is known.
        """
        n_solved = 0
        for role in self.search.game.roles:
            end = deadline.at_most(min(self.share * deadline.remaining_s, _START_S) / 2)
            if self.share:
                solution = self.search.solve(self.search.game.initial_state, role, SearchBudget(deadline=end))
                n_solved += solution is not None
        return n_solved == len(self.search.game.roles)

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
