"""Circuits as flat arrays, in the order in which a kernel walks them.

Rows hold the values of nodes: the constant, fluents, moves and nodes of loops first, then the gates of the phase
at work. A schedule is a list of segments: gates in topological order, and loops to be repeated until they are stable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.circuit import Circuit
from gdl.compiler.gates import FALSE
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
    """The assumptions of a phase: the fluents whose values are known, and the moves that are forced, by number.

    `controls` are the control states that plays have at it, values of some fluents, the same in all phases.
    """

    known: Mapping[int, bool]
    forced: tuple[int, ...]
    controls: tuple[Mapping[int, bool], ...] = ()


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


def phase_inputs(parts: Sequence[Phase]) -> tuple[PhaseInputs, ...]:
    """Return what is assumed at each of *parts*."""
    return tuple(PhaseInputs(phase.known, phase.forced, phase.controls) for phase in parts)


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
    role_start = _ints([starts + [starts[-1]] * (widest - len(starts)) for starts in roles])
    blocks = _blocks(role_start, _ints(legal), _ints(rows), np.zeros(len(rows), np.int64), spare=n_rows)
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
        role_start=role_start,
        choice_legal=_ints(legal),
        choice_row=_ints(rows),
        block_start=blocks.start,
        block_legal=blocks.legal,
        block_row=blocks.row,
        terminal=_ints(terminal),
        goal_value=_ints(goals),
        sees_value=_ints(sees),
    )


BLOCK: Final = 8
"""Moves in a block; moves that are never legal fill up the last block of a role's moves of a level."""
N_LEVELS: Final = 4
"""Levels of moves where some are preferred, the lowest is 0."""


class _Blocks(NamedTuple):
    """The moves that may be chosen, in blocks of one level; `level` (blocks,) is that of each."""

    start: Ints
    legal: Ints
    row: Ints
    level: Ints


def _blocks(role_start: Ints, legal: Ints, row: Ints, level: NDArray[np.int64], spare: int) -> _Blocks:
    """Return each role's choices by *level*, the highest first, in whole blocks, filled up by moves that set *spare*.

    *Shapes*: `role_start` (P, R+1); the others, an item for each choice of a role at a phase, (choices,).
    """
    n_phases, n_roles = role_start.shape[0], role_start.shape[1] - 1
    chooser = np.repeat(np.arange(n_phases * n_roles), np.diff(role_start, axis=1).ravel())
    group = chooser * N_LEVELS + (N_LEVELS - 1 - level)
    n_moves = np.bincount(group, minlength=n_phases * n_roles * N_LEVELS)
    n_blocks = -(-n_moves // BLOCK)
    first = BLOCK * np.concatenate([[0], np.cumsum(n_blocks)])
    order = np.argsort(group, kind="stable")
    before = np.concatenate([[0], np.cumsum(n_moves)])
    place = first[group[order]] + np.arange(len(order)) - before[group[order]]
    filled, target = np.full(first[-1], FALSE, np.int32), np.full(first[-1], spare, np.int32)
    filled[place], target[place] = legal[order], row[order]
    start = first[::N_LEVELS][n_roles * np.arange(n_phases)[:, None] + np.arange(n_roles + 1)]
    of_groups = np.tile(np.arange(N_LEVELS)[::-1], n_phases * n_roles)
    return _Blocks(start.astype(np.int32), filled, target, np.repeat(of_groups, n_blocks).astype(np.int32))


class LevelledTables(NamedTuple):
    """Tables, and the level of the moves of each of their blocks. *Shape*: `level` (blocks,)."""

    tables: Tables
    level: Ints


def levelled(base: Tables, level_of: NDArray[np.int64]) -> LevelledTables:
    """Return the *base* with each role's moves in blocks of one level, the highest first, which a choice may prefer.

    *Shape*: `level_of` (M,), the level of each move, below `N_LEVELS`.
    """
    level = level_of[base.choice_row - 1 - base.n_fluents]
    blocks = _blocks(base.role_start, base.choice_legal, base.choice_row, level, spare=base.n_rows - 1)
    of_blocks = base._replace(block_start=blocks.start, block_legal=blocks.legal, block_row=blocks.row)
    return LevelledTables(of_blocks, blocks.level)


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
