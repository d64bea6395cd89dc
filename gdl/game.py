"""The one interface that every engine implements: a game, its states, random plays, and the limits of one query."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import index
from random import Random
from typing import TYPE_CHECKING, ClassVar, Final, NoReturn, Protocol, Self, TypeAlias

from gdl.errors import (
    CallerError,
    ForeignStateError,
    IllegalMoveError,
    JointMoveError,
    LimitExceeded,
    StuckPlayError,
    UnknownRoleError,
    wrong_type,
)
from gdl.language.terms import Compound, Constant, Term, check_term

if TYPE_CHECKING:
    from gdl.language.rules import Description


@dataclass(frozen=True, slots=True)
class EvaluationLimits:
    """What one question may cost. *Units*: tuples in one relation or join, levels of nesting, names, seconds.

    `clock` is what seconds are counted by: the time of day, or the processor time of a process of its own.
    """

    max_rows: int = 10_000_000
    max_term_depth: int = 1_000
    max_term_symbols: int = 100_000
    max_seconds: float | None = None
    clock: Callable[[], float] = time.monotonic


DEFAULT_LIMITS: Final = EvaluationLimits()


class Budget:
    """The limits of one question, with the time at which it began."""

    def __init__(self, limits: EvaluationLimits, clock: Callable[[], float] | None = None) -> None:
        self.limits = limits
        self._clock = clock or limits.clock
        self._end_s = None if limits.max_seconds is None else self._clock() + limits.max_seconds

    def check_rows(self, n_rows: int) -> None:
        """Raise LimitExceeded when a relation or join of *n_rows* tuples is too large."""
        if n_rows > self.limits.max_rows:
            raise LimitExceeded("facts in one relation or join", self.limits.max_rows)

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        return self._end_s is not None and self._clock() > self._end_s

    def check_time(self) -> None:
        """Raise LimitExceeded when the time is up."""
        if self.is_over:
            raise LimitExceeded("seconds for one question", self.limits.max_seconds or 0)

    def check_terms(self, terms: Iterable[Term]) -> None:
        """Raise LimitExceeded when one of *terms*, which were derived, nests too deep or is too large."""
        terms = tuple(terms)
        if max((term.depth for term in terms), default=0) > self.limits.max_term_depth:
            raise LimitExceeded("levels of nesting in a derived term", self.limits.max_term_depth)
        self.check_symbols(terms)

    def check_symbols(self, terms: Iterable[Term]) -> None:
        """Raise LimitExceeded when one of *terms* is too large to be printed."""
        if max((term.n_symbols for term in terms), default=0) > self.limits.max_term_symbols:
            raise LimitExceeded("names in one term", self.limits.max_term_symbols)


MAX_STEPS: Final = 1_000_000
"""How many steps a play may take unless the caller says otherwise."""


@dataclass(frozen=True, slots=True)
class Playouts:
    """What a number of plays from one state came to.

    *Shapes*: `goal_sums`, `goal_squares` and `n_scored` have one entry per role: the sum of its goals, of their
    squares, and the number of plays that ended where it had exactly one goal; the others count as goal 0.
    `n_steps` is the sum of the lengths, `step_squares` the sum of their squares, `longest` the longest.
    """

    n_plays: int
    goal_sums: tuple[int, ...]
    goal_squares: tuple[int, ...]
    n_scored: tuple[int, ...]
    n_steps: int
    step_squares: int
    longest: int

    @property
    def mean_goals(self) -> tuple[float, ...]:
        """The mean goal of every role."""
        return tuple(total / self.n_plays for total in self.goal_sums)

    @property
    def mean_length(self) -> float:
        """The mean number of steps."""
        return self.n_steps / self.n_plays


def interpreted_playouts(state: State, roles: Sequence[Role], n: int, seed: int, max_steps: int) -> Playouts:
    """Return what *n* plays from *state* come to, made one after the other.

    Raises:
        ValueError: *n* is not positive, or *seed* is negative.
        StuckPlayError: a role has no legal move.
        LimitExceeded: a play takes more than *max_steps* steps.
    """
    check_plays(n, seed)
    random = Random(seed)
    ends = [_play(state, roles, random, max_steps) for _ in range(n)]
    lengths = [length for length, _ in ends]
    goals = list(zip(*(found for _, found in ends), strict=True))
    return Playouts(
        n_plays=n,
        goal_sums=tuple(sum(goal or 0 for goal in values) for values in goals),
        goal_squares=tuple(sum((goal or 0) ** 2 for goal in values) for values in goals),
        n_scored=tuple(sum(goal is not None for goal in values) for values in goals),
        n_steps=sum(lengths),
        step_squares=sum(length**2 for length in lengths),
        longest=max(lengths),
    )


def check_plays(n: int, seed: int) -> None:
    """Raise ValueError unless *n* plays can be made by *seed*, and TypeError where one of them is no whole number."""
    if index(n) < 1:
        raise ValueError(f"the number of plays is 1 or more, not {n}")
    if index(seed) < 0:
        raise ValueError(f"the seed of plays is 0 or more, not {seed}")


def _play(state: State, roles: Sequence[Role], random: Random, max_steps: int) -> tuple[int, list[int | None]]:
    length = 0
    while not state.is_terminal:
        if length == max_steps:
            raise LimitExceeded("steps in one play", max_steps)
        legal = [state.legal_moves(role) for role in roles]
        if not all(legal):
            raise StuckPlayError
        state = state.next_state([random.choice(moves) for moves in legal])
        length += 1
    return length, [state.goal(role) for role in roles]


Role: TypeAlias = Constant
JointMove: TypeAlias = Sequence[Term]

RANDOM: Final = Constant("random")
"""The role of GDL-II that stands for chance: it plays each of its legal moves with equal probability."""

NOOP: Final = "noop"
"""The name that most rules give the move of a role that only waits for another."""


class State(Protocol):
    """A state of a game: immutable, hashable, equal to every state of the game with the same facts."""

    @property
    def description(self) -> Description:
        """The rules of the game that the state is one of."""

    @property
    def facts(self) -> frozenset[Term]:
        """The fluents that are true, without `true` around them."""

    @property
    def is_terminal(self) -> bool:
        """Whether the play has ended."""

    def legal_moves(self, role: Role) -> tuple[Term, ...]:
        """Return the legal moves of *role*, ordered by text; also of a terminal state, where a file defines them.

        Raises:
            UnknownRoleError: the game has no such role.
        """

    def goal(self, role: Role) -> int | None:
        """Return the goal value of *role*, or None where there is not exactly one (or it is no number).

        Raises:
            UnknownRoleError: the game has no such role.
        """

    def next_state(self, moves: JointMove) -> State:
        """Return the state after the joint move *moves*.

        Raises:
            TerminalStateError: this state is terminal.
            JointMoveError: not one move per role.
            IllegalMoveError: a move is not legal for its role.
        """

    def percepts(self, role: Role, moves: JointMove) -> tuple[Term, ...]:
        """Return what *role* perceives of the joint move *moves* made in this state, ordered by text.

        In GDL-II these are the terms of `sees`; in GDL-I every role sees every move, so it is the joint move
        itself, in the order of the roles.

        Raises: as `next_state`, and UnknownRoleError.
        """


class _Shared:
    """Is its own copy, since nothing changes it, and stays in its process."""

    __slots__ = ()
    _instead: ClassVar[str]

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(self._instead)


class SharedGame(_Shared):
    """What a game of each engine is when it is copied, itself; it is not pickled, since another process compiles it."""

    _instead = "a game is not pickled: send its rules, game.description, and have gdl.make_game make it there"


class SharedState(_Shared):
    """What a state of each engine is when it is copied, itself; it is not pickled, since it belongs to its game."""

    __slots__ = ()
    _instead = "a state is not pickled: send its facts, state.facts, and have game.state make it there"


class Outline(Protocol):
    """What is known of a game without asking an engine."""

    @property
    def description(self) -> Description:
        """The rules that the game was made from."""

    @property
    def roles(self) -> tuple[Role, ...]:
        """The roles, in the order of the file, `random` included."""

    @property
    def has_imperfect_information(self) -> bool:
        """Whether the rules are GDL-II: percepts replace the joint move in the messages to players."""


class Game(Outline, Protocol):
    """A game as its rules define it."""

    @property
    def engine(self) -> str:
        """The engine that runs the game now: `interpreter` or `compiled`."""

    @property
    def initial_state(self) -> State:
        """The state in which every play begins."""

    def state(self, facts: Iterable[Term]) -> State:
        """Return the state in which exactly *facts* are true; they need not be reachable.

        Raises:
            WrongTypeError: a fact is no term.
        """

    def playouts(self, state: State, n: int, seed: int, max_steps: int = MAX_STEPS) -> Playouts:
        """Return what *n* random plays from *state* come to; the same arguments give the same answer.

        Raises:
            ForeignStateError: *state* is one of a game of other rules.
            WrongTypeError: *state* is no state.
            ValueError: *n* is not positive, or *seed* is negative.
            StuckPlayError: a role has no legal move.
            LimitExceeded: a play takes more than *max_steps* steps.
        """


def played_roles(game: Outline) -> tuple[Role, ...]:
    """Return the roles that players play: all but the `random` of GDL-II."""
    return tuple(role for role in game.roles if not (role is RANDOM and game.has_imperfect_information))


def facts_of(given: Iterable[Term]) -> frozenset[Term]:
    """Return the facts of a state that are *given*.

    Raises:
        WrongTypeError: one of them is no term.
    """
    facts = frozenset(given)
    for fact in facts:
        check_term(fact, "facts that are terms")
    return facts


def check_state(state: State, game: Outline) -> None:
    """Raise an error of the caller unless *state* is one of the rules of *game*, on whatever engine."""
    if not isinstance(state, SharedState):
        raise wrong_type(state, "a state of the game, as game.initial_state is")
    if state.description is not game.description and state.description != game.description:
        raise ForeignStateError(state.description.source.name, game.description.source.name)


def check_joint_move(moves: JointMove, n_roles: int) -> None:
    """Raise an error of the caller unless *moves* is a sequence of as many moves as there are roles."""
    is_list = isinstance(moves, (list, tuple))  # of other sequences it takes longer to find out
    if not is_list and (isinstance(moves, str) or not isinstance(moves, Sequence)):
        raise wrong_type(moves, "a list of moves, one for each role in the order of game.roles")
    if len(moves) != n_roles:
        raise JointMoveError(len(moves), n_roles)


def no_such_role(role: Role, roles: Iterable[Role]) -> CallerError:
    """Return the error that *role* is none of the *roles* of a game."""
    if not isinstance(role, Constant):
        return wrong_type(role, "a role of game.roles, which is a term")
    return UnknownRoleError(str(role), [str(known) for known in roles])


def no_such_move(role: Role, move: Term) -> CallerError:
    """Return the error that *move* is none that *role* may make."""
    if not isinstance(move, (Constant, Compound)):
        return wrong_type(move, f"a legal move of {role}, which is a term")
    return IllegalMoveError(str(role), str(move))
