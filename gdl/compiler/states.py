"""States of a compiled game, which answer as the interpreter's do."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gdl.errors import IllegalMoveError, JointMoveError, TerminalStateError, UnknownRoleError
from gdl.game import JointMove, Role, State
from gdl.interpreter import InterpretedState
from gdl.terms import Term

if TYPE_CHECKING:
    from gdl.compiler.compiled import CompiledGame

Numbers: TypeAlias = NDArray[np.int32]


class CompiledState:
    """A state of a compiled game; `packed` are its bytes."""

    __slots__ = ("_facts", "_game", "_seen", "packed")

    def __init__(self, game: CompiledGame, packed: bytes) -> None:
        self._game, self.packed = game, packed
        self._facts: frozenset[Term] | None = None
        self._seen: tuple[Numbers, bool] | None = None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, CompiledState) and self._game is other._game:
            return self.packed == other.packed
        if isinstance(other, InterpretedState):
            return other == InterpretedState(self._game.interpreted, self.facts)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.facts)

    def __repr__(self) -> str:
        return f"<CompiledState {' '.join(sorted(map(str, self.facts)))[:200]}>"

    @property
    def facts(self) -> frozenset[Term]:
        """The fluents that are true, without `true` around them."""
        if self._facts is None:
            bits = np.unpackbits(np.frombuffer(self.packed, np.uint8))
            self._facts = frozenset(map(self._game.fluents.__getitem__, np.flatnonzero(bits).tolist()))
        return self._facts

    def _look(self) -> tuple[Numbers, bool]:
        if self._seen is None:
            self._seen = self._game.look(self.packed)
        return self._seen

    @property
    def is_terminal(self) -> bool:
        """Whether the play has ended."""
        return self._look()[1]

    def legal_moves(self, role: Role) -> tuple[Term, ...]:
        """Return the legal moves of *role*, ordered by text."""
        numbers = self._game.moves_of[self._number(role)]
        legal = self._look()[0]
        first, last = np.searchsorted(legal, (numbers.start, numbers.stop))
        return tuple(map(self._game.moves.__getitem__, legal[first:last].tolist()))

    def goal(self, role: Role) -> int | None:
        """Return the goal value of *role*, or None where there is not exactly one (or it is no number)."""
        return self._game.goals_of(self.packed)[self._number(role)]

    def next_state(self, moves: JointMove) -> State:
        """Return the state after the joint move *moves*."""
        return CompiledState(self._game, self._game.step(self.packed, self._check(moves)))

    def percepts(self, role: Role, moves: JointMove) -> tuple[Term, ...]:
        """Return what *role* perceives of the joint move *moves* made in this state, ordered by text."""
        number = self._number(role)
        numbers = self._check(moves)
        if not self._game.has_imperfect_information:
            return tuple(moves)
        return self._game.sees_of(self.packed, numbers)[number]

    def _number(self, role: Role) -> int:
        try:
            return self._game.roles.index(role)
        except ValueError:
            raise UnknownRoleError(str(role), [str(known) for known in self._game.roles]) from None

    def _check(self, moves: JointMove) -> list[int]:
        """Return the numbers of *moves*, which must be legal here."""
        if len(moves) != len(self._game.roles):
            raise JointMoveError(len(moves), len(self._game.roles))
        legal, is_terminal = self._look()
        if is_terminal:
            raise TerminalStateError
        numbers = []
        for role, known, move in zip(self._game.roles, self._game.move_number, moves, strict=True):
            number = known.get(move)
            if number is None or number not in legal:
                raise IllegalMoveError(str(role), str(move))
            numbers.append(number)
        return numbers


class UnreachableState(InterpretedState):
    """A state with facts that the circuit does not know, which no play reaches; plays may come back from it."""

    __slots__ = ("_compiled",)

    def __init__(self, game: CompiledGame, facts: frozenset[Term]) -> None:
        super().__init__(game.interpreted, facts)
        self._compiled = game

    def next_state(self, moves: JointMove) -> State:
        """Return the state after the joint move *moves*."""
        return self._compiled.state(super().next_state(moves).facts)
