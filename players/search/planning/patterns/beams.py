"""Beam search for one role: layer by layer, the states with the least sum of pattern distances.

The sum over patterns that overlap is no bound on the moves that are left, but it tells states apart where each distance
alone does not. One pass after the other takes larger patterns and wider layers.
Source: Bisiani, "Beam Search", 1987; Furcy and Koenig, "Limited Discrepancy Beam Search", 2005.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from random import Random
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.compiled import CompiledGame
from players.search.background_task import BackgroundTask
from players.search.planning.circuits import Moves, best_goal_of, clock_of, has_clock
from players.search.planning.patterns.databases import draw_patterns, make_databases
from players.search.planning.patterns.kernels import (
    FAR,
    Candidates,
    Databases,
    Touched,
    expand,
    pattern_state_for,
    sweep,
)
from players.search.planning.patterns.variables import Variables, find_variables

PASSES: Final = ((24, 10), (27, 12), (30, 14), (31, 16), (31, 16))
"""What each pass may look up for its patterns, and how wide its layers are, as powers of two."""
MAX_CANDIDATES: Final = 1 << 21
MAX_DEPTH: Final = 300
"""How long plans may become where no clock ends the play."""
_CANDIDATES_A_STEP: Final = 1_024


class BeamSearch:
    """A search from one state of a compiled game of one role; attributes as of `GraphSearch`.

    It is done where the goal hangs together with too many fluents, or the last pass has ended. A step waits
    *patience_s* at most for the kernels, which are compiled the first time on a machine.
    """

    def __init__(self, game: CompiledGame, packed: bytes, random: Random, patience_s: float = math.inf) -> None:
        self.game, self.packed = game, packed
        self.goal, self.plan = -1, Moves()
        self.is_done = self.has_seen_all = self.is_refuted = False
        self.n_iterations = 0
        self._random, self._patience_s = Random(random.getrandbits(32)), patience_s
        self._work = self._passes()

    def advance(self, n_units: int) -> bool:
        """Do *n_units* steps; return whether a plan was found."""
        if self.is_done:
            return False
        for _ in range(n_units):
            try:
                next(self._work)
            except StopIteration:
                self.is_done = True
                break
        return self.goal >= 0

    def pause(self) -> None:
        """Do nothing: it works when it is called only."""

    def close(self) -> None:
        """Do no more, and give back the patterns."""
        self.is_done = True
        self._work.close()

    def _passes(self) -> Generator[None, None, None]:
        """Search until a plan is found or all has been tried, a step at a time."""
        variables = yield from find_variables(self.game, self.packed)
        if variables is None:
            return
        kernels = BackgroundTask(load_pattern_kernels, "search in patterns")
        while not kernels.get(self._patience_s):
            if kernels.has_ended and not kernels.get(0.0):
                return
            yield
        max_depth = horizon_of(self.game, self.packed)
        for max_sums, width in PASSES:
            patterns = draw_patterns(variables, self._random, 1 << max_sums)
            databases = yield from make_databases(variables, patterns)
            if FAR in databases.distances[databases.first]:  # in the first state all values are 0
                return
            beam = Beam(variables, databases, 1 << width, self._random.getrandbits(32))
            while not beam.is_done and beam.depth < max_depth:
                self.n_iterations += beam.advance()
                yield
            if beam.plan is not None:
                self.goal, self.plan = best_goal_of(self.game), beam.plan
            if beam.plan is not None or beam.has_seen_all:
                return


def horizon_of(game: CompiledGame, packed: bytes) -> int:
    """Return after how many moves the clock ends the play, `MAX_DEPTH` at most.

    It runs by itself: it is seen in states in which all else stays as it is.
    """
    if not has_clock(game):
        return MAX_DEPTH
    clock = np.packbits(clock_of(game))
    rest = np.frombuffer(packed, np.uint8) & ~clock
    state = packed
    for depth in range(MAX_DEPTH):
        legal, is_terminal = game.legal_and_terminal(state)
        if is_terminal or not len(legal):
            return depth
        following = np.frombuffer(game.step(state, (int(legal[0]),)), np.uint8)
        state = (following & clock | rest).tobytes()
    return MAX_DEPTH


class Beam:
    """A beam search over vectors of variables that begins where all are 0, and keeps *width* states of each layer.

    Attributes:
        plan: the moves to the goal, None before it is found.
        depth: how many moves lead to the layer.
        is_done, has_seen_all: whether the search has ended, and whether it has ended without any state left out.
    """

    def __init__(self, variables: Variables, databases: Databases, width: int, seed: int) -> None:
        self.plan: Moves | None = None
        self.depth = 0
        self.is_done = self.has_seen_all = False
        n_moves, n_variables, n_values = variables.transitions.shape
        self._variables, self._databases = variables, databases
        self._width = max(1, min(width, MAX_CANDIDATES // n_moves))
        self._layer = np.zeros((1, n_variables), np.int16)
        self._n_expanded = 0
        self._is_cut = False
        self._codes: list[NDArray[np.int32]] = []
        self._touched = touched_by(variables)
        self._work = pattern_state_for(len(databases.first), n_variables)
        n_candidates = self._width * n_moves
        keys = np.random.default_rng(seed).integers(1, 1 << 63, (n_variables, n_values), np.uint64)
        self._candidates = Candidates(
            n=np.zeros(1, np.int64),
            scores=np.empty(n_candidates, np.int64),
            codes=np.empty(n_candidates, np.int32),
            met=np.zeros(1 << (2 * n_candidates).bit_length(), np.uint64),
            keys=keys,
        )

    def advance(self) -> int:
        """Expand some states of the layer, or go on to the next one; return how many were expanded."""
        if self._n_expanded == len(self._layer):
            self._descend()
            return 0
        begin = self._n_expanded
        end = min(len(self._layer), begin + max(1, _CANDIDATES_A_STEP // len(self._variables.moves)))
        self._n_expanded = end
        tables = self._variables.transitions, self._touched, self._databases
        if expand(*tables, self._candidates, self._work, self._layer, begin, end):
            self.plan = self._path(int(self._candidates.codes[self._candidates.n[0] - 1]))
            self.is_done = True
        return end - begin

    def _descend(self) -> None:
        """Let the best candidates be the next layer."""
        n = int(self._candidates.n[0])
        codes = self._candidates.codes[:n]
        if n > self._width:
            self._is_cut = True
            codes = codes[np.argpartition(self._candidates.scores[:n], self._width)[: self._width]]
        parents, moves = np.divmod(codes, len(self._variables.moves))
        own = np.arange(self._layer.shape[1])
        following = self._variables.transitions[moves[:, None], own, self._layer[parents]]
        self._layer = np.ascontiguousarray(following)
        self._codes.append(codes.copy())
        self._n_expanded = self._candidates.n[0] = 0
        self.depth += 1
        if not n:
            self.is_done, self.has_seen_all = True, not self._is_cut

    def _path(self, code: int) -> Moves:
        """Return the moves to the candidate of a code."""
        n_moves, found = len(self._variables.moves), []
        for codes in (*reversed(self._codes), None):
            parent, move = divmod(code, n_moves)
            found.append(int(self._variables.moves[move]))
            code = int(codes[parent]) if codes is not None else -1
        return tuple(reversed(found))


def touched_by(variables: Variables) -> Touched:
    """Return which variables each move changes or depends on, those first that forbid it most often."""
    transitions, own = variables.transitions, np.arange(variables.transitions.shape[2])
    is_value = own < variables.n_values[:, None]
    is_touched = ((transitions != own) & is_value).any(axis=2)
    n_illegal = ((transitions < 0) & is_value).sum(axis=2)
    found = [sorted(np.flatnonzero(row), key=(-n).__getitem__) for row, n in zip(is_touched, n_illegal, strict=True)]
    return Touched(np.cumsum([0, *map(len, found)]), np.array([c for row in found for c in row], np.int64))


def load_pattern_kernels() -> bool:
    """Load the kernels of the search, compiled to the cache on disk the first time on a machine; return True."""
    zero = np.zeros(1, np.int64)
    sweep(np.zeros((1, 1), np.uint8), *np.zeros((2, 1, 1), np.int32), 0, 1, 0, True)
    swap, is_one = np.array([[[1, 0]]], np.int16), np.array([[False, True]])
    databases = Databases(np.arange(2), zero, zero + 1, zero, np.array([1, 0], np.uint8))
    Beam(Variables(zero, swap, zero + 2, is_one, is_one[0, 1:]), databases, 1, 0).advance()
    return True
