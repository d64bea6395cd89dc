"""The compiled engine: a game whose rules are a circuit, and its states, which answer as the interpreter's do."""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels import scalar
from gdl.compiler.kernels.batches import Batch
from gdl.compiler.kernels.playouts import LanePlayer, Packed, PlayoutsEach
from gdl.compiler.kernels.scalar import Walker, has_loops
from gdl.compiler.tables import CompiledRules
from gdl.display import DisplayedGame, DisplayedState
from gdl.errors import LimitExceeded, StuckPlayError, TerminalStateError
from gdl.game import (
    MAX_STEPS,
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
    played_roles,
)
from gdl.interpreter import InterpretedGame, InterpretedState
from gdl.language.rules import Description
from gdl.language.terms import Term

Numbers: TypeAlias = NDArray[np.int32]

_N_PLAYS: Final = 512
_MOST_STEPS: Final = 20_000
"""How many plays tell whether goals have one sum, and how long they may take: a search waits for that."""
_BEST_GOAL: Final = 100
_MAX_PERCEPTS: Final = 10_000
"""How many sets of percepts are remembered as terms."""


class CompiledState(DisplayedState, SharedState):
    """A state of a compiled game; `packed` are its bytes."""

    __slots__ = ("_facts", "_game", "_seen", "packed")

    def __init__(self, game: CompiledGame, packed: bytes) -> None:
        self._game, self.packed = game, packed
        self._facts: frozenset[Term] | None = None
        self._seen: tuple[list[int], bool] | None = None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, CompiledState) and self._game is other._game:
            return self.packed == other.packed
        if isinstance(other, InterpretedState):
            return other == InterpretedState(self._game.interpreted, self.facts)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.facts)

    def belongs_to(self, game: CompiledGame) -> bool:
        """Return whether *game* is the one whose fluents the bits of the state are."""
        return self._game is game

    def __repr__(self) -> str:
        return f"<CompiledState {' '.join(sorted(map(str, self.facts)))[:200]}>"

    @property
    def description(self) -> Description:
        """The rules of the game that the state is one of."""
        return self._game.description

    @property
    def facts(self) -> frozenset[Term]:
        """The fluents that are true, without `true` around them."""
        if self._facts is None:
            bits = np.unpackbits(np.frombuffer(self.packed, np.uint8))
            self._facts = frozenset(map(self._game.fluents.__getitem__, np.flatnonzero(bits).tolist()))
        return self._facts

    def _legal_and_terminal(self) -> tuple[list[int], bool]:
        if self._seen is None:
            legal, is_terminal = self._game.legal_and_terminal(self.packed)
            self._seen = legal.tolist(), is_terminal
        return self._seen

    @property
    def is_terminal(self) -> bool:
        """Whether the play has ended."""
        return self._legal_and_terminal()[1]

    def legal_moves(self, role: Role) -> tuple[Term, ...]:
        """Return the legal moves of *role*, ordered by text."""
        numbers = self._game.moves_of[self._number(role)]
        legal = self._legal_and_terminal()[0]
        first, last = bisect_left(legal, numbers.start), bisect_left(legal, numbers.stop)
        return tuple(map(self._game.moves.__getitem__, legal[first:last]))

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
            raise no_such_role(role, self._game.roles) from None

    def _check(self, moves: JointMove) -> list[int]:
        """Return the numbers of *moves*, which must be legal here."""
        check_joint_move(moves, len(self._game.roles))
        legal, is_terminal = self._legal_and_terminal()
        if is_terminal:
            raise TerminalStateError
        numbers = []
        for role, known, move in zip(self._game.roles, self._game.move_number, moves, strict=True):
            number = known.get(move)
            if number is None or bisect_left(legal, number) == bisect_right(legal, number):
                raise no_such_move(role, move)
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


class CompiledGame(DisplayedGame, SharedGame):
    """A game run by its circuit; the interpreter stands behind it for states that its rules cannot reach.

    Questions may come from several threads. Attributes:
        fluents, moves, moves_of: what bits and numbers stand for.
        n_bytes: the length of a packed state.
        batch: questions about many packed states at once.
    """

    engine = "compiled"

    def __init__(self, interpreted: InterpretedGame, rules: CompiledRules) -> None:
        self.interpreted, self.rules = interpreted, rules
        self.description = interpreted.description
        self.has_imperfect_information = interpreted.has_imperfect_information
        self.roles: tuple[Role, ...] = interpreted.roles
        self.fluents, self.moves, self.moves_of = rules.fluents, rules.moves, rules.moves_of
        self.n_bytes = (len(self.fluents) + 7) // 8
        self.initial_state: State = self.state(interpreted.initial_state.facts)
        self._lanes = LanePlayer(rules)
        self._has_loops = has_loops(rules.single)
        self._local = threading.local()
        self._percepts: dict[bytes, tuple[tuple[Term, ...], ...]] = {}

    @cached_property
    def batch(self) -> Batch:
        """Questions about many packed states at once."""
        return Batch(self.rules)

    @cached_property
    def goal_sum(self) -> int | None:
        """What the goals of two roles add up to wherever a play ends; None where that is not always the same.

        It is seen by the goals that the rules know, and by the ends of random plays. None where other than two roles
        play, chance apart, where such a play may be very long, or where a goal is above 100: players count it as 100,
        and what they count has no one sum.
        """
        played = [number for number, role in enumerate(self.roles) if role in played_roles(self)]
        if len(played) != 2 or not isinstance(self.initial_state, CompiledState):
            return None
        ours, theirs = ({goal for goal in self.rules.goals[number] if goal is not None} for number in played)
        total = min(ours, default=0) + max(theirs, default=0)
        if not ours or {total - goal for goal in ours} != theirs or max(ours | theirs) > _BEST_GOAL:
            return None
        packed = np.frombuffer(self.initial_state.packed, np.uint8)[None]
        try:
            plays = self.playouts_each(packed.repeat(_N_PLAYS, axis=0), 1, seed=1, max_steps=_MOST_STEPS)
        except (StuckPlayError, LimitExceeded):
            return None
        sums, is_scored = plays.goal_sums[:, played].sum(axis=1), plays.n_scored[:, played] == 1
        return total if (sums == total).all() and is_scored.all() else None

    @cached_property
    def fluent_number(self) -> dict[Term, int]:
        """The number of every fluent."""
        return {fluent: i for i, fluent in enumerate(self.fluents)}

    @cached_property
    def move_number(self) -> tuple[dict[Term, int], ...]:
        """The number of every move, role by role."""
        return tuple({self.moves[i]: i for i in numbers} for numbers in self.moves_of)

    def state(self, facts: Iterable[Term]) -> State:
        """Return the state in which exactly *facts* are true; they need not be reachable."""
        facts, known = facts_of(facts), self.fluent_number
        if any(fact not in known for fact in facts):
            return UnreachableState(self, facts)
        bits = np.zeros(len(self.fluents), np.uint8)
        bits[[known[fact] for fact in facts]] = 1
        return CompiledState(self, np.packbits(bits).tobytes())

    def compiled_state(self, state: State) -> CompiledState | None:
        """Return *state*, which may be one of another engine, as this one has it.

        None where it is plain that no play reaches it: by a fluent, or by whose turn it is.
        """
        here = state if isinstance(state, CompiledState) and state.belongs_to(self) else self.state(state.facts)
        if not isinstance(here, CompiledState):
            return None
        phase = self._lanes.phases_of(np.frombuffer(here.packed, np.uint8)[None])[0]
        return here if phase >= 0 or not self.rules.phases else None

    def pack(self, state: State) -> bytes:
        """Return *state*, which may be one of another engine, in packed form.

        Raises:
            ValueError: no play reaches the state.
        """
        here = self.compiled_state(state)
        if here is None:
            raise ValueError("a state that cannot be reached from the first has no packed form")
        return here.packed

    def unpack(self, packed: bytes) -> CompiledState:
        """Return the state that *packed* is.

        Raises:
            ValueError: it has another length than `n_bytes`, or bits beyond the last fluent.
        """
        spare = 8 * self.n_bytes - len(self.fluents)
        if len(packed) != self.n_bytes or (spare and packed[-1] & ((1 << spare) - 1)):
            raise ValueError(f"a packed state of this game is {self.n_bytes} bytes, the last {spare} bits zero")
        return CompiledState(self, packed)

    def legal_and_terminal(self, packed: bytes) -> tuple[Numbers, bool]:
        """Return the numbers of all roles' legal moves, ascending, and whether the state is terminal."""
        if not self._has_loops:
            return self._walker().legal_and_terminal(packed)
        _, legal, is_terminal = scalar.legal_and_terminal(self.rules.single, self._bits(packed))
        return np.flatnonzero(legal).astype(np.int32), bool(is_terminal)

    def step(self, packed: bytes, moves: Sequence[int]) -> bytes:
        """Return the packed state after *moves*, the number of one legal move per role; they are not checked."""
        if not self._has_loops:
            return self._walker().step(packed, moves)
        return np.packbits(self._scalar_step(packed, moves)[0]).tobytes()

    def next_and_legal(self, packed: bytes, moves: Sequence[int]) -> tuple[bytes, Numbers, bool]:
        """Return the state after *moves*, its legal moves, and whether it is terminal, in one call."""
        if not self._has_loops:
            return self._walker().next_and_legal(packed, moves)
        following = self.step(packed, moves)
        return following, *self.legal_and_terminal(following)

    def goals_of(self, packed: bytes) -> tuple[int | None, ...]:
        """Return the goal of every role, None where there is not exactly one number."""
        values, _, _ = scalar.legal_and_terminal(self.rules.single, self._bits(packed))
        holds = iter(scalar.goals(self.rules.single, values))
        return tuple(_only([goal for goal in goals if next(holds)]) for goals in self.rules.goals)

    def sees_of(self, packed: bytes, moves: Sequence[int]) -> tuple[tuple[Term, ...], ...]:
        """Return what every role perceives of *moves* by the rules for `sees`, ordered by text."""
        return self._told(self._scalar_step(packed, moves)[1])

    def next_and_sees(self, packed: bytes, moves: Sequence[int]) -> tuple[bytes, tuple[tuple[Term, ...], ...]]:
        """Return the packed state after *moves*, which are not checked, and what every role perceives of them."""
        following, sees = self._scalar_step(packed, moves)
        return np.packbits(following).tobytes(), self._told(sees)

    def _told(self, sees: NDArray[np.uint8]) -> tuple[tuple[Term, ...], ...]:
        """Return the percepts of every role that are not 0 in *sees*, ordered by text."""
        key = sees.tobytes()
        found = self._percepts.get(key)
        if found is None:
            holds = iter(key)
            told = [[percept for percept in percepts if next(holds)] for percepts in self.rules.sees]
            found = tuple(tuple(sorted(percepts, key=str)) for percepts in told)
            if len(self._percepts) < _MAX_PERCEPTS:
                self._percepts[key] = found
        return found

    def playouts(self, state: State, n: int, seed: int, max_steps: int = MAX_STEPS) -> Playouts:
        """Return what *n* random plays from *state* come to.

        Raises: as `Game.playouts`.
        """
        check_state(state, self)
        here = self.state(state.facts)
        if not isinstance(here, CompiledState):
            return interpreted_playouts(here, self.roles, n, seed, max_steps)
        packed = np.frombuffer(here.packed, np.uint8)[None]
        return self._lanes.play_each(packed, n, seed, max_steps).of(0)

    def playouts_each(self, packed: Packed, k: int, seed: int, max_steps: int = MAX_STEPS) -> PlayoutsEach:
        """Return what *k* random plays from each of the states *packed* (S, n_bytes) come to.

        Raises: as `Game.playouts`.
        """
        return self._lanes.play_each(packed, k, seed, max_steps)

    def _walker(self) -> Walker:
        try:
            return self._local.walker  # type: ignore[no-any-return]  # set in the next lines
        except AttributeError:
            found = self._local.walker = Walker(self.rules.single)
            return found

    def _bits(self, packed: bytes) -> NDArray[np.uint8]:
        return np.unpackbits(np.frombuffer(packed, np.uint8), count=len(self.fluents))

    def _scalar_step(self, packed: bytes, moves: Sequence[int]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        values, _, _ = scalar.legal_and_terminal(self.rules.single, self._bits(packed))
        following, sees = scalar.step(self.rules.single, values, np.array(moves, np.int64))
        return following, sees


def _only(values: list[int | None]) -> int | None:
    return values[0] if len(values) == 1 else None
