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


_Placed: TypeAlias = tuple[Phase, Placement]
"""A phase, and where its gates and their values are."""


def tables(circuit: Circuit, parts: Sequence[Phase]) -> Tables:
    """Return the arrays of all phases of *circuit*."""
    n_fluents = len(circuit.fluents)
    placements = [place(circuit, phase) for phase in parts]
    placed = list(zip(parts, placements, strict=True))
    n_rows = max(circuit.n_inputs, *(1 + int(placement.rows.max()) for placement in placements))
    copies = _copies(placed, n_fluents)
    choices = _choices(placed, n_fluents)
    blocks = _blocks(choices, np.zeros(len(choices.row), np.int64), spare=n_rows)
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
        copy_start=copies.start,
        copy_row=copies.row,
        copy_value=copies.value,
        role_start=choices.start,
        choice_legal=choices.legal,
        choice_row=choices.row,
        block_start=blocks.start,
        block_legal=blocks.legal,
        block_row=blocks.row,
        terminal=_ints([placement.literals([phase.terminal])[0] for phase, placement in placed]),
        goal_value=_ints([placement.literals(x for of in phase.goals for _, x in of) for phase, placement in placed]),
        sees_value=_ints([placement.literals(phase.sees) for phase, placement in placed]),
    )


class _Choices(NamedTuple):
    """The moves that may be legal. *Shapes*: `start` (P, R+1) limits `legal`, literals, and `row` of a role's moves."""

    start: Ints
    legal: Ints
    row: Ints


def _choices(placed: Sequence[_Placed], n_fluents: int) -> _Choices:
    starts: list[list[int]] = []
    legal: list[int] = []
    rows: list[int] = []
    for phase, placement in placed:
        starts.append([len(legal)])
        for choice in phase.choices:
            legal += placement.literals(phase.legal[i] for i in choice)
            rows += [1 + n_fluents + i for i in choice]
            starts[-1].append(len(legal))
    widest = max(map(len, starts))
    return _Choices(_ints([each + each[-1:] * (widest - len(each)) for each in starts]), _ints(legal), _ints(rows))


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


def _blocks(choices: _Choices, level: NDArray[np.int64], spare: int) -> _Blocks:
    """Return each role's choices by *level*, the highest first, in whole blocks, filled up by moves that set *spare*.

    *Shape*: `level` (choices,).
    """
    n_phases, n_roles = choices.start.shape[0], choices.start.shape[1] - 1
    chooser = np.repeat(np.arange(n_phases * n_roles), np.diff(choices.start, axis=1).ravel())
    group = chooser * N_LEVELS + (N_LEVELS - 1 - level)
    n_moves = np.bincount(group, minlength=n_phases * n_roles * N_LEVELS)
    n_blocks = -(-n_moves // BLOCK)
    first = BLOCK * np.concatenate([[0], np.cumsum(n_blocks)])
    order = np.argsort(group, kind="stable")
    before = np.concatenate([[0], np.cumsum(n_moves)])
    place = first[group[order]] + np.arange(len(order)) - before[group[order]]
    filled, target = np.full(first[-1], FALSE, np.int32), np.full(first[-1], spare, np.int32)
    filled[place], target[place] = choices.legal[order], choices.row[order]
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
    choices = _Choices(base.role_start, base.choice_legal, base.choice_row)
    blocks = _blocks(choices, level, spare=base.n_rows - 1)
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


class _Copies(NamedTuple):
    """Which fluents get which literals next. *Shapes*: `start` (P, 3) limits `row` and `value` of a phase."""

    start: Ints
    row: Ints
    value: Ints


def _copies(placed: Sequence[_Placed], n_fluents: int) -> _Copies:
    """Return the copies of each phase: first those that read another fluent's row, which may be overwritten."""
    starts: list[list[int]] = []
    copies: list[tuple[int, int]] = []
    for phase, placement in placed:
        values = placement.literals(phase.next)
        kept = [i for i, literal in enumerate(phase.next) if i not in phase.known and literal != 2 * (1 + i)]
        staged = [(1 + i, values[i]) for i in kept if 0 < values[i] >> 1 <= n_fluents]
        direct = [(1 + i, values[i]) for i in kept if not 0 < values[i] >> 1 <= n_fluents]
        starts.append([len(copies), len(copies) + len(staged), len(copies) + len(staged) + len(direct)])
        copies += staged + direct
    return _Copies(_ints(starts), _ints([row for row, _ in copies]), _ints([value for _, value in copies]))
