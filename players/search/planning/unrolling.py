"""The states of a game of one role after 0, 1, 2, ... moves, as a logic program: its circuit, step by step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, TypeAlias

import clingo
import numpy as np

from gdl.compiler.compiled import CompiledGame
from gdl.compiler.tables import Tables
from players.search.planning.circuits import Moves, best_goal_of

Literal: TypeAlias = int
"""An atom of the program, negative where it is negated; TRUE or FALSE where it has no choice."""

TRUE: Final = 1 << 30
FALSE: Final = -TRUE

MAX_RULES: Final = 500_000
"""How large the program may become: some hundred bytes a rule."""
MAX_HORIZON: Final = 512


class _Kind(Enum):
    """What a rule says: an atom follows, may be chosen; the literals cannot all hold, nor two of them."""

    FOLLOWS = auto()
    MAY = auto()
    NOT_ALL = auto()
    NOT_TWO = auto()


@dataclass(frozen=True, slots=True)
class ClingoRule:
    """A rule of the program, whose head, if it has one, is the next atom."""

    kind: _Kind
    body: tuple[Literal, ...]

    def add_to(self, backend: clingo.Backend) -> None:
        """Add the rule to what clingo is given."""
        match self.kind:
            case _Kind.FOLLOWS | _Kind.MAY:
                backend.add_rule([backend.add_atom()], self.body, choice=self.kind is _Kind.MAY)
            case _Kind.NOT_ALL:
                backend.add_rule([], self.body)
            case _Kind.NOT_TWO:
                backend.add_weight_rule([], 2, [(literal, 1) for literal in self.body])


class Unrolling:
    """The states after 0, 1, 2, ... moves as atoms of a program.

    Attributes:
        rules: the program so far; each rule with a head defines the next atom.
        n_steps: how many moves are unrolled.
        does: for each step the atoms of its moves, FALSE for those that cannot be made then.
        ends: for each number of moves the literal that says that the best goal is reached just then.
    """

    def __init__(self, game: CompiledGame, packed: bytes) -> None:
        self._tables: Tables = game.rules.single
        self._gates = _gates(self._tables)
        values = self._tables.goal_value[0].tolist()
        best = best_goal_of(game)
        self._goals = [(value, goal == best) for value, goal in zip(values, game.rules.goals[0], strict=True)]
        self._fluents = _initial(game, packed)
        self._alive: Literal = TRUE
        self._legal = self._tables.choice_legal.tolist()
        self._copies = list(zip(self._tables.copy_row.tolist(), self._tables.copy_value.tolist(), strict=True))
        self.rules: list[ClingoRule] = []
        self._n_rules_after: list[int] = []
        self._n_atoms = 0
        self.n_steps = 0
        self.does: list[list[Literal]] = []
        self.ends: list[Literal] = []
        self._look()
        self._first_rows = self._rows

    @property
    def can_end(self) -> bool:
        """Whether the goal may be reached within what is unrolled."""
        return any(end != FALSE for end in self.ends)

    @property
    def is_complete(self) -> bool:
        """Whether no play goes on after what is unrolled."""
        return FALSE in {self._alive, -self._terminal}

    def is_long_enough(self, horizon: int) -> bool:
        """Return whether *horizon* moves are unrolled with a chance to reach the goal, or no more can be."""
        if self.is_complete or len(self.rules) > MAX_RULES or self.n_steps >= MAX_HORIZON:
            return True
        return self.n_steps >= horizon and self.can_end

    def first_value(self, literal: int) -> Literal:
        """Return the value of a literal of the tables in the first state."""
        value = self._first_rows[literal >> 1]
        return -value if literal & 1 else value

    def rules_for(self, horizon: int) -> list[ClingoRule]:
        """Return the rules of a program that has a solution if the goal can be reached by at most *horizon* moves."""
        ends = [end for end in self.ends[: horizon + 1] if end != FALSE]
        rules = self.rules[: self._n_rules_after[horizon]]
        return rules if TRUE in ends else [*rules, ClingoRule(_Kind.NOT_ALL, tuple(-end for end in ends))]

    def moves_of(self, model: clingo.Model) -> Moves:
        """Return the moves that *model* chooses."""
        chosen = (
            [move for move, atom in enumerate(does) if atom != FALSE and model.is_true(atom)] for does in self.does
        )
        return tuple(moves[0] for moves in chosen if moves)

    def extend(self) -> None:
        """Unroll one more move."""
        self._move()
        self._look()
        self.n_steps += 1

    def _look(self) -> None:
        """Say what follows of the fluents as they are after the last move."""
        tables = self._tables
        self._rows: list[Literal] = [FALSE] * tables.n_rows
        self._rows[0] = TRUE
        self._rows[1 : 1 + tables.n_fluents] = self._fluents
        self._memo: dict[tuple[Literal, ...], Literal] = {}
        self._evaluate(0)
        self._terminal = self._of(int(tables.terminal[0]))
        self._evaluate(2)
        end = self._conjunction((self._alive, self._terminal))
        if end != FALSE:
            end = self._conjunction((end, *(self._of(value ^ (not wanted)) for value, wanted in self._goals)))
        self.ends.append(end)
        self._n_rules_after.append(len(self.rules))

    def _move(self) -> None:
        """Choose one of the legal moves, unless the play has ended."""
        self._alive = self._conjunction((self._alive, -self._terminal))
        first = 1 + self._tables.n_fluents
        does = [self._choice(self._of(legal)) for legal in self._legal]
        chosen = [literal for literal in does if literal != FALSE]
        if self._alive != FALSE:
            body = () if self._alive == TRUE else (self._alive,)
            self.rules.append(ClingoRule(_Kind.NOT_ALL, (*body, *(-literal for literal in chosen))))
            self.rules.append(ClingoRule(_Kind.NOT_TWO, tuple(chosen)))
        self.does.append(does)
        self._rows[first : first + len(does)] = does
        self._evaluate(1)
        for row, value in self._copies:
            self._fluents[row - 1] = self._of(value)

    def _choice(self, legal: Literal) -> Literal:
        """Return an atom that may be chosen where *legal* holds and the play goes on."""
        if FALSE in {legal, self._alive}:
            return FALSE
        return self._atom(_Kind.MAY, tuple(x for x in (legal, self._alive) if x != TRUE))

    def _atom(self, kind: _Kind, body: tuple[Literal, ...]) -> Literal:
        self._n_atoms += 1
        self.rules.append(ClingoRule(kind, body))
        return self._n_atoms

    def _evaluate(self, part: int) -> None:
        for row, inputs in self._gates[part]:
            self._rows[row] = self._conjunction(map(self._of, inputs))

    def _of(self, literal: int) -> Literal:
        value = self._rows[literal >> 1]
        return -value if literal & 1 else value

    def _conjunction(self, literals: Iterable[Literal]) -> Literal:
        body = set(literals)
        body.discard(TRUE)
        if FALSE in body:
            return FALSE
        if len(body) < 2:
            return body.pop() if body else TRUE
        if any(-x in body for x in body):
            return FALSE
        key = tuple(sorted(body))
        atom = self._memo.get(key)
        if atom is None:
            atom = self._memo[key] = self._atom(_Kind.FOLLOWS, key)
        return atom


def _gates(tables: Tables) -> list[list[tuple[int, list[int]]]]:
    """Return for each part of a step its gates in order: the row of each, and its literals."""
    parts = []
    for part in range(3):
        gates = []
        for begin, end, _, _ in tables.segments[tables.parts[0, part] : tables.parts[0, part + 1]].tolist():
            for gate in range(begin, end):
                start, stop = tables.gate_start[gate : gate + 2].tolist()
                middle = int(tables.gate_middle[gate])
                plain, complemented = tables.gate_input[start:middle], tables.gate_input[middle:stop]
                gates.append((int(tables.gate_row[gate]), [*(2 * plain).tolist(), *(2 * complemented + 1).tolist()]))
        parts.append(gates)
    return parts


def _initial(game: CompiledGame, packed: bytes) -> list[Literal]:
    bits = np.unpackbits(np.frombuffer(packed, np.uint8), count=len(game.fluents))
    return [TRUE if bit else FALSE for bit in bits.tolist()]
