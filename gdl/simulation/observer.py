"""What a simulation asks of the engine in a state and a joint move, and what it may cost.

It asks for legal moves, goals and percepts, and which rules derive what.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, ParamSpec, TypeAlias, TypeVar

from gdl.datalog.clauses import Clause
from gdl.datalog.reasoner import Reasoner
from gdl.datalog.translation import clauses_of
from gdl.diagnostics import Source, Span
from gdl.errors import LimitExceeded
from gdl.game import DEFAULT_LIMITS, RANDOM, EvaluationLimits, Game, JointMove, Role, State
from gdl.language.kif import read_forms
from gdl.language.rules import Description
from gdl.language.syntax import Rule
from gdl.language.terms import Compound, Constant, Term, Variable, can_meet, signature
from gdl.simulation.figures import Defect, Defects, Figures, Path

Clock: TypeAlias = Callable[[], float]
Answer = TypeVar("Answer")
Arguments = ParamSpec("Arguments")
Does: TypeAlias = Sequence[tuple[Role, Term]]
"""Roles with their moves: a joint move, or nothing where none is made."""
_RELATIONS: Final = frozenset(
    {("base", 1), ("goal", 2), ("init", 1), ("input", 2), ("legal", 2), ("next", 1), ("sees", 2), ("terminal", 0)}
)
_MARK: Final = " by rule"
"""Ends the names of the relations that tell rules apart: no token holds a blank, so no rule has such a name."""


@dataclass(frozen=True, slots=True)
class SimulationBudget:
    """What a simulation may cost.

    Attributes:
        plays: how many random plays are made.
        seconds: the time for everything; half of it at most goes to the plays before the search.
        states: how many states the exhaustive search looks at before it gives up; 0 leaves it out.
        steps: how many joint moves a play may have before it counts as one that does not end.
        limits: what a single question to the engine may cost; never more time than `seconds`.
    """

    plays: int = 100
    seconds: float = 10.0
    states: int = 10_000
    steps: int = 5_000
    limits: EvaluationLimits = DEFAULT_LIMITS

    @property
    def limits_in_time(self) -> EvaluationLimits:
        """The limits of a single question, its time included."""
        own = self.limits.max_seconds
        return replace(self.limits, max_seconds=self.seconds if own is None else min(own, self.seconds))


DEFAULT_BUDGET: Final = SimulationBudget()


class TimeLimit:
    """A moment on a clock."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._end_s = clock() + seconds

    @property
    def left_s(self) -> float:
        """How many seconds are left; 0 at the end."""
        return max(0.0, self._end_s - self._clock())

    @property
    def is_over(self) -> bool:
        """Whether the moment has come."""
        return self._clock() >= self._end_s

    def half(self) -> TimeLimit:
        """Return the moment when half of what is left now will have passed."""
        return TimeLimit(self._clock, self.left_s / 2)


class LimitInPlay(LimitExceeded):
    """The engine reached a limit in deriving `relation`, after the joint moves of `play`."""

    def __init__(self, relation: str, cause: LimitExceeded, play: tuple[JointMove, ...] = ()) -> None:
        super().__init__(cause.what, cause.limit)
        self.relation, self.cause, self.play = relation, cause, play

    def after(self, play: tuple[JointMove, ...]) -> LimitInPlay:
        """Return the same with the joint moves that led to it."""
        return LimitInPlay(self.relation, self.cause, play)


class OutOfTime(Exception):  # noqa: N818 -- no error: what was found until then counts
    """The time for this part of a simulation is over."""


def ask(
    deadline: TimeLimit,
    relation: str,
    question: Callable[Arguments, Answer],
    *args: Arguments.args,
    **kw: Arguments.kwargs,
) -> Answer:
    """Return the answer to *question*, asked with these arguments; it is about *relation*.

    Raises:
        OutOfTime: *deadline* is over, so it is not asked any more.
        LimitInPlay: the answer costs more than the engine's limits allow.
    """
    if deadline.is_over:
        raise OutOfTime
    try:
        return question(*args, **kw)
    except LimitExceeded as error:
        raise LimitInPlay(relation, error) from error


@dataclass(frozen=True, slots=True)
class Derived:
    """The arguments of an atom that holds, and a rule that derives it."""

    rule: Rule
    arguments: tuple[Term, ...]


class Derivations:
    """Answers with their rules, by an evaluation of its own that starts with the first question.

    Raises:
        LimitExceeded: from every question that costs more than the limits allow.
    """

    def __init__(self, description: Description, limits: EvaluationLimits = DEFAULT_LIMITS) -> None:
        self.description = description
        self._limits = limits

    @cached_property
    def _reasoner(self) -> Reasoner:
        plain = clauses_of(self.description.rules)
        return Reasoner((*plain, *self._marked()), self._limits)

    def _marked(self) -> Iterator[Clause]:
        """Yield each clause of interest once more, with the number of its rule in the head."""
        for number, rule in enumerate(self.description.rules):
            if signature(rule.head.term) in _RELATIONS:
                for clause in clauses_of((rule,)):
                    name, _ = signature(clause.head)
                    own = clause.head.arguments if isinstance(clause.head, Compound) else ()
                    arguments = (Constant(str(number)), *own)
                    yield replace(clause, head=Compound(f"{name}{_MARK}", arguments))

    def derived(self, relation: str, facts: frozenset[Term] | None = None, does: Does = ()) -> list[Derived]:
        """Return what holds of *relation* in the state of *facts*, with the moves *does* made there, by rule."""
        head = next((rule.head.term for rule in self.rules(relation)), None)
        if head is None:
            return []
        arity = signature(head)[1]
        atom = Compound(f"{relation}{_MARK}", tuple(Variable(f"?{i}") for i in range(arity + 1)))
        rows = [row for _, row in self._reasoner.answers(atom, facts, does)]
        found = [Derived(self.description.rules[int(str(row[0]))], row[1:]) for row in rows]
        return sorted(found, key=lambda one: (one.rule.span.start, [str(argument) for argument in one.arguments]))

    def rules(self, relation: str, *arguments: Term | None) -> tuple[Rule, ...]:
        """Return the rules of *relation* whose heads may have *arguments*; None stands for any."""
        return tuple(
            rule
            for rule in self.description.rules
            if signature(rule.head.term)[0] == relation and _may_have(rule.head.term, arguments)
        )


def _may_have(head: Term, arguments: Sequence[Term | None]) -> bool:
    own = head.arguments if isinstance(head, Compound) else ()
    return len(own) >= len(arguments) and all(
        wanted is None or can_meet(wanted, argument) for wanted, argument in zip(arguments, own, strict=False)
    )


def part(span: Span, number: int) -> Span:
    """Return where the argument of that number, counted from 1, stands in the atom at *span*; else *span* itself."""
    (form,) = read_forms(Source(span.source.name, span.text))
    if form.children is None or number >= len(form.children):
        return span
    child = form.children[number]
    return Span(span.source, span.start + child.start, span.start + child.end)


Legal: TypeAlias = tuple[tuple[Term, ...], ...]
"""The legal moves, in the order of the roles."""


_MOST_WITNESSED_STATES: Final = 40
"""In how many states it is looked up what rules say of roles that there are none."""


class Observer:
    """Looks at states and joint moves one by one, counts them in `figures` and notes defects.

    Attributes:
        deadline: when to stop.

    Raises:
        OutOfTime: from `look` and `move`, when the deadline is over.
        LimitInPlay: from them, where the engine reaches a limit.
    """

    def __init__(self, game: Game, witness: Derivations, deadline: TimeLimit) -> None:
        self.game, self.deadline, self.defects = game, deadline, Defects()
        self.figures = Figures(game.roles)
        self.players = tuple(r for r in game.roles if not (game.has_imperfect_information and r is RANDOM))
        self._witness = witness
        self._witnessed = 0
        self._fluents = self._declared_fluents()
        self._moves = self._declared_moves()

    @property
    def n_declared_fluents(self) -> int | None:
        """How many fluents `base` declares; None where the file has no `base`, or it is too large."""
        return None if self._fluents is None else len(self._fluents)

    def n_declared_moves(self, role: Role) -> int | None:
        """Return how many moves `input` declares for *role*; None as for fluents."""
        return None if self._moves is None else len(self._moves[role])

    def _declared_fluents(self) -> frozenset[Term] | None:
        if not self._witness.rules("base"):
            return None
        with suppress(LimitExceeded):
            return frozenset(one.arguments[0] for one in self._witness.derived("base"))
        return None

    def _declared_moves(self) -> dict[Term, frozenset[Term]] | None:
        if not self._witness.rules("input"):
            return None
        with suppress(LimitExceeded):
            found = [one.arguments for one in self._witness.derived("input")]
            return {role: frozenset(move for who, move in found if who is role) for role in self.game.roles}
        return None

    def look(self, state: State, path: Path) -> Legal | None:
        """Take in *state*, and return the legal moves; None where the play ends here, or cannot go on."""
        self.figures.count_state(state.facts)
        self._check_fluents(state, path)
        if self._ask("terminal", lambda: state.is_terminal):
            self._check_goals(state, path)
            return None
        legal = tuple(self._ask("legal", state.legal_moves, role) for role in self.game.roles)
        self.figures.count_moves(legal)
        self._check_moves(legal, path)
        self._check_strangers(state, (), path)
        return legal if all(legal) else None

    def _ask(
        self, relation: str, question: Callable[Arguments, Answer], *args: Arguments.args, **kw: Arguments.kwargs
    ) -> Answer:
        return ask(self.deadline, relation, question, *args, **kw)

    def _check_fluents(self, state: State, path: Path) -> None:
        if self._fluents is None or state.facts <= self._fluents:
            return
        play = path()
        for fluent in sorted(state.facts - self._fluents, key=str):
            self.defects.note(Defect("undeclared-fluent", play, terms=(fluent,)))

    def _check_moves(self, legal: Legal, path: Path) -> None:
        for role, moves in zip(self.game.roles, legal, strict=True):
            if not moves:
                self.defects.note(Defect("no-legal-move", path(), role))
            if self._moves is not None:
                for move in moves:
                    if move not in self._moves[role]:
                        self.defects.note(Defect("undeclared-move", path(), role, (move,)))

    def _check_goals(self, state: State, path: Path) -> None:
        for role in self.game.roles:
            goal = self._ask("goal", state.goal, role)
            if goal is not None:
                self.figures.goals[role].add(goal)
            if role in self.players and (goal is None or goal > 100):
                self._note_goal(role, state, path)

    def _note_goal(self, role: Role, state: State, path: Path) -> None:
        found = self._ask("goal", self._witness.derived, "goal", state.facts)
        values = tuple(dict.fromkeys(one.arguments[1] for one in found if one.arguments[0] is role))
        code = ("no-goal", "goal-out-of-range", "several-goals")[min(len(values), 2)]
        # What values there are differs from play to play; the defect is the same.
        self.defects.note(Defect(code, path(), role))

    def _check_strangers(self, state: State, moves: JointMove, path: Path) -> None:
        """Note what the rules say of roles that there are none; the engine passes over it."""
        if self._witnessed >= _MOST_WITNESSED_STATES:
            return
        self._witnessed += 1
        does = tuple(zip(self.game.roles, moves, strict=False))
        for relation in ("sees",) if moves else ("legal", "goal"):
            for one in self._ask(relation, self._witness.derived, relation, state.facts, does):
                if one.arguments[0] not in self.game.roles:
                    self.defects.note(Defect("no-such-role", path(), one.arguments[0], relation=relation))

    def move(self, state: State, moves: JointMove, path: Path) -> State:
        """Take in the joint move *moves* in *state*, and return the state that it leads to; *path* leads there."""
        if self.game.has_imperfect_information:
            self._check_strangers(state, moves, path)
            for role in self.players:
                if role not in self.figures.perceiving and self._ask("sees", state.percepts, role, moves):
                    self.figures.perceiving.add(role)
        found = self._ask("next", state.next_state, moves)
        self._compare_goals(state, found)
        return found

    def _compare_goals(self, before: State, after: State) -> None:
        for role in self.players:
            if role not in self.figures.falling:
                first, then = self._ask("goal", before.goal, role), self._ask("goal", after.goal, role)
                if first is not None and then is not None and then < first:
                    self.figures.falling.add(role)
