"""Questions about many packed states at once, 512 to a call of a kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels.choice import literal
from gdl.compiler.kernels.evaluation import GOALS, MOVES, PERCEPTS, STATE, advance, evaluate
from gdl.compiler.kernels.jit import kernel
from gdl.compiler.kernels.lanes import N_LANES, Spare
from gdl.compiler.kernels.playouts import Packed, Words, packed_rows, unpacked
from gdl.compiler.kernels.words import ONES, U, addresses, hold, rows, store
from gdl.compiler.tables import CompiledRules

Masks: TypeAlias = NDArray[np.bool_]


class Batch:
    """Answers about many states of a game. *Shapes*: N states, B bytes a state, M moves of all roles, R roles.

    States are packed as by `numpy.packbits` over the fluents, (N, B) uint8; a move is its number among those of all
    roles. Calls may come from several threads.
    """

    def __init__(self, rules: CompiledRules) -> None:
        self._rules = rules
        self._tables = rules.single
        self._n_goals = sum(map(len, rules.goals))

    def legal(self, packed: Packed) -> Masks:
        """Return which moves are legal, (N, M)."""
        return self._gathered(packed, len(self._rules.moves), self._legal)

    def terminal(self, packed: Packed) -> Masks:
        """Return which states are terminal, (N,)."""
        return self._gathered(packed, 1, self._terminal)[:, 0]

    def legal_and_terminal(self, packed: Packed) -> tuple[Masks, Masks]:
        """Return which moves are legal, (N, M), and which states are terminal, (N,)."""
        n_moves = len(self._rules.moves)
        found = self._gathered(packed, n_moves + 1, self._legal_and_terminal)
        return found[:, :n_moves], found[:, n_moves]

    def goals(self, packed: Packed) -> NDArray[np.int32]:
        """Return the goal of every role, (N, R); -1 where there is not exactly one, or it is no number."""
        holds = self._gathered(packed, self._n_goals, self._goals)
        found = np.full((len(packed), len(self._rules.goals)), -1, np.int32)
        first = 0
        for role, goals in enumerate(self._rules.goals):
            if goals:
                ours = holds[:, first : first + len(goals)]
                values = np.array([-1 if goal is None else goal for goal in goals], np.int32)
                found[:, role] = np.where(ours.sum(axis=1) == 1, values[ours.argmax(axis=1)], -1)
            first += len(goals)
        return found

    def next(self, packed: Packed, moves: NDArray[np.integer]) -> Packed:
        """Return the states after the legal joint moves *moves* (N, R), which are not checked."""
        n_fluents = len(self._rules.fluents)
        found = [np.zeros((0, n_fluents), np.bool_)]
        for n, values in self._moved(packed, moves):
            _step(self._tables, values)
            found.append(unpacked(values[1 : 1 + n_fluents]).T[:n])
        return np.packbits(np.concatenate(found), axis=1)

    def next_and_sees(self, packed: Packed, moves: NDArray[np.integer]) -> tuple[Packed, Masks]:
        """Return the states after the legal joint moves *moves* (N, R), and which percepts there are of them, (N, V).

        The V percepts are those of all roles, one role after the other; the moves are not checked.
        """
        t, n_fluents = self._tables, len(self._rules.fluents)
        states, percepts = [np.zeros((0, n_fluents), np.bool_)], [np.zeros((0, t.sees_value.shape[1]), np.bool_)]
        for n, values in self._moved(packed, moves):
            copied, seen = rows(len(t.copy_value)), rows(t.sees_value.shape[1])
            _evaluate_next(t, values)
            _read(values, t.copy_value, copied)
            following = values[1 : 1 + n_fluents].copy()
            following[t.copy_row - 1] = copied
            _evaluate_sees(t, values)
            _read(values, t.sees_value[0], seen)
            states.append(unpacked(following).T[:n])
            percepts.append(unpacked(seen).T[:n])
        return np.packbits(np.concatenate(states), axis=1), np.concatenate(percepts)

    def _moved(self, packed: Packed, moves: NDArray[np.integer]) -> Iterator[tuple[int, Words]]:
        """Yield how many of the lanes are used, and their rows as `_loads`, those of the moves with *moves* in them."""
        n_fluents = len(self._rules.fluents)
        for first, values in self._loads(packed):
            chosen = moves[first : first + N_LANES].astype(np.int64)
            bits = np.zeros((N_LANES, len(self._rules.moves)), np.uint8)
            np.put_along_axis(bits[: len(chosen)], chosen, 1, axis=1)
            values[1 + n_fluents : 1 + n_fluents + bits.shape[1]] = packed_rows(bits)
            yield len(chosen), values

    def _gathered(self, packed: Packed, width: int, ask: Callable[[Words], NDArray[np.int32]]) -> Masks:
        """Return the values of the literals that *ask* names after evaluation, (N, width)."""
        found = [np.zeros((0, width), np.bool_)]
        for first, values in self._loads(packed):
            answers = rows(width)
            _read(values, ask(values), answers)
            found.append(unpacked(answers).T[: len(packed) - first])
        return np.concatenate(found)

    def _loads(self, packed: Packed) -> Iterator[tuple[int, Words]]:
        """Yield the rows for up to 512 states each, what follows of the state alone evaluated."""
        n_fluents = len(self._rules.fluents)
        for first in range(0, len(packed), N_LANES):
            bits = np.unpackbits(packed[first : first + N_LANES], axis=1, count=n_fluents)
            values = rows(self._tables.n_rows)
            values[0] = ONES
            values[1 : 1 + n_fluents] = packed_rows(np.pad(bits, ((0, N_LANES - len(bits)), (0, 0))))
            _evaluate_states(self._tables, values)
            yield first, values

    def _legal(self, _values: Words) -> NDArray[np.int32]:
        return self._tables.choice_legal

    def _terminal(self, _values: Words) -> NDArray[np.int32]:
        return self._tables.terminal

    def _legal_and_terminal(self, _values: Words) -> NDArray[np.int32]:
        return np.concatenate([self._tables.choice_legal, self._tables.terminal])

    def _goals(self, values: Words) -> NDArray[np.int32]:
        _score(self._tables, values)
        found: NDArray[np.int32] = self._tables.goal_value[0]
        return found


@kernel
def _evaluate_states(t, values):
    evaluate(values, addresses(t), 0, STATE)


@kernel
def _score(t, values):
    evaluate(values, addresses(t), 0, GOALS)


@kernel
def _step(t, values):
    evaluate(values, addresses(t), 0, MOVES)
    new = np.empty((t.n_fluents + 1, values.shape[1]), np.uint64)
    advance(values, addresses(t), 0, addresses(Spare(new)).rows)
    hold(new)


@kernel
def _evaluate_next(t, values):
    evaluate(values, addresses(t), 0, MOVES)


@kernel
def _evaluate_sees(t, values):
    evaluate(values, addresses(t), 0, PERCEPTS)


@kernel
def _read(values, literals, answers):
    for i in range(len(literals)):
        store(answers, U(i), literal(values, literals[i]))
