"""The reference engine: the rules themselves, evaluated bottom-up in every state.

Every faster engine is proved equal to this one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from gdl.datalog.clauses import Clause
from gdl.datalog.reasoner import Answers, Reasoner
from gdl.datalog.relations import unwrapped
from gdl.datalog.translation import check_safety, clauses_of
from gdl.display import DisplayedGame, DisplayedState
from gdl.errors import MalformedRuleError, TerminalStateError
from gdl.game import (
    DEFAULT_LIMITS,
    MAX_STEPS,
    EvaluationLimits,
    JointMove,
    Playouts,
    Role,
    SharedGame,
    SharedState,
    State,
    check_joint_move,
    check_state,
    facts_of,
    interpreted_playouts,
    no_such_move,
    no_such_role,
)
from gdl.language.rules import Description
from gdl.language.terms import Compound, Constant, Term, Variable
from gdl.quantities import whole_number

_ANY: Final = Variable("?any")
_TERMINAL: Final = Constant("terminal")
_NEXT: Final = Compound("next", (_ANY,))
ROLE_HINT: Final = "write a fact such as (role white)"
READ_HINT: Final = "is this a path or a name? gdl.read_file(path) and gdl.find_game(name).read() read the rules of one"


class InterpretedGame(DisplayedGame, SharedGame):
    """A game whose rules are interpreted; questions may come from several threads.

    Raises:
        UnsafeRuleError, StratificationError, MalformedRuleError: the rules have no meaning.
        LimitExceeded: a rule, or what never changes, is too large.
    """

    engine = "interpreter"

    def __init__(self, description: Description, limits: EvaluationLimits = DEFAULT_LIMITS) -> None:
        clauses = clauses_of(description.rules)
        check_safety(clauses)
        self.description = description
        self.has_imperfect_information = description.is_gdl2
        self.reasoner = Reasoner(clauses, limits)
        self.roles: tuple[Role, ...] = self._find_roles(clauses)
        init = self.reasoner.answers(Compound("init", (_ANY,)))
        self.initial_state = self.state(frozenset(unwrapped(key, row)[1] for key, row in init))

    def state(self, facts: Iterable[Term]) -> InterpretedState:
        """Return the state in which exactly *facts* are true; they need not be reachable."""
        return InterpretedState(self, facts_of(facts))

    def playouts(self, state: State, n: int, seed: int, max_steps: int = MAX_STEPS) -> Playouts:
        """Return what *n* random plays from *state* come to.

        Raises: as `Game.playouts`.
        """
        check_state(state, self)
        return interpreted_playouts(state, self.roles, n, seed, max_steps)

    def _find_roles(self, clauses: Sequence[Clause]) -> tuple[Role, ...]:
        heads = (clause.head for clause in clauses if not clause.literals)
        listed = [head.arguments[0] for head in heads if isinstance(head, Compound) and head.functor == "role"]
        derived = {row[0] for _, row in self.reasoner.answers(Compound("role", (_ANY,)))}.difference(listed)
        found = tuple(dict.fromkeys([*listed, *sorted(derived, key=str)]))
        roles = tuple(role for role in found if isinstance(role, Constant))
        if not roles or roles != found:
            what = "a role must be a name" if found else "no role is declared"
            message = f"{self.description.source.name}: {what}"
            # rules have a parenthesis, which a name or a path that was taken for them hardly has
            is_rules = not clauses or "(" in self.description.source.text
            raise MalformedRuleError(message, None, ROLE_HINT if is_rules else READ_HINT)
        return roles


class InterpretedState(DisplayedState, SharedState):
    """A state of an interpreted game: its facts, and the answers that were asked for before."""

    __slots__ = ("_facts", "_game", "_goals", "_is_terminal", "_legal")

    def __init__(self, game: InterpretedGame, facts: frozenset[Term]) -> None:
        self._game = game
        self._facts = facts
        self._legal: dict[Role, tuple[Term, ...]] = {}
        self._goals: dict[Role, int | None] = {}
        self._is_terminal: bool | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, InterpretedState):
            return NotImplemented
        return self._game is other._game and self._facts == other._facts

    def __hash__(self) -> int:
        return hash(self._facts)

    def __repr__(self) -> str:
        return f"<InterpretedState {' '.join(sorted(map(str, self._facts)))[:200]}>"

    @property
    def description(self) -> Description:
        """The rules of the game that the state is one of."""
        return self._game.description

    @property
    def facts(self) -> frozenset[Term]:
        """The fluents that are true, without `true` around them."""
        return self._facts

    @property
    def is_terminal(self) -> bool:
        """Whether the play has ended."""
        if self._is_terminal is None:
            self._is_terminal = bool(self._ask(_TERMINAL))
        return self._is_terminal

    def legal_moves(self, role: Role) -> tuple[Term, ...]:
        """Return the legal moves of *role*, ordered by text."""
        moves = self._legal.get(role)
        if moves is None:
            found = (unwrapped(key, row)[1] for key, row in self._ask_of(role, "legal"))
            moves = self._legal[role] = tuple(sorted(found, key=str))
        return moves

    def goal(self, role: Role) -> int | None:
        """Return the goal value of *role*, or None where there is not exactly one (or it is no number)."""
        if role not in self._goals:
            self._goals[role] = _only_number({str(row[1]) for _, row in self._ask_of(role, "goal")})
        return self._goals[role]

    def next_state(self, moves: JointMove) -> State:
        """Return the state after the joint move *moves*."""
        self._check(moves)
        found = self._ask(_NEXT, moves)
        return InterpretedState(self._game, frozenset(unwrapped(key, row)[1] for key, row in found))

    def percepts(self, role: Role, moves: JointMove) -> tuple[Term, ...]:
        """Return what *role* perceives of the joint move *moves* made in this state, ordered by text."""
        self._check_role(role)
        self._check(moves)
        if not self._game.has_imperfect_information:
            return tuple(moves)
        return tuple(sorted((row[1] for _, row in self._ask_of(role, "sees", moves)), key=str))

    def _ask(self, atom: Constant | Compound, moves: JointMove = ()) -> Answers:
        does = zip(self._game.roles, moves, strict=True) if moves else ()
        return self._game.reasoner.answers(atom, self._facts, tuple(does))

    def _ask_of(self, role: Role, relation: str, moves: JointMove = ()) -> Answers:
        self._check_role(role)
        found = self._ask(Compound(relation, (role, _ANY)), moves)
        return [(key, row) for key, row in found if row[0] is role]

    def _check_role(self, role: Role) -> None:
        if role not in self._game.roles:
            raise no_such_role(role, self._game.roles)

    def _check(self, moves: JointMove) -> None:
        check_joint_move(moves, len(self._game.roles))
        if self.is_terminal:
            raise TerminalStateError
        for role, move in zip(self._game.roles, moves, strict=True):
            if move not in self.legal_moves(role):
                raise no_such_move(role, move)


def _only_number(values: set[str]) -> int | None:
    if len(values) != 1:
        return None
    (text,) = values
    return whole_number(text)
