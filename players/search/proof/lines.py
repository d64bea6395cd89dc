"""Proofs for a move, beside the tree: of its state, or, where the end is too far, of what seems to follow it.

A proof of a state some steps ahead takes a fraction of one of the state at hand, its table lasts, and the tree goes on
by what it finds: so proofs come up from the end on the line that both sides seem to take.
"""

from collections.abc import Callable, Sequence
from math import inf
from typing import Final, TypeAlias

from gdl.game import Role, State
from players.deadline import Deadline, SearchBudget
from players.search.proof.prover import MOST_SHARE, BackgroundProof, ProofFinding, Prover
from players.search.tree.search import CompiledSearch

GoOn: TypeAlias = Callable[[SearchBudget], object]
"""Lets the tree search on from the state at hand."""

_GLANCE_SHARE: Final = 1 / 32
_GLANCE_S: Final = 0.2
"""How much of a move's time the tree searches before proofs, and the most of it."""
_BETWEEN: Final = 1 / 8
"""How much of that it searches between two proofs, to see what the first one changes."""
_MOST_A_STEP: Final = 2.0
"""By how much the effort of a proof falls with a step, on the scale of logarithms, at most: with some fifty moves."""


class LineProofs:
    """What *prover* finds out for *role*, which is to choose at *state* sooner or later, as *search* sees the match."""

    def __init__(self, search: CompiledSearch, prover: Prover, state: State, role: Role) -> None:
        self._search, self._prover, self._state, self._role = search, prover, state, role

    def prove(self, deadline: Deadline, go_on: GoOn, n_threads: int = 1, *, was_proven: bool = False) -> ProofFinding:
        """Return what the proofs' share of the time until *deadline* tells of the state.

        What they find of states that may follow the tree takes over. With several threads the others *go on* meanwhile.
        What the state is worth *was proven* where a proof of it is only to find the move again.
        """
        share = MOST_SHARE if was_proven else self._prover.share_for(self._state, deadline.remaining_s)
        share *= n_threads
        end = deadline.at_most(min(share, 1.0) * deadline.remaining_s)
        while not (end.has_passed or self._search.has_solved(self._state)):
            target = self._state if was_proven else self.targets(MOST_SHARE * deadline.remaining_s)[0]
            found = self._attempt(target, end, go_on, n_threads)
            if target is self._state or not found.is_solved:
                self._prover.learn_from(found)
            if target is self._state:
                return found
            self._search.take_proofs(found.proven_states if found.solved is None else (found.solved,))
            go_on(SearchBudget(deadline=end.at_most(_BETWEEN * glance_of(deadline))))
        return ProofFinding()

    def targets(self, seconds: float) -> list[State]:
        """Return the first state on the best line of which a proof seems to fit into *seconds*, and those before it.

        The last one is the state at hand. Where the first one that would fit is proven already the list begins with the
        one before it, and where none is near the state at hand is all.
        """
        before, n_far = list[State](), 0
        for following in self._search.line(self._state):
            if before and self._search.has_solved(following):
                return before
            before.insert(0, following)
            n_far -= 1
            if n_far <= 0:
                excess = self._prover.log_excess(following, seconds)
                if excess <= 0:
                    return before
                if excess == inf:
                    break
                n_far = int(excess / _MOST_A_STEP)
        return [self._state]

    def in_background(self, states: Sequence[State], end: Deadline) -> BackgroundProof:
        """Begin to look for what *states* are worth, one after the other, until *end*."""
        return BackgroundProof(self._prover, [(state, self._expected(state)) for state in states], self._role, end)

    def _expected(self, state: State) -> float | None:
        """Return the goal that the tree gives reason to expect of a *state*."""
        roles = self._search.game.roles
        chooser = next((role for role in roles if len(state.legal_moves(role)) > 1), self._role)
        value = self._search.insight(state, chooser).value
        return value if value is None or chooser == self._role else self._prover.total - value

    def _attempt(self, target: State, end: Deadline, go_on: GoOn, n_threads: int) -> ProofFinding:
        """Return what is proven of a *target* until *end*, while other threads, if there are any, search on."""
        if n_threads == 1:
            return self._prover.prove(target, self._role, SearchBudget(deadline=end), self._expected(target))
        proof = self.in_background([target], end)
        self._search.n_used -= 1
        go_on(SearchBudget(deadline=end, is_wanted=lambda: not proof.has_ended))
        self._search.n_used += 1
        return proof.stop()


def glance_of(deadline: Deadline) -> float:
    """Return how long the tree searches before proofs, to say what they can expect, and for what they leave open."""
    return min(_GLANCE_SHARE * deadline.remaining_s, _GLANCE_S)
