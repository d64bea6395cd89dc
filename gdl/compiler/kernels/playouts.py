"""Random plays in lanes: from one state or from many, exactly as many from each as asked for.

Every lane plays a quota that is fixed before it begins, so that short plays count no more than long ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels import choice, lanes
from gdl.compiler.kernels.lanes import N_LANES, Lanes, Tally
from gdl.compiler.kernels.words import ONES, W
from gdl.compiler.tables import CompiledRules, Tables
from gdl.errors import LimitExceeded, StuckPlayError
from gdl.game import MAX_STEPS, Playouts, check_plays

Packed: TypeAlias = NDArray[np.uint8]
"""States (N, bytes), each packed as by `numpy.packbits` over the fluents."""
Words: TypeAlias = NDArray[np.uint64]

_GATES_PER_CALL: Final = 20_000_000
"""How much a kernel does before Python has its turn again, to be interrupted or to give up: some 30 ms."""


@dataclass(frozen=True, slots=True)
class PlayoutsEach:
    """What plays from each of S states came to.

    *Shapes*: `n`, `lengths` (sums), `length_squares`, `longest` (S,); `goal_sums`, `goal_squares` and `n_scored`
    (S, roles), where `n_scored` counts the plays that ended with exactly one goal of the role; the others count as
    goal 0. All int64.
    """

    n: NDArray[np.int64]
    goal_sums: NDArray[np.int64]
    goal_squares: NDArray[np.int64]
    n_scored: NDArray[np.int64]
    lengths: NDArray[np.int64]
    length_squares: NDArray[np.int64]
    longest: NDArray[np.int64]

    def of(self, i: int) -> Playouts:
        """Return what the plays from state number *i* came to."""
        return Playouts(
            n_plays=int(self.n[i]),
            goal_sums=tuple(map(int, self.goal_sums[i])),
            goal_squares=tuple(map(int, self.goal_squares[i])),
            n_scored=tuple(map(int, self.n_scored[i])),
            n_steps=int(self.lengths[i]),
            step_squares=int(self.length_squares[i]),
            longest=int(self.longest[i]),
        )


class LanePlayer:
    """Plays a compiled game in lanes; calls may come from several threads at once."""

    def __init__(self, rules: CompiledRules) -> None:
        self.rules = rules
        limits = np.cumsum([0, *map(len, rules.goals)])
        self._weights = np.zeros((limits[-1], len(rules.goals)), np.int64)
        self._is_number = np.zeros_like(self._weights)
        for role, values in enumerate(rules.goals):
            for i, value in enumerate(values, limits[role]):
                if value is not None:
                    self._weights[i, role], self._is_number[i, role] = value, 1
        self._control = sorted({fluent for phase in rules.phases for known in phase.controls for fluent in known})
        self._phase_of = {
            bytes(values[fluent] for fluent in self._control): number
            for number, phase in enumerate(rules.phases)
            for values in phase.controls
        }

    def play_each(self, packed: Packed, k: int, seed: int, max_steps: int = MAX_STEPS) -> PlayoutsEach:
        """Return what *k* random plays from each of the states *packed* (S, bytes) come to.

        The same arguments give the same answer. Lanes are full where S * k is a multiple of 512.

        Raises:
            ValueError: *k* is not positive, or *seed* is negative.
            StuckPlayError: a role has no legal move.
            LimitExceeded: a play takes more than *max_steps* steps.
        """
        check_plays(k, seed)
        goal_counts, lengths, _ = self._tally(len(packed))
        for number, (phase, chosen) in enumerate(self._loads(packed)):
            tally = self._tally(len(chosen))
            run = _Run(self.rules, packed[chosen], k, phase, _seed(seed, number))
            run.play(tally, max_steps)
            goal_counts[chosen], lengths[chosen] = tally.goal_counts, tally.lengths
        return PlayoutsEach(
            n=lengths[:, 0],
            goal_sums=goal_counts @ self._weights,
            goal_squares=goal_counts @ self._weights**2,
            n_scored=goal_counts @ self._is_number,
            lengths=lengths[:, 1],
            length_squares=lengths[:, 2],
            longest=lengths[:, 3],
        )

    def trace(self, packed: Packed, k: int, seed: int, n_steps: int) -> LaneTrace:
        """Return what the lanes do in their first *n_steps* steps of `play_each`, or until one is stuck; for proofs.

        All states must stand at the same phase.
        """
        ((phase, chosen),) = self._loads(packed)
        n_inputs = 1 + len(self.rules.fluents) + len(self.rules.moves)
        trace = np.zeros((n_steps, n_inputs, W), np.uint64)
        run = _Run(self.rules, packed[chosen], k, phase, _seed(seed, 0), trace)
        run.advance(n_steps, self._tally(len(chosen)))
        return _decoded(self.rules, trace[: run.lanes.clock[0]], phase)

    def _tally(self, n_groups: int) -> Tally:
        return lanes.tally_for(self.rules.goals, n_groups)

    def _loads(self, packed: Packed) -> Iterator[tuple[int | None, NDArray[np.int64]]]:
        """Yield the states that can be played together, with their phase, None where there is none."""
        phase_of = self.phases_of(packed)
        for phase in range(-1, len(self.rules.phases)):
            numbers = np.flatnonzero(phase_of == phase)
            for first in range(0, len(numbers), N_LANES):
                yield (None if phase < 0 else phase), numbers[first : first + N_LANES]

    def phases_of(self, packed: Packed) -> NDArray[np.int64]:
        """Return the phases of states (S,), -1 where no play has such a control state, or there are no phases."""
        if not self._control:
            return np.full(len(packed), 0 if self.rules.phases else -1)
        bits = np.unpackbits(packed, axis=1, count=len(self.rules.fluents))[:, self._control]
        return np.array([self._phase_of.get(row.tobytes(), -1) for row in bits], np.int64)


@dataclass(frozen=True, slots=True)
class LaneTrace:
    """The steps of all lanes.

    *Shapes*: `is_playing` (steps, lanes); `facts` (steps, lanes, fluents), true or false; `moves` (steps, lanes,
    roles), by number, -1 where there is none.
    """

    is_playing: NDArray[np.bool_]
    facts: NDArray[np.bool_]
    moves: NDArray[np.int64]


class _Run:
    """One load of the lanes, played until every quota is done."""

    def __init__(
        self, rules: CompiledRules, packed: Packed, k: int, phase: int | None, seed: int, trace: Words = lanes.NO_TRACE
    ) -> None:
        self._tables: Tables = rules.single if phase is None else rules.phased
        group = np.arange(N_LANES) * len(packed) // N_LANES
        self.lanes: Lanes = lanes.lanes_for(
            self._tables.n_rows, _quota(group, k), group, _start_rows(packed, group, len(rules.fluents)), phase or 0
        )
        self._work = choice.work_for(len(self._tables.choice_legal), seed)
        self._trace = trace

    def play(self, tally: Tally, max_steps: int) -> None:
        """Play, adding to *tally*; raises as `LanePlayer.play_each`."""
        per_step = 1 + len(self._tables.gate_input) // len(self._tables.parts)
        n_steps = max(16, min(_GATES_PER_CALL // per_step, max_steps + 1))
        state = lanes.PAUSED
        while state == lanes.PAUSED:
            state = self.advance(n_steps, tally)
            if state == lanes.STUCK:
                raise StuckPlayError
            if max(int(tally.lengths[:, 3].max()), self._longest()) > max_steps:
                raise LimitExceeded("steps in one play", max_steps)

    def advance(self, n_steps: int, tally: Tally) -> int:
        """Go on for *n_steps* steps; return what the kernel says."""
        return int(lanes.play(self._tables, self.lanes, self._work, n_steps, tally, self._trace))

    def _longest(self) -> int:
        """Return how many steps the longest play under way has."""
        idle = unpacked(self.lanes.idle)[0]
        return int(np.where(idle, 0, self.lanes.clock[0] - self.lanes.started).max())


def _quota(group: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Return how many plays each lane makes, *k* in each group."""
    size = np.bincount(group)[group]
    place = np.arange(N_LANES) - np.searchsorted(group, group)
    return k // size + (place < k % size)


def _seed(seed: int, number: int) -> int:
    return int(np.random.SeedSequence([seed, number]).generate_state(1, np.uint64)[0])


def _start_rows(packed: Packed, group: NDArray[np.int64], n_fluents: int) -> Words:
    """Return every fluent in all lanes, one bit each, where a lane begins at the state of its group."""
    bits = np.unpackbits(packed, axis=1, count=n_fluents)
    if len(packed) == 1:
        return np.where(bits[0, :, None] == 1, ONES, np.uint64(0)).repeat(W, axis=1)
    return packed_rows(bits[group])


def packed_rows(bits: NDArray[np.uint8]) -> Words:
    """Return (512, n) bits as n rows of words."""
    return np.ascontiguousarray(np.packbits(bits.T, axis=1, bitorder="little")).view(np.uint64)


def unpacked(rows: Words) -> NDArray[np.bool_]:
    """Return rows of words (..., 8) as one truth value a lane, (..., 512)."""
    return np.unpackbits(rows.view(np.uint8), axis=-1, bitorder="little").astype(np.bool_)


def _decoded(rules: CompiledRules, trace: Words, phase: int | None) -> LaneTrace:
    tables = rules.single if phase is None else rules.phased
    n_fluents = len(rules.fluents)
    inputs = unpacked(trace)
    facts = inputs[:, 1 : 1 + n_fluents].copy()
    made = np.zeros((len(trace), len(rules.moves), N_LANES), np.bool_)
    for step in range(len(trace)):
        now = 0 if phase is None else (phase + step) % len(rules.phases)
        rows = tables.choice_row[tables.role_start[now, 0] : tables.role_start[now, -1]]
        made[step, rows - 1 - n_fluents] = inputs[step, rows]
        if phase is not None:
            for fluent, value in rules.phases[now].known.items():
                facts[step, fluent] = value
            made[step, list(rules.phases[now].forced)] = True
    moves = np.full((len(trace), N_LANES, len(rules.moves_of)), -1)
    for role, numbers in enumerate(rules.moves_of):
        ours = made[:, numbers.start : numbers.stop]
        if numbers:
            moves[:, :, role] = np.where(ours.any(axis=1), numbers.start + ours.argmax(axis=1), -1)
    return LaneTrace(inputs[:, 0], facts.transpose(0, 2, 1), moves)
