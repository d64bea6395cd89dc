"""The compiled engine: a game whose rules are a circuit.

States answer the same questions as the interpreter's; `playouts` plays many random plays at once.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gdl.clauses import clauses_of
from gdl.compiler import scalar
from gdl.compiler.circuit import Circuit, build
from gdl.compiler.decomposition import decompose
from gdl.compiler.grounding import ground
from gdl.compiler.phases import Phase, phases, plain, whole
from gdl.compiler.tables import Tables, tables
from gdl.errors import IllegalMoveError, JointMoveError, TerminalStateError, UnknownRoleError
from gdl.game import JointMove, Role, State
from gdl.interpreter import InterpretedGame
from gdl.limits import DEFAULT_LIMITS, EvaluationLimits
from gdl.rules import Description
from gdl.terms import Term

Bits: TypeAlias = NDArray[np.uint8]

_MAX_STEPS: Final = 1_000_000
_NO_MOVE: Final = 1


class CompiledGame:
    """A game run by its circuit; the interpreter stands behind it for states that its rules cannot reach."""

    def __init__(self, description: Description, limits: EvaluationLimits = DEFAULT_LIMITS) -> None:
        self._interpreted = InterpretedGame(description, limits)
        self.description = description
        self.has_imperfect_information = description.is_gdl2
        self.roles: tuple[Role, ...] = self._interpreted.roles
        self.circuit: Circuit = build(ground(decompose(clauses_of(description.rules))), self.roles)
        self.tables: Tables = tables(self.circuit, (plain(self.circuit),))
        self.fluent_number = {fluent: i for i, fluent in enumerate(self.circuit.fluents)}
        self.move_number = [{self.circuit.moves[i]: i for i in numbers} for numbers in self.circuit.moves_of]
        self.initial_state: State = self.state(self._interpreted.initial_state.facts)

    def state(self, facts: frozenset[Term]) -> State:
        """Return the state in which exactly *facts* are true; they need not be reachable."""
        bits = np.zeros(len(self.circuit.fluents), np.uint8)
        for fact in facts:
            number = self.fluent_number.get(fact)
            if number is None:
                return self._interpreted.state(facts)
            bits[number] = 1
        return CompiledState(self, bits)

    @cached_property
    def lane_tables(self) -> tuple[tuple[Phase, ...], Tables]:
        """The phases of plays from the first state, and the tables for them."""
        found = phases(self.circuit)
        return found, tables(self.circuit, found)

    @cached_property
    def whole_tables(self) -> tuple[tuple[Phase, ...], Tables]:
        """The tables for plays from any state."""
        found = whole(self.circuit)
        return found, tables(self.circuit, found)


class CompiledState:
    """A state as one byte per fluent, 0 or 1."""

    __slots__ = ("_facts", "_game", "_seen", "bits", "packed")

    def __init__(self, game: CompiledGame, bits: Bits) -> None:
        self._game = game
        self.bits = bits
        self.packed = np.packbits(bits).tobytes()
        self._facts: frozenset[Term] | None = None
        self._seen: tuple[Bits, Bits, bool] | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CompiledState):
            return NotImplemented
        return self._game is other._game and self.packed == other.packed

    def __hash__(self) -> int:
        return hash(self.packed)

    def __repr__(self) -> str:
        return f"<CompiledState {' '.join(sorted(map(str, self.facts)))[:200]}>"

    @property
    def facts(self) -> frozenset[Term]:
        """The fluents that are true, without `true` around them."""
        if self._facts is None:
            fluents = self._game.circuit.fluents
            self._facts = frozenset(fluents[i] for i in np.flatnonzero(self.bits))
        return self._facts

    def _look(self) -> tuple[Bits, Bits, bool]:
        """Return the rows of the state, the legal moves' mask, and whether it is terminal."""
        if self._seen is None:
            self._seen = scalar.look(self._game.tables, self.bits)
        return self._seen

    @property
    def is_terminal(self) -> bool:
        """Whether the play has ended."""
        return bool(self._look()[2])

    def legal_moves(self, role: Role) -> tuple[Term, ...]:
        """Return the legal moves of *role*, ordered by text."""
        numbers = self._game.circuit.moves_of[self._number(role)]
        legal = self._look()[1]
        moves = self._game.circuit.moves
        return tuple(moves[numbers.start + i] for i in np.flatnonzero(legal[numbers.start : numbers.stop]))

    def goal(self, role: Role) -> int | None:
        """Return the goal value of *role*, or None where there is not exactly one (or it is no number)."""
        number = self._number(role)
        holds = iter(scalar.goals(self._game.tables, self._look()[0]))
        found = [{text for text, _ in goals if next(holds)} for goals in self._game.circuit.goals][number]
        if len(found) != 1:
            return None
        (text,) = found
        return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None

    def next_state(self, moves: JointMove) -> State:
        """Return the state after the joint move *moves*."""
        bits, _ = scalar.step(self._game.tables, self._look()[0], self._check(moves))
        return CompiledState(self._game, bits)

    def percepts(self, role: Role, moves: JointMove) -> tuple[Term, ...]:
        """Return what *role* perceives of the joint move *moves* made in this state, ordered by text."""
        number = self._number(role)
        numbers = self._check(moves)
        if not self._game.has_imperfect_information:
            return tuple(moves)
        _, seen = scalar.step(self._game.tables, self._look()[0], numbers)
        holds = iter(seen)
        found = [[percept for percept, _ in sees if next(holds)] for sees in self._game.circuit.sees][number]
        return tuple(sorted(set(found), key=str))

    def _number(self, role: Role) -> int:
        try:
            return self._game.roles.index(role)
        except ValueError:
            raise UnknownRoleError(str(role), [str(known) for known in self._game.roles]) from None

    def _check(self, moves: JointMove) -> NDArray[np.int64]:
        """Return the numbers of *moves*, which must be legal here."""
        if len(moves) != len(self._game.roles):
            raise JointMoveError(len(moves), len(self._game.roles))
        if self.is_terminal:
            raise TerminalStateError
        legal = self._look()[1]
        numbers = []
        for role, known, move in zip(self._game.roles, self._game.move_number, moves, strict=True):
            number = known.get(move)
            if number is None or not legal[number]:
                raise IllegalMoveError(str(role), str(move))
            numbers.append(number)
        return np.array(numbers, np.int64)
