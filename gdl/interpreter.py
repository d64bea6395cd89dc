"""The reference engine: the rules themselves, evaluated bottom-up in every state.

Every faster engine is proved equal to this one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from gdl.clauses import Clause, clauses_of
from gdl.errors import IllegalMoveError, JointMoveError, MalformedRuleError, TerminalStateError, UnknownRoleError
from gdl.game import JointMove, Role
from gdl.limits import DEFAULT_LIMITS, Budget, EvaluationLimits
from gdl.model import Model
from gdl.program import Layer, Program, Question
from gdl.relations import Key, Row, placed_term, unwrapped
from gdl.rules import Description
from gdl.safety import check_safety
from gdl.terms import Compound, Constant, Term, Variable

_RECENT_STATES: Final = 16
"""How many states keep their derived relations; a tree of many states keeps only facts."""

_ANY: Final = Variable("?any")


class InterpretedGame:
    """A game whose rules are interpreted; questions may come from several threads.

    Raises:
        UnsafeRuleError, StratificationError, MalformedRuleError: the rules have no meaning.
        LimitExceeded: a rule, or what never changes, is too large.
    """

    def __init__(self, description: Description, limits: EvaluationLimits = DEFAULT_LIMITS) -> None:
        clauses = clauses_of(description.rules)
        check_safety(clauses)
        self.description = description
        self.has_imperfect_information = description.is_gdl2
        self.lock = threading.RLock()
        self._limits = limits
        self._program = Program(clauses)
        self._static = Model(self._program, Layer.STATIC, None, Budget(limits))
        self.roles: tuple[Role, ...] = self._find_roles(clauses)
        self.terminal = self._program.question(Constant("terminal"))
        self.next = self._program.question(Compound("next", (_ANY,)))
        self.legal = self._question_per_role("legal")
        self.goal = self._question_per_role("goal")
        self.sees = self._question_per_role("sees")
        self.recent_model = lru_cache(maxsize=_RECENT_STATES)(self._state_model)
        init = self._program.question(Compound("init", (_ANY,)))
        self.initial_state = self.state(frozenset(term for _, term in _wrapped(self._static.rows(init))))

    def state(self, facts: frozenset[Term]) -> InterpretedState:
        """Return the state in which exactly *facts* are true; they need not be reachable."""
        return InterpretedState(self, facts)

    def model(self, facts: frozenset[Term]) -> Model:
        """Return the model of a state, with a fresh budget."""
        model = self.recent_model(facts)
        model.budget = self._static.budget = Budget(self._limits)
        return model

    def move_model(self, facts: frozenset[Term], moves: JointMove) -> Model:
        """Return the model of a state and a joint move, with a fresh budget."""
        below = self.model(facts)
        model = Model(self._program, Layer.MOVE, below, below.budget)
        for role, move in zip(self.roles, moves, strict=True):
            key, row = placed_term("does", (role,), move)
            model.add(key, (row,))
        return model

    def _state_model(self, facts: frozenset[Term]) -> Model:
        model = Model(self._program, Layer.STATE, self._static, Budget(self._limits))
        for fact in facts:
            key, row = placed_term("true", (), fact)
            model.add(key, (row,))
        return model

    def _question_per_role(self, name: str) -> dict[Role, Question]:
        return {role: self._program.question(Compound(name, (role, _ANY))) for role in self.roles}

    def _find_roles(self, clauses: Iterable[Clause]) -> tuple[Role, ...]:
        heads = (clause.head for clause in clauses if not clause.literals)
        listed = [head.arguments[0] for head in heads if isinstance(head, Compound) and head.functor == "role"]
        question = self._program.question(Compound("role", (_ANY,)))
        derived = {row[0] for _, rows in self._static.rows(question) for row in rows}.difference(listed)
        roles = [role for role in dict.fromkeys([*listed, *sorted(derived, key=str)]) if isinstance(role, Constant)]
        if not roles or len(roles) < len({*listed, *derived}):
            raise MalformedRuleError("roles are names, one or more", None, "add a fact such as (role white)")
        return tuple(roles)


class InterpretedState:
    """A state of an interpreted game: its facts, and the answers that were asked for before."""

    __slots__ = ("_game", "_goals", "_is_terminal", "_legal", "facts")

    def __init__(self, game: InterpretedGame, facts: frozenset[Term]) -> None:
        self._game = game
        self.facts = facts
        self._legal: dict[Role, tuple[Term, ...]] = {}
        self._goals: dict[Role, int | None] = {}
        self._is_terminal: bool | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, InterpretedState):
            return NotImplemented
        return self._game is other._game and self.facts == other.facts

    def __hash__(self) -> int:
        return hash(self.facts)

    def __repr__(self) -> str:
        return f"<InterpretedState {' '.join(sorted(map(str, self.facts)))[:200]}>"

    @property
    def is_terminal(self) -> bool:
        """Whether the play has ended."""
        if self._is_terminal is None:
            with self._game.lock:
                found = self._game.model(self.facts).rows(self._game.terminal)
                self._is_terminal = any(rows for _, rows in found)
        return self._is_terminal

    def legal_moves(self, role: Role) -> tuple[Term, ...]:
        """Return the legal moves of *role*, ordered by text."""
        moves = self._legal.get(role)
        if moves is None:
            question = self._question(self._game.legal, role)
            with self._game.lock:
                found = _wrapped(self._game.model(self.facts).rows(question))
                moves = tuple(sorted((move for lead, move in found if lead[0] is role), key=str))
            self._legal[role] = moves
        return moves

    def goal(self, role: Role) -> int | None:
        """Return the goal value of *role*, or None where there is not exactly one (or it is no number)."""
        if role not in self._goals:
            question = self._question(self._game.goal, role)
            with self._game.lock:
                found = self._game.model(self.facts).rows(question)
                values = {str(row[1]) for _, rows in found for row in rows if row[0] is role}
            self._goals[role] = _only_number(values)
        return self._goals[role]

    def next_state(self, moves: JointMove) -> InterpretedState:
        """Return the state after the joint move *moves*."""
        self._check(moves)
        with self._game.lock:
            model = self._game.move_model(self.facts, moves)
            facts = frozenset(term for _, term in _wrapped(model.rows(self._game.next)))
        return InterpretedState(self._game, facts)

    def percepts(self, role: Role, moves: JointMove) -> tuple[Term, ...]:
        """Return what *role* perceives of the joint move *moves* made in this state, ordered by text."""
        question = self._question(self._game.sees, role)
        self._check(moves)
        if not self._game.has_imperfect_information:
            return tuple(moves)
        with self._game.lock:
            found = self._game.move_model(self.facts, moves).rows(question)
            return tuple(sorted((row[1] for _, rows in found for row in rows if row[0] is role), key=str))

    def _question(self, questions: dict[Role, Question], role: Role) -> Question:
        found = questions.get(role)
        if found is None:
            raise UnknownRoleError(str(role), [str(known) for known in self._game.roles])
        return found

    def _check(self, moves: JointMove) -> None:
        if len(moves) != len(self._game.roles):
            raise JointMoveError(len(moves), len(self._game.roles))
        if self.is_terminal:
            raise TerminalStateError
        for role, move in zip(self._game.roles, moves, strict=True):
            if move not in self.legal_moves(role):
                raise IllegalMoveError(str(role), str(move))


def _wrapped(relations: Iterable[tuple[Key, set[Row]]]) -> Iterator[tuple[Row, Term]]:
    return (unwrapped(key, row) for key, rows in relations for row in rows)


def _only_number(values: set[str]) -> int | None:
    if len(values) != 1:
        return None
    (text,) = values
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None
