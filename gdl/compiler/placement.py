"""The gates of a phase in the order in which a kernel walks them, and the row of each node.

They are in topological order: first what the state alone decides, then what needs the moves, then the goals and the
percepts; near one another, those of the same shape are in runs, so that the processor foresees how many inputs come.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.circuit import Circuit
from gdl.compiler.gates import Lit
from gdl.compiler.netlist import InputLists, Numbers, each_once
from gdl.compiler.phases import Phase
from gdl.datalog.dependencies import components_of

Flags: TypeAlias = NDArray[np.bool_]

_WINDOW: Final = 1024
"""How many gates are ordered by shape together: far more, and too many values wait for their readers."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the gates of a phase are.

    *Shapes*: N nodes, G gates in their order, L pairs of loops. `segments` (S, 4): gates from, to, loop pairs from, to.
    `parts` (5,): where the segments begin that are for legal moves and terminal, for next fluents, for goals, for
    percepts, and their end. `gate_row`, `n_inputs` and `n_plain` (G,): the row of each gate, how many inputs it has,
    and how many of these are plain; `gate_input` the rows of all, the plain inputs of a gate first. `loop_row` and
    `loop_value` (L,). `rows` (N,): the row of each node, -1 of one that nothing needs.
    """

    segments: Sequence[tuple[int, int, int, int]]
    parts: Sequence[int]
    gate_row: Numbers
    n_inputs: Numbers
    n_plain: Numbers
    gate_input: Numbers
    loop_row: Numbers
    loop_value: Numbers
    rows: Numbers

    def literals(self, literals: Iterable[Lit]) -> list[Lit]:
        """Return literals of rows for those of nodes."""
        found: list[Lit] = _moved(np.array(tuple(literals), np.int64), self.rows).tolist()
        return found


def place(circuit: Circuit, phase: Phase) -> Placement:
    """Return where the gates of *phase* of *circuit* are."""
    walk = _Walk(circuit, phase)
    legal = [phase.legal[i] for choice in phase.choices for i in choice]
    goals = [x for values in phase.goals for _, x in values]
    of_state = walk.add_cone([*legal, phase.terminal], np.zeros(len(phase.gates), np.bool_))
    of_move = walk.add_cone(phase.next, of_state)
    walk.add_cone(goals, of_state)
    walk.add_cone(phase.sees, of_move)
    return walk.placement()


def _moved(literals: Numbers, rows: Numbers) -> Numbers:
    found: Numbers = 2 * rows[literals >> 1] + (literals & 1)
    return found


class _Walk:
    """Gates in their order, cone by cone; `_written` are gates and nodes of loops as they are written."""

    def __init__(self, circuit: Circuit, phase: Phase) -> None:
        self._first_gate = circuit.n_inputs
        self._values = {node: x for loop in phase.loops for node, x in zip(loop.nodes, loop.values, strict=True)}
        below = [(self._values[node],) if node in self._values else inputs for node, inputs in enumerate(phase.gates)]
        self._inputs = InputLists(below)
        self._place = np.full(len(below), -1)
        self._written: list[int] = []
        self._gates: list[int] = []
        self._loop_nodes: list[int] = []
        self._segments: list[tuple[int, int, int, int]] = []
        self._parts = [0]
        self._mark = (0, 0)

    def add_cone(self, outputs: Iterable[Lit], done: Flags) -> Flags:
        """Write the gates that *outputs* need beside those *done*; return all that are then done.

        A gate may be written in several parts, since goals are asked for before moves are known; it has one row.
        """
        is_done = done.copy()
        is_done[: self._first_gate] = True
        new: Numbers = np.array(tuple(outputs), np.int64) >> 1
        while (new := self._once(new[~is_done[new]])).size:
            is_done[new] = True
            new = self._inputs.of(new) >> 1
        nodes = np.flatnonzero(is_done & ~done)
        nodes = nodes[nodes >= self._first_gate]
        if self._values:
            self._add_with_loops(nodes)
        else:
            self._add_gates(nodes)
        self._end_segment()
        self._parts.append(len(self._segments))
        return is_done

    def _once(self, nodes: Numbers) -> Numbers:
        """Return each of *nodes* once."""
        found = each_once(nodes, self._place)
        self._place[nodes] = -1
        return found

    def _add_with_loops(self, nodes: Numbers) -> None:
        plain: list[int] = []
        for component in self._components(nodes):
            if len(component) == 1 and component[0] not in self._values:
                plain.append(component[0])
                continue
            self._add_gates(np.array(plain, np.int64))
            plain.clear()
            self._end_segment()
            loop_nodes = [node for node in component if node in self._values]
            gates = sorted(node for node in component if node not in self._values)
            self._written += loop_nodes + gates
            self._gates += gates
            self._loop_nodes += loop_nodes
            self._end_segment()
        self._add_gates(np.array(plain, np.int64))

    def _components(self, nodes: Numbers) -> list[tuple[int, ...]]:
        """Return *nodes*, those together that depend on one another, after all that they depend on."""
        numbers = np.arange(nodes.size)
        self._place[nodes] = numbers
        needed = self._place[self._inputs.of(nodes) >> 1]
        self._place[nodes] = -1
        reader = np.repeat(numbers, self._inputs.sizes[nodes])[needed >= 0]
        limits = np.searchsorted(reader, np.arange(nodes.size + 1)).tolist()
        successors = needed[needed >= 0].tolist()
        found = components_of([successors[limits[i] : limits[i + 1]] for i in range(nodes.size)])
        return [tuple(nodes[list(component)].tolist()) for component in found]

    def _end_segment(self) -> None:
        mark = (len(self._gates), len(self._loop_nodes))
        if mark != self._mark:
            self._segments.append((self._mark[0], mark[0], self._mark[1], mark[1]))
            self._mark = mark

    def _add_gates(self, nodes: Numbers) -> None:
        """Add gates in topological order, of those near one another and ready as many of a shape in a row as can be."""
        if nodes.size:
            gates = self._by_shape(nodes)
            self._written += gates
            self._gates += gates

    def _by_shape(self, nodes: Numbers) -> list[int]:
        numbers = np.arange(nodes.size)
        inputs, sizes = self._inputs.of(nodes), self._inputs.sizes[nodes]
        reader = np.repeat(numbers, sizes)
        shape = (sizes << 32) + np.bincount(reader[(inputs & 1).astype(np.bool_)], minlength=nodes.size)
        self._place[nodes] = numbers
        needed = self._place[inputs >> 1]
        self._place[nodes] = -1
        is_near = (needed >= 0) & (needed // _WINDOW == reader // _WINDOW)
        needed, reader = needed[is_near], reader[is_near]
        by_needed = np.argsort(needed, kind="stable")
        limits = np.searchsorted(needed[by_needed], np.arange(nodes.size + 1))
        n_missing = np.bincount(reader, minlength=nodes.size)
        order = _in_runs(shape.tolist(), n_missing.tolist(), reader[by_needed].tolist(), limits.tolist())
        found: list[int] = nodes[order].tolist()
        return found

    def placement(self) -> Placement:
        rows = self._rows()
        gates = np.array(self._gates, np.int64)
        inputs, sizes = self._inputs.of(gates), self._inputs.sizes[gates]
        is_complement = (inputs & 1).astype(np.bool_)
        gate = np.repeat(np.arange(gates.size), sizes)
        plain_first = np.argsort(2 * gate + is_complement, kind="stable")
        loop_values = np.array([self._values[node] for node in self._loop_nodes], np.int64)
        return Placement(
            segments=self._segments,
            parts=self._parts,
            gate_row=rows[gates],
            n_inputs=sizes,
            n_plain=sizes - np.bincount(gate[is_complement], minlength=gates.size),
            gate_input=rows[inputs >> 1][plain_first],
            loop_row=rows[np.array(self._loop_nodes, np.int64)],
            loop_value=_moved(loop_values, rows),
            rows=rows,
        )

    def _rows(self) -> Numbers:
        """Return the row of each node: inputs first, then what is written, in the order in which that first is."""
        written = np.array(self._written, np.int64)
        rows = np.full(len(self._place), -1)
        rows[: self._first_gate] = np.arange(self._first_gate)
        rows[written[::-1]] = np.arange(written.size)[::-1]
        new = written[rows[written] == np.arange(written.size)]
        rows[new] = self._first_gate + np.arange(new.size)
        return rows


def _in_runs(shape: Sequence[int], n_missing: list[int], readers: Sequence[int], limits: Sequence[int]) -> list[int]:
    """Return numbers in such an order that long runs of those near one another have the same *shape*.

    Number i is needed by `readers[limits[i] : limits[i + 1]]`; `n_missing[i]` says how many others it needs.
    """
    order: list[int] = []
    for first in range(0, len(shape), _WINDOW):
        ready: dict[int, list[int]] = {}
        for i in range(first, min(first + _WINDOW, len(shape))):
            if not n_missing[i]:
                ready.setdefault(shape[i], []).append(i)
        while ready:
            longest = max(ready, key=lambda each: len(ready[each]))
            run = ready[longest]
            for i in run:  # grows as what it needs is there
                for reader in readers[limits[i] : limits[i + 1]]:
                    n_missing[reader] -= 1
                    if not n_missing[reader]:
                        ready.setdefault(shape[reader], []).append(reader)
            order += run
            del ready[longest]
    return order
