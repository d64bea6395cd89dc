"""What a state is worth to a role, proven to the ends of the play: the Python side of the proof search."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.compiled import CompiledGame, CompiledState
from gdl.compiler.kernels.packing import n_words, words_of
from gdl.compiler.pipeline import MAX_GOAL
from gdl.compiler.warm_up import tiny_rules
from gdl.game import RANDOM, Role, State
from gdl.language.terms import Term
from players.deadline import SearchBudget
from players.search.expansion.room import MAX_PARTS, fitting_parts, room_for
from players.search.expansion.successors import TOO_WIDE
from players.search.expansion.table import table_of
from players.search.kernel_calls import Pace
from players.search.proof.descent import DECIDED, UNDECIDED, descend
from players.search.proof.paths import FIRST, N, paths_for

DEFAULT_TABLE_MB: Final = 64
_SEEN_NODES: Final = 4
"""So many states say what the table knows of the root; each question has as many first."""
_FIRST_NODES: Final = 500
_MAX_NODES: Final = 1_000_000
_SPREAD: Final = 0.07
"""An expected goal that is so far off, as a share of the range of goals, doubles the turns of a question."""
_MOST_TURNS: Final = 2.0
"""By how many doublings a question is asked for longer, at most."""
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
        table: the table of proofs.
        goals: the goals that the rules know for the role of the last call.
        bounds: between which goals each move, by number, is worth, as far as the last call found out.
    """

    def __init__(self, game: CompiledGame, table_mb: int = DEFAULT_TABLE_MB, max_paths: int = MAX_PARTS) -> None:
        self.game = game
        self.n_nodes = 0
        self.is_refused = False
        self.goals: list[int] = []
        self.bounds: dict[int, tuple[int, int]] = {}
        self._tables = game.rules.single
        self._n_words = n_words(len(game.fluents))
        self._room = room_for(self._tables)
        self._paths = paths_for(self._n_words)
        self._max_paths, self._n_paths = max_paths, 1
        self.table = table_of(table_mb)
        self._pace = Pace()

    def solve(self, state: State, role: Role, budget: SearchBudget, expected: float | None = None) -> Solution | None:
        """Return what *state* is worth to *role*, None where *budget* does not suffice to say.

        Its iterations are states that are expanded. What is *expected* of the state, a goal of *role*, says which
        questions to ask for longer. None, too, where roles move at the same time, where chance plays, and where a
        state cannot be reached or a play may be without an end.

        Raises:
            UnknownRoleError: the game has no such role.
        """
        self.n_nodes, self.is_refused, self.bounds = 0, False, {}
        if state.is_terminal:
            goal = state.goal(role)
            return None if goal is None else Solution(goal, None)
        here = self.game.compiled_state(state)
        if RANDOM in self.game.roles or here is None:
            return None
        moves = here.legal_moves(role)
        return self._value(here, self.game.roles.index(role), moves, budget, expected)

    def _value(
        self, state: CompiledState, role: int, moves: Sequence[Term], budget: SearchBudget, expected: float | None
    ) -> Solution | None:
        """Return the highest goal that can be reached for sure; every goal is at least the lowest.

        The goals in the middle of those in question take turns, each twice as long as the last.
        """
        self._begin(state, role)
        goals, turn = self.goals, _SEEN_NODES
        low, high, best = 0, len(goals) - 1, None
        while low < high:
            shares = self._shares((low + high + 1) // 2, (low + high) // 2 + 1, expected)
            for middle, share in shares.items():
                found = self._reaches(role, goals[middle], self._until(int(turn * share), budget))
                if found is not None:
                    break
                if self.is_refused or budget.is_spent(self.n_nodes):
                    return None
            if found is None:
                turn = max(_FIRST_NODES, 2 * turn)
            elif found[0]:
                low, best = middle, found[1]
            else:
                high = middle - 1
        move = None if best is None else self.game.moves[best]
        if len(moves) == 1 or move not in moves:
            move = moves[0] if moves and (low == 0 or len(moves) == 1) else None
        return Solution(goals[low], move)

    def _shares(self, lower: int, higher: int, expected: float | None) -> dict[int, float]:
        """Return the two goals in question, by number, and how many times a turn each is asked for.

        Where much is *expected*, whether the higher one can be reached says more, else whether the lower one can.
        """
        if lower == higher or expected is None:
            return dict.fromkeys((lower, higher), 1.0)
        spread = _SPREAD * (self.goals[-1] - self.goals[0])
        ahead = min(max((expected - self.goals[lower]) / spread, -_MOST_TURNS), _MOST_TURNS)
        return {lower: max(1.0, 2.0**-ahead), higher: max(1.0, 2.0**ahead)}

    def _begin(self, state: CompiledState, role: int) -> None:
        self.goals = sorted({goal for goal in self.game.rules.goals[role] if goal is not None})
        self.bounds = {}
        self._paths.words[0] = words_of(state.packed, len(self.game.fluents))
        self._n_paths = self._fitting_paths(role)

    def _fitting_paths(self, role: int) -> int:
        """Return on how many paths at once all replies to all moves of the root have a lane each."""
        nothing_wins, result = np.zeros(len(self.game.rules.goals[role]), np.bool_), np.zeros(4, np.int64)
        here = self._room, self.table, self._paths
        descend(self._tables, nothing_wins, 0, *here, role, np.uint64(0), 1, 1, result)
        n = int(self._room.n[0])
        widest = max(n, int(self._room.n_legal[: max(n, 0)].max(initial=1)))
        return min(fitting_parts(widest), self._max_paths)

    def _until(self, turn: int, budget: SearchBudget) -> SearchBudget:
        """Return *budget*, or what of it is for the next *turn* states."""
        end = self.n_nodes + turn
        return replace(budget, max_iterations=end if budget.max_iterations is None else min(end, budget.max_iterations))

    def _reaches(self, role: int, goal: int, budget: SearchBudget) -> tuple[bool, int] | None:
        """Return whether *role* can be sure of *goal* or more, and by which move; None where the budget ends."""
        values = self.game.rules.goals
        wins = np.array([value is not None and value >= goal for value in values[role]], np.bool_)
        first = sum(map(len, values[:role]))
        salt = np.uint64((_SALT * (1 + (MAX_GOAL + 1) * role + goal)) & _WORD)
        result = np.zeros(4, np.int64)
        while not budget.is_spent(self.n_nodes):
            n_nodes = self._turn(budget)
            here = self._room, self.table, self._paths
            self._pace.begin()
            found = descend(self._tables, wins, first, *here, role, salt, n_nodes, self._n_paths, result)
            self._pace.end(int(result[3]))
            self.n_nodes += int(result[3])
            if found == TOO_WIDE and self._n_paths > 1:
                self._n_paths //= 2
                continue
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

    def _moves(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint64]]:
        """Return the numbers of the moves at the root, which they are, and the words of what they lead to."""
        first, n = int(self._paths.node[0, FIRST]), int(self._paths.node[0, N])
        here = slice(first, first + n)
        return self._paths.child_number[here], self._paths.child_move[here], self._paths.child_words[here]

    def proven_moves(self) -> list[tuple[Term, NDArray[np.uint64], int]]:
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
        left = n if budget.max_iterations is None else budget.max_iterations - self.n_nodes
        return max(1, min(n, left))


def load_proof_kernel() -> None:
    """Load the kernels of the search, compiled to the cache on disk the first time on a machine."""
    rules = tiny_rules()
    wins, path = np.zeros(rules.single.goal_value.shape[1], np.bool_), paths_for(n_words(len(rules.fluents)))
    table, salt, result = table_of(0), np.uint64(1), np.zeros(4, np.int64)
    descend(rules.single, wins, 0, room_for(rules.single), table, path, 0, salt, 1, 1, result)
