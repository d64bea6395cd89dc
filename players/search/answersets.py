"""Planning by answer sets: the circuit of a game is unrolled step by step, and clingo chooses the moves.

Where the order of moves hardly matters, as in puzzles of constraints, this finds plans that no search of states does.
Source: Kautz and Selman, "Planning as Satisfiability", 1992; Thielscher, "Answer Set Programming for Single-Player
Games in General Game Playing", 2009.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, TypeAlias

import clingo
import numpy as np

from gdl.compiler.compiled import CompiledGame
from gdl.compiler.kernels.scalar import has_loops
from gdl.compiler.tables import Tables
from gdl.errors import LimitExceeded, StuckPlayError
from players.search.graphs import Moves, best_goal_of, conditions_of

Literal: TypeAlias = int
"""An atom of the program, negative where it is negated; TRUE or FALSE where it has no choice."""

TRUE: Final = 1 << 30
FALSE: Final = -TRUE

MAX_RULES: Final = 500_000
"""How large the program may become: some hundred bytes a rule."""
MAX_GATES: Final = 30_000
"""Circuits with more gates take too long to be unrolled."""
MAX_HORIZON: Final = 512
WAYS: Final = ("", "--sign-def=rnd", "--configuration=frumpy")
"""Options of the solver, which attempts have in turns: one may take seconds where another takes a minute."""
FIRST_LIMIT_S: Final = 0.7
"""How long the first attempts at a horizon are waited for; once all ways are tried, attempts last twice as long."""
_WAIT_S: Final = 0.001
_MAX_WAIT_S: Final = 0.05
_RULES_A_ROUND: Final = 200
_N_PLAYS: Final = 512


class AnswerSetSearch:
    """A search for a plan that reaches the best goal, with one horizon after the other.

    A horizon is given up for the next one after some seconds, and tried again later. The solver runs in a thread of
    its own while other searches have their turns.

    Attributes:
        is_refuted: whether no plan reaches the best goal.
    """

    def __init__(self, game: CompiledGame, packed: bytes) -> None:
        self.game, self.packed = game, packed
        self.goal, self.plan = -1, Moves()
        self.has_seen_all = self.is_refuted = False
        self.is_done = has_loops(game.rules.single) or len(game.rules.single.gate_row) > MAX_GATES
        self.n_rounds = 0
        self._unrolling: Unrolling | None = None
        self._is_whole = True
        self._horizons: list[int] = []
        self._next = 0
        self._refuted = -1
        self._limit_s = FIRST_LIMIT_S
        self._way = self._n_times = 0
        self._attempt: _Attempt | None = None

    def advance(self, n_rounds: int) -> bool:
        """Unroll *n_rounds* moves, or let the solver work; return whether a plan was found."""
        if self.is_done or not self._is_whole:
            self.is_done = True
            return False
        if self._attempt is not None:
            return self._wait(n_rounds)
        self._is_whole = False  # as it stays if the clock ends within
        self._prepare(n_rounds)
        self._is_whole = True
        return False

    def close(self) -> None:
        """Stop the solver, and do no more."""
        self.is_done = True
        self.pause()

    def pause(self) -> None:
        """Stop the solver; what it has found out is lost."""
        if self._attempt is not None:
            self._attempt.close()
            self._attempt = None

    def _prepare(self, n_steps: int) -> None:
        """Unroll towards the next horizon, and begin an attempt at it."""
        if self._unrolling is None:
            self._unrolling = Unrolling(self.game, self.packed)
        found = self._unrolling
        horizon = self._horizons[self._next] if self._horizons else 1
        for _ in range(n_steps):
            if found.is_long_enough(horizon):
                break
            found.extend()
        if not found.is_long_enough(horizon):
            return
        if not found.can_end:
            self.is_done, self.is_refuted = True, found.is_complete
            return
        if not self._horizons:
            self._horizons = self._ladder()
            return
        self._begin(min(horizon, found.n_steps))

    def _begin(self, horizon: int) -> None:
        """Begin an attempt at *horizon* unless it is refuted, and choose the next one."""
        assert self._unrolling is not None
        is_last = self._unrolling.is_complete and self._unrolling.n_steps == horizon
        if horizon > self._refuted:
            self._attempt = _Attempt(self._unrolling, horizon, self._limit_s, WAYS[self._way % len(WAYS)])
            self._way += 1
        elif is_last:
            self.is_done = self.is_refuted = True
        self._next += 1
        if self._next == len(self._horizons):
            self._next, self._n_times = 0, self._n_times + 1
            self._way = self._n_times
            if self._way % len(WAYS) == 0:
                self._limit_s *= 2

    def _ladder(self) -> list[int]:
        """Return the horizons to try: the first that may do and ever more, what plays take, what lacks of the goal."""
        assert self._unrolling is not None
        first = self._unrolling.n_steps
        steps = {first + n for n in (1, 4, 16, 64)} | {first, self._longest()}
        steps |= set(map(self._n_lacking, conditions_of(self.game)))
        found = sorted(n for n in steps if first <= n <= MAX_HORIZON)
        return found[:1] if self._unrolling.is_complete else found

    def _longest(self) -> int:
        try:
            return self.game.playouts(self.game.unpack(self.packed), _N_PLAYS, 0, MAX_HORIZON).longest
        except (LimitExceeded, StuckPlayError):
            return 0

    def _n_lacking(self, conditions: Sequence[int]) -> int:
        """Return how many of *conditions* do not hold in the first state."""
        assert self._unrolling is not None
        return sum(self._unrolling.first_value(literal) == FALSE for literal in conditions)

    def _wait(self, n_rounds: int) -> bool:
        assert self._attempt is not None
        self.n_rounds += n_rounds
        attempt = self._attempt
        if not attempt.advance(n_rounds):
            return False
        self._attempt = None
        if attempt.moves is not None:
            self.goal, self.plan, self.is_done = best_goal_of(self.game), attempt.moves, True
        elif attempt.is_refuted:
            self._refuted = max(self._refuted, attempt.horizon)
        return attempt.moves is not None


class _Attempt:
    """The solver at work on one horizon, in one of WAYS, until it was waited for *limit_s* seconds."""

    def __init__(self, unrolling: Unrolling, horizon: int, limit_s: float, way: str) -> None:
        self.horizon = horizon
        self.moves: Moves | None = None
        self.is_refuted = False
        self._unrolling = unrolling
        self._left_s = limit_s
        self._rules = unrolling.rules_for(horizon)
        self._n_added = 0
        self._control = clingo.Control(["--warn=none", *way.split()])  # which a handle does not keep alive
        self._open = ExitStack()
        self._handle: clingo.SolveHandle | None = None

    def advance(self, n_rounds: int) -> bool:
        """Tell the solver some rules a round, or wait for it some time a round; return whether the attempt is over."""
        if self._handle is None:
            self._add(n_rounds * _RULES_A_ROUND)
            return False
        wait_s = min(n_rounds * _WAIT_S, _MAX_WAIT_S)
        self._left_s -= wait_s
        is_over = self._handle.wait(wait_s)
        if is_over:
            model = self._handle.model()
            self.is_refuted = model is None
            self.moves = None if model is None else self._unrolling.moves_of(model)
        if is_over or self._left_s <= 0:
            self.close()
            return True
        return False

    def close(self) -> None:
        """Stop the solver."""
        if self._handle is not None:
            self._handle.cancel()
        self._open.close()

    def _add(self, n_rules: int) -> None:
        """Tell the solver *n_rules* rules more, and let it begin once it has all."""
        some = self._rules[self._n_added : self._n_added + n_rules]
        self._n_added += len(some)
        with self._control.backend() as backend:
            for rule in some:
                rule.add_to(backend)
        if self._n_added == len(self._rules):
            self._handle = self._open.enter_context(self._control.solve(yield_=True, async_=True))
            self._handle.resume()


class _Kind(Enum):
    """What a rule says: an atom follows, may be chosen; the literals cannot all hold, nor two of them."""

    FOLLOWS = auto()
    MAY = auto()
    NOT_ALL = auto()
    NOT_TWO = auto()


@dataclass(frozen=True, slots=True)
class _Rule:
    kind: _Kind
    body: tuple[Literal, ...]

    def add_to(self, backend: clingo.Backend) -> None:
        """Add the rule, whose head is the next atom."""
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
        self.rules: list[_Rule] = []
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

    def rules_for(self, horizon: int) -> list[_Rule]:
        """Return the rules of a program that has a solution if the goal can be reached by at most *horizon* moves."""
        ends = [end for end in self.ends[: horizon + 1] if end != FALSE]
        rules = self.rules[: self._n_rules_after[horizon]]
        return rules if TRUE in ends else [*rules, _Rule(_Kind.NOT_ALL, tuple(-end for end in ends))]

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
            self.rules.append(_Rule(_Kind.NOT_ALL, (*body, *(-literal for literal in chosen))))
            self.rules.append(_Rule(_Kind.NOT_TWO, tuple(chosen)))
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
        self.rules.append(_Rule(kind, body))
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
