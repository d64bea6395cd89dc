"""Planning by answer sets: the circuit of a game is unrolled step by step, and clingo chooses the moves.

Where the order of moves hardly matters, as in puzzles of constraints, this finds plans that no search of states does.
Source: Kautz and Selman, "Planning as Satisfiability", 1992; Thielscher, "Answer Set Programming for Single-Player
Games in General Game Playing", 2009.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Final

import clingo

from gdl.compiler.compiled import CompiledGame
from gdl.compiler.kernels.scalar import has_loops
from gdl.errors import LimitExceeded, StuckPlayError
from players.search.planning.circuits import Moves, best_goal_of, conditions_of
from players.search.planning.unrolling import FALSE, MAX_HORIZON, Unrolling

MAX_GATES: Final = 30_000
"""Circuits with more gates take too long to be unrolled."""
WAYS: Final = ("", "--sign-def=rnd", "--configuration=frumpy")
"""Options of the solver, which attempts have in turns: one may take seconds where another takes a minute."""
FIRST_LIMIT_S: Final = 0.7
"""How long the first attempts at a horizon are waited for; once all ways are tried, attempts last twice as long."""
_WAIT_S: Final = 0.001
_MAX_WAIT_S: Final = 0.05
_RULES_A_UNIT: Final = 200
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
        self.n_iterations = 0
        self._unrolling: Unrolling | None = None
        self._is_whole = True
        self._horizons: list[int] = []
        self._next = 0
        self._refuted = -1
        self._limit_s = FIRST_LIMIT_S
        self._way = self._n_times = 0
        self._attempt: _Attempt | None = None

    def advance(self, n_units: int) -> bool:
        """Unroll *n_units* moves, or let the solver work; return whether a plan was found."""
        if self.is_done or not self._is_whole:
            self.is_done = True
            return False
        if self._attempt is not None:
            return self._wait(n_units)
        self._is_whole = False  # as it stays if the clock ends within
        self._prepare(n_units)
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

    def _wait(self, n_units: int) -> bool:
        assert self._attempt is not None
        self.n_iterations += n_units
        attempt = self._attempt
        if not attempt.advance(n_units):
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

    def advance(self, n_units: int) -> bool:
        """Tell the solver some rules a unit, or wait for it some time a unit; return whether the attempt is over."""
        if self._handle is None:
            self._add(n_units * _RULES_A_UNIT)
            return False
        wait_s = min(n_units * _WAIT_S, _MAX_WAIT_S)
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
