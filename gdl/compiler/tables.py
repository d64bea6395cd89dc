"""Circuits as flat arrays, in the order in which a kernel walks them.

Rows hold the values of nodes: the constant, fluents, moves and nodes of loops first, then the gates of the phase
at work. A schedule is a list of segments: gates in topological order, and loops to be repeated until they are stable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.circuit import Circuit
from gdl.compiler.gates import FALSE, Inputs, Lit
from gdl.compiler.phases import Phase
from gdl.datalog.dependencies import components_of

Ints: TypeAlias = NDArray[np.int32]


class Tables(NamedTuple):
    """What a kernel reads, for all phases.

    The first `n_inputs` rows are the constant, `n_fluents` fluents and the moves; the last is spare.
    *Shapes*: P phases. `segments` (S, 4): gates from, to, loop pairs from, to. `parts` (P, 5): where the segments of a
    phase begin: those for legal moves and terminal, for next fluents, for goals, for percepts, and their end.
    `run_start` (S+1,) limits the `runs` (., 3) of each segment: gates up to the third number with the same number of
    plain and of complemented inputs.
    `gate_start`, `gate_middle` and `gate_row` per gate; `gate_input` the rows of its plain, then of its complemented
    inputs; `loop_row` and `loop_value` per pair. `copy_start` (P, 3) limits the
    pairs `copy_row`, `copy_value` of a phase: first those whose source may be overwritten, then the others.
    `role_start` (P, R+1) limits `choice_legal`, `choice_row`; `block_start` (P, R+1) limits `block_legal`, `block_row`,
    the same moves in whole blocks; `terminal` (P,); `goal_value` (P, G) and `sees_value` (P, V) literals.
    """

    n_rows: int
    n_fluents: int
    n_inputs: int
    segments: Ints
    parts: Ints
    run_start: Ints
    runs: Ints
    gate_start: Ints
    gate_middle: Ints
    gate_row: Ints
    gate_input: Ints
    loop_row: Ints
    loop_value: Ints
    copy_start: Ints
    copy_row: Ints
    copy_value: Ints
    role_start: Ints
    choice_legal: Ints
    choice_row: Ints
    block_start: Ints
    block_legal: Ints
    block_row: Ints
    terminal: Ints
    goal_value: Ints
    sees_value: Ints


@dataclass(slots=True)
class _Writer:
    """The arrays under construction."""

    segments: list[tuple[int, int, int, int]] = field(default_factory=list)
    gate_start: list[int] = field(default_factory=list)
    gate_middle: list[int] = field(default_factory=list)
    gate_row: list[int] = field(default_factory=list)
    gate_input: list[int] = field(default_factory=list)
    loop_row: list[int] = field(default_factory=list)
    loop_value: list[int] = field(default_factory=list)
    n_rows: int = 0

    def add_gate(self, row: int, inputs: Sequence[Lit]) -> None:
        self.gate_row.append(row)
        self.gate_start.append(len(self.gate_input))
        self.gate_input += [x >> 1 for x in inputs if not x & 1]
        self.gate_middle.append(len(self.gate_input))
        self.gate_input += [x >> 1 for x in inputs if x & 1]

    def mark(self) -> tuple[int, int]:
        return len(self.gate_row), len(self.loop_row)


def tables(circuit: Circuit, parts: Sequence[Phase]) -> Tables:
    """Return the arrays of all phases of *circuit*."""
    writer = _Writer(n_rows=circuit.n_inputs)
    n_fluents = len(circuit.fluents)
    copies: list[tuple[int, int]] = []
    legal: list[int] = []
    limits, copy_start, roles, rows, terminal, goals, sees = [], [], [], [], [], [], []
    for phase in parts:
        place = _Placing(circuit, phase, writer)
        limits.append(place.write())
        staged, direct = _copies(phase, n_fluents, place)
        copy_start.append((len(copies), len(copies) + len(staged), len(copies) + len(staged) + len(direct)))
        copies += staged + direct
        starts = [len(legal)]
        for choice in phase.choices:
            legal += [place.literal(phase.legal[i]) for i in choice]
            rows += [1 + n_fluents + i for i in choice]
            starts.append(len(legal))
        roles.append(starts)
        terminal.append(place.literal(phase.terminal))
        goals.append([place.literal(x) for values in phase.goals for _, x in values])
        sees.append([place.literal(x) for x in phase.sees])
    widest = max(map(len, roles))
    blocks = _blocks(roles, legal, rows, spare=writer.n_rows)
    roles = [starts + [starts[-1]] * (widest - len(starts)) for starts in roles]
    starts_of_runs, runs = _runs(writer)
    return Tables(
        n_rows=writer.n_rows + 1,
        n_fluents=n_fluents,
        n_inputs=circuit.n_inputs,
        segments=_ints(writer.segments, 4),
        parts=_ints(limits, 5),
        run_start=starts_of_runs,
        runs=runs,
        gate_start=_ints([*writer.gate_start, len(writer.gate_input)]),
        gate_middle=_ints(writer.gate_middle),
        gate_row=_ints(writer.gate_row),
        gate_input=_ints(writer.gate_input),
        loop_row=_ints(writer.loop_row),
        loop_value=_ints(writer.loop_value),
        copy_start=_ints(copy_start, 3),
        copy_row=_ints([row for row, _ in copies]),
        copy_value=_ints([value for _, value in copies]),
        role_start=_ints(roles, widest),
        choice_legal=_ints(legal),
        choice_row=_ints(rows),
        block_start=_ints(blocks.starts, widest),
        block_legal=_ints(blocks.legal),
        block_row=_ints(blocks.row),
        terminal=_ints(terminal),
        goal_value=_ints(goals, len(goals[0])),
        sees_value=_ints(sees, len(sees[0])),
    )


_WINDOW: Final = 1024
"""How many gates are ordered by shape together: far more, and too many values wait for their readers."""
BLOCK: Final = 8
"""Moves in a block; moves that are never legal fill up the last block of a role."""


class _Blocks(NamedTuple):
    """The moves that may be chosen, in blocks."""

    starts: list[list[int]]
    legal: list[Lit]
    row: list[int]


def _blocks(roles: Sequence[Sequence[int]], legal: Sequence[Lit], rows: Sequence[int], spare: int) -> _Blocks:
    """Return the choices with each role's filled up to whole blocks, by moves that set the row *spare*."""
    blocks = _Blocks([], [], [])
    widest = max(map(len, roles))
    for starts in roles:
        limits = [len(blocks.legal)]
        for begin, end in pairwise(starts):
            missing = (begin - end) % BLOCK
            blocks.legal.extend([*legal[begin:end], *[FALSE] * missing])
            blocks.row.extend([*rows[begin:end], *[spare] * missing])
            limits.append(len(blocks.legal))
        blocks.starts.append(limits + [limits[-1]] * (widest - len(limits)))
    return blocks


def _runs(writer: _Writer) -> tuple[Ints, Ints]:
    """Return where the runs of each segment begin, and the runs: gates of a segment that have the same shape."""
    n_gates = len(writer.gate_row)
    starts = np.array([*writer.gate_start, len(writer.gate_input)])
    middles = np.array(writer.gate_middle, np.int64)
    shapes = np.stack([middles - starts[:-1], starts[1:] - middles], axis=1).reshape(n_gates, 2)
    limits = np.array([0, *(segment[1] for segment in writer.segments)])
    is_first = np.ones(n_gates, np.bool_)
    is_first[1:] = (shapes[1:] != shapes[:-1]).any(axis=1)
    is_first[limits[limits < n_gates]] = True
    first = np.flatnonzero(is_first)
    runs = np.column_stack([shapes[first], np.append(first, n_gates)[1:]]).astype(np.int32)
    return np.searchsorted(first, limits).astype(np.int32), runs


def _ints(values: Sequence[object], width: int | None = None) -> Ints:
    array = np.array(values, np.int32)
    return array if width is None else array.reshape(len(values), width)


def _copies(phase: Phase, n_fluents: int, place: _Placing) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return which fluents get which literals next, those first that read another fluent's row."""
    pairs = [
        (1 + i, place.literal(literal))
        for i, literal in enumerate(phase.next)
        if i not in phase.known and literal != 2 * (1 + i)
    ]
    return (
        [pair for pair in pairs if 0 < pair[1] >> 1 <= n_fluents],
        [pair for pair in pairs if not 0 < pair[1] >> 1 <= n_fluents],
    )


def _by_shape(nodes: Sequence[int], gates: Sequence[Inputs]) -> Iterator[int]:
    """Yield *nodes*, which are in topological order, in such an order that long runs have the same shape."""
    missing = dict.fromkeys(nodes, 0)
    readers: dict[int, list[int]] = {}
    shape_of: dict[int, tuple[int, int]] = {}
    ready: dict[tuple[int, int], list[int]] = {}
    for node in nodes:
        inputs = gates[node] or ()
        below = [x >> 1 for x in inputs if x >> 1 in missing]
        missing[node] = len(below)
        for x in below:
            readers.setdefault(x, []).append(node)
        n_complemented = sum(x & 1 for x in inputs)
        shape_of[node] = (len(inputs) - n_complemented, n_complemented)
        if not below:
            ready.setdefault(shape_of[node], []).append(node)
    while ready:
        shape = max(ready, key=lambda shape: len(ready[shape]))
        run = ready[shape]
        for node in run:  # grows as what it needs is there
            yield node
            for reader in readers.get(node, ()):
                missing[reader] -= 1
                if not missing[reader]:
                    ready.setdefault(shape_of[reader], []).append(reader)
        del ready[shape]


class _Placing:
    """Gives the nodes of one phase rows, cone by cone, and writes their gates in order."""

    def __init__(self, circuit: Circuit, phase: Phase, writer: _Writer) -> None:
        self._phase = phase
        self._writer = writer
        self._rows = {node: node for node in range(circuit.n_inputs)}
        self._n_inputs = self._next_row = circuit.n_inputs
        self._values = {node: x for loop in phase.loops for node, x in zip(loop.nodes, loop.values, strict=True)}

    def literal(self, literal: Lit) -> Lit:
        return 2 * self._rows[literal >> 1] + (literal & 1)

    def write(self) -> tuple[int, int, int, int, int]:
        phase = self._phase
        legal = [phase.legal[i] for choice in phase.choices for i in choice]
        marks = [len(self._writer.segments)]
        goals = [x for values in phase.goals for _, x in values]
        of_state = self._write_cone([*legal, phase.terminal], frozenset())
        marks.append(len(self._writer.segments))
        of_move = self._write_cone(phase.next, of_state)
        marks.append(len(self._writer.segments))
        self._write_cone(goals, of_state)
        marks.append(len(self._writer.segments))
        self._write_cone(phase.sees, of_move)
        marks.append(len(self._writer.segments))
        self._writer.n_rows = max(self._writer.n_rows, self._next_row)
        return marks[0], marks[1], marks[2], marks[3], marks[4]

    def _write_cone(self, outputs: Iterable[Lit], done: frozenset[int]) -> frozenset[int]:
        """Write the gates that *outputs* need beside those *done*; return all that are then done.

        A gate may be written in several parts, since goals are asked for before moves are known; it has one row.
        """
        begin = self._writer.mark()
        cone = self._cone(outputs, done)
        plain: list[int] = []
        for component in self._ordered(cone):
            if len(component) == 1 and component[0] not in self._values:
                plain.append(component[0])
                continue
            self._write_by_shape(plain)
            plain.clear()
            self._end_segment(begin)
            begin = self._writer.mark()
            self._write_loop(component)
            self._end_segment(begin)
            begin = self._writer.mark()
        self._write_by_shape(plain)
        self._end_segment(begin)
        return done | cone

    def _write_by_shape(self, nodes: Sequence[int]) -> None:
        """Write gates, of those near one another and ready as many of a shape in a row as there are."""
        for first in range(0, len(nodes), _WINDOW):
            self._write_gates(_by_shape(nodes[first : first + _WINDOW], self._phase.gates))

    def _end_segment(self, begin: tuple[int, int]) -> None:
        end = self._writer.mark()
        if end != begin:
            self._writer.segments.append((begin[0], end[0], begin[1], end[1]))

    def _write_gates(self, nodes: Iterable[int]) -> None:
        for node in nodes:
            inputs = self._phase.gates[node]
            assert inputs is not None
            literals = [self.literal(x) for x in inputs]
            self._writer.add_gate(self._take_row(node), literals)

    def _write_loop(self, component: Sequence[int]) -> None:
        loop_nodes = [node for node in component if node in self._values]
        for node in loop_nodes:
            self._take_row(node)
        self._write_gates(sorted(node for node in component if node not in self._values))
        self._writer.loop_row += [self._rows[node] for node in loop_nodes]
        self._writer.loop_value += [self.literal(self._values[node]) for node in loop_nodes]

    def _take_row(self, node: int) -> int:
        row = self._rows.get(node)
        if row is None:
            row = self._rows[node] = self._next_row
            self._next_row += 1
        return row

    def _ordered(self, nodes: frozenset[int]) -> list[tuple[int, ...]]:
        cone = sorted(nodes)
        if not self._values:
            return [(node,) for node in cone]
        place = {node: i for i, node in enumerate(cone)}
        successors = [[place[x >> 1] for x in self._below(node) if x >> 1 in place] for node in cone]
        return [tuple(cone[i] for i in component) for component in components_of(successors)]

    def _below(self, node: int) -> Sequence[Lit]:
        return (self._values[node],) if node in self._values else self._phase.gates[node] or ()

    def _cone(self, outputs: Iterable[Lit], done: frozenset[int]) -> frozenset[int]:
        found: set[int] = set()
        todo = [literal >> 1 for literal in outputs]
        while todo:
            node = todo.pop()
            if node not in found and node not in done and not self._is_input(node):
                found.add(node)
                todo += [x >> 1 for x in self._below(node)]
        return frozenset(found)

    def _is_input(self, node: int) -> bool:
        return node < self._n_inputs
