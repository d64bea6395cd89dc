"""Circuits as flat arrays, in the order in which a kernel walks them.

Rows hold the values of nodes: the constant, fluents, moves and nodes of loops first, then the gates of the phase
at work. A schedule is a list of segments: gates in topological order, and loops to be repeated until they are stable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.circuit import Circuit
from gdl.compiler.gates import FALSE, Lit
from gdl.compiler.netlist import Numbers
from gdl.compiler.phases import Phase
from gdl.compiler.placement import Placement, place
from gdl.language.terms import Term

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


@dataclass(frozen=True, slots=True)
class PhaseInputs:
    """The assumptions of a phase: the fluents whose values are known, and the moves that are forced, by number."""

    known: Mapping[int, bool]
    forced: tuple[int, ...]


@dataclass(frozen=True, slots=True, weakref_slot=True)
class CompiledRules:
    """A game as tables, with the terms that their rows stand for.

    `moves_of[r]` are the numbers of role r's moves; `initial` the numbers of the fluents of the first state; `goals`
    and `sees` the values and percepts of every role, a value None where it is no number. `single` serves every state;
    `phased` the plays that stand at one of `phases`, `decisive`, where it is worth it, those that look a move ahead.
    """

    fluents: tuple[Term, ...]
    moves: tuple[Term, ...]
    moves_of: tuple[range, ...]
    initial: tuple[int, ...]
    goals: tuple[tuple[int | None, ...], ...]
    sees: tuple[tuple[Term, ...], ...]
    single: Tables
    phased: Tables
    phases: tuple[PhaseInputs, ...]
    decisive: Tables | None = None


def tables(circuit: Circuit, parts: Sequence[Phase]) -> Tables:
    """Return the arrays of all phases of *circuit*."""
    n_fluents = len(circuit.fluents)
    copies: list[tuple[int, int]] = []
    legal: list[int] = []
    copy_start, roles, rows, terminal, goals, sees = [], [], [], [], [], []
    placements = [place(circuit, phase) for phase in parts]
    for phase, placement in zip(parts, placements, strict=True):
        staged, direct = _copies(phase, n_fluents, placement)
        copy_start.append((len(copies), len(copies) + len(staged), len(copies) + len(staged) + len(direct)))
        copies += staged + direct
        starts = [len(legal)]
        for choice in phase.choices:
            legal += placement.literals(phase.legal[i] for i in choice)
            rows += [1 + n_fluents + i for i in choice]
            starts.append(len(legal))
        roles.append(starts)
        terminal += placement.literals([phase.terminal])
        goals.append(placement.literals(x for values in phase.goals for _, x in values))
        sees.append(placement.literals(phase.sees))
    n_rows = max(circuit.n_inputs, *(1 + int(placement.rows.max()) for placement in placements))
    widest = max(map(len, roles))
    blocks = _blocks(roles, legal, rows, spare=n_rows)
    roles = [starts + [starts[-1]] * (widest - len(starts)) for starts in roles]
    segments, limits = _segments(placements)
    n_inputs = _joined(each.n_inputs for each in placements)
    gate_start = np.concatenate([[0], np.cumsum(n_inputs)])
    gate_middle = gate_start[:-1] + _joined(each.n_plain for each in placements)
    run_start, runs = _runs(segments, gate_start, gate_middle)
    return Tables(
        n_rows=n_rows + 1,
        n_fluents=n_fluents,
        n_inputs=circuit.n_inputs,
        segments=segments,
        parts=limits,
        run_start=run_start,
        runs=runs,
        gate_start=gate_start.astype(np.int32),
        gate_middle=gate_middle.astype(np.int32),
        gate_row=_joined(each.gate_row for each in placements),
        gate_input=_joined(each.gate_input for each in placements),
        loop_row=_joined(each.loop_row for each in placements),
        loop_value=_joined(each.loop_value for each in placements),
        copy_start=_ints(copy_start),
        copy_row=_ints([row for row, _ in copies]),
        copy_value=_ints([value for _, value in copies]),
        role_start=_ints(roles),
        choice_legal=_ints(legal),
        choice_row=_ints(rows),
        block_start=_ints(blocks.starts),
        block_legal=_ints(blocks.legal),
        block_row=_ints(blocks.row),
        terminal=_ints(terminal),
        goal_value=_ints(goals),
        sees_value=_ints(sees),
    )


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


def _joined(arrays: Iterable[Numbers]) -> Ints:
    return np.concatenate([array.astype(np.int32) for array in arrays])


def _segments(placements: Sequence[Placement]) -> tuple[Ints, Ints]:
    """Return the segments of all phases, and where those of the parts of each phase begin."""
    segments, limits = [], []
    n_segments = n_gates = n_pairs = 0
    for each in placements:
        limits.append(n_segments + np.array(each.parts))
        segments.append(np.array(each.segments).reshape(-1, 4) + np.array([n_gates, n_gates, n_pairs, n_pairs]))
        n_segments += len(each.segments)
        n_gates += len(each.gate_row)
        n_pairs += len(each.loop_row)
    return _joined(segments), _joined(limits).reshape(-1, 5)


def _runs(segments: Ints, starts: Numbers, middles: Numbers) -> tuple[Ints, Ints]:
    """Return where the runs of each segment begin, and the runs: gates of a segment that have the same shape."""
    n_gates = len(middles)
    shapes = np.stack([middles - starts[:-1], starts[1:] - middles], axis=1).reshape(n_gates, 2)
    limits = np.concatenate([[0], segments[:, 1]])
    is_first = np.ones(n_gates, np.bool_)
    is_first[1:] = (shapes[1:] != shapes[:-1]).any(axis=1)
    is_first[limits[limits < n_gates]] = True
    first = np.flatnonzero(is_first)
    runs = np.column_stack([shapes[first], np.append(first, n_gates)[1:]]).astype(np.int32)
    return np.searchsorted(first, limits).astype(np.int32), runs


def _ints(values: Sequence[object]) -> Ints:
    return np.array(values, np.int32)


def _copies(phase: Phase, n_fluents: int, placement: Placement) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return which fluents get which literals next, those first that read another fluent's row."""
    values = placement.literals(phase.next)
    pairs = [
        (1 + i, values[i]) for i, literal in enumerate(phase.next) if i not in phase.known and literal != 2 * (1 + i)
    ]
    return (
        [pair for pair in pairs if 0 < pair[1] >> 1 <= n_fluents],
        [pair for pair in pairs if not 0 < pair[1] >> 1 <= n_fluents],
    )
