"""Tables held to what kernels rely on, before one reads them: kernels check no index, and no order.

Every entry is in range, every part ends where the next begins, every row is written before it is read in the order in
which kernels walk the tables, and tables with fewer rows read the same values as those that they were made of.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.registers import UNWRITTEN, WRITERS, Accesses, accesses
from gdl.compiler.tables import BLOCK, CompiledRules, Ints, Tables
from gdl.errors import FaultyTablesError

_MAX_ROWS: Final = 2**30
"""Beyond it a literal is no int32."""
_MAX_CHOICES: Final = 2**24
"""How many moves of a role the counters of lanes count."""
_STARTS: Final = {
    "parts": "segments",
    "run_start": "runs",
    "gate_start": "gate_input",
    "copy_start": "copy_row",
    "role_start": "choice_row",
    "block_start": "block_row",
}
"""Tables that limit runs of others: they ascend from 0 to the others' length, and leave nothing out."""
_SAME_LENGTH: Final = (
    ("gate_row", "gate_middle"),
    ("loop_row", "loop_value"),
    ("copy_row", "copy_value"),
    ("choice_row", "choice_legal"),
    ("block_row", "block_legal"),
)
_LITERALS: Final = (
    "loop_value", "copy_value", "choice_legal", "block_legal", "terminal", "goal_value", "sees_value",
)  # fmt: skip
_PER_PHASE: Final = ("copy_start", "role_start", "block_start", "terminal", "goal_value", "sees_value")
_WIDTHS: Final = {"segments": 4, "parts": 5, "runs": 3, "copy_start": 3}
_REPLACED: Final = {"n_rows", "block_row", "gate_input", *WRITERS}
"""What may differ between tables and those made of them with fewer rows; in literals, the rows may."""


def verify(tables: Tables) -> tuple[Accesses, ...]:
    """Return the reads and writes of every phase of *tables*, if no kernel can read or write outside them.

    Raises:
        FaultyTablesError: an entry is out of range or out of order, or a row is read before it is written.
    """
    _check_shapes(tables)
    _check_starts(tables)
    _check_runs(tables)
    _check_rows(tables)
    _check_choices(tables)
    _check_copies(tables)
    return tuple(_verified(accesses(tables, phase)) for phase in range(len(tables.parts)))


def verify_reuse(before: Tables, reads: Sequence[Accesses], after: Tables) -> None:
    """Check that *after*, whose rows are reused, computes what *before* does, whose reads and writes are *reads*.

    Raises:
        FaultyTablesError: *after* is faulty, or a reader sees another writer's value than in *before*.
    """
    found = verify(after)
    for name in Tables._fields:
        one, other = getattr(before, name), getattr(after, name)
        if name in _LITERALS:
            _require(np.array_equal(one & 1, other & 1), name, "it is not that of the tables before rows were reused")
        elif name not in _REPLACED:
            _require(np.array_equal(one, other), name, "it is not that of the tables before rows were reused")
    for ours, theirs in zip(found, reads, strict=True):
        _require(ours.writer == theirs.writer, "gate_row", "a row is taken while its value is still to be read")


def verify_rules(rules: CompiledRules) -> None:
    """Check that the tables of *rules*, each verified, fit the names beside them and what each is used for.

    Raises:
        FaultyTablesError: they do not.
    """
    n_fluents, n_moves = len(rules.fluents), len(rules.moves)
    n_goals, n_percepts = sum(map(len, rules.goals)), sum(map(len, rules.sees))
    single, phased = rules.single, rules.phased
    playing = [phased] if rules.decisive is None else [phased, rules.decisive]
    for tables in (single, *playing):
        sizes = (tables.n_fluents, tables.n_inputs, tables.goal_value.shape[1])
        _require(sizes == (n_fluents, 1 + n_fluents + n_moves, n_goals), "n_inputs", "it does not fit the names")
    _require(len(single.parts) == 1 and single.sees_value.shape[1] == n_percepts, "parts", "it does not fit the names")
    everything = np.arange(1 + n_fluents, 1 + n_fluents + n_moves)
    _require(np.array_equal(single.choice_row, everything), "choice_row", "it has not all moves in their order")
    in_order = [number for numbers in rules.moves_of for number in numbers]
    _require(in_order == list(range(n_moves)), "moves", "they are not role by role")
    for tables in playing:
        _require(len(tables.parts) == len(rules.phases), "parts", "it has not as many phases as are named")
    assumed = [values for phase in rules.phases for values in (phase.known, *phase.controls)]
    fluents = [*rules.initial, *(fluent for values in assumed for fluent in values)]
    controls = {frozenset(values) for phase in rules.phases for values in phase.controls}
    _require(len(controls) <= 1, "phases", "control states are not of the same fluents")
    forced = [move for phase in rules.phases for move in phase.forced]
    _require(_is_within(np.array(fluents, np.int64), 0, n_fluents), "initial", "it names no fluent")
    _require(_is_within(np.array(forced, np.int64), 0, n_moves), "phases", "a forced move is none")
    begin, end = single.parts[0, [0, 2]]
    walked = single.gate_row[: single.segments[end - 1, 1] if end > begin else 0]
    _require(_are_distinct(walked), "gate_row", "two gates of a walker have one row")


def _require(holds: bool | NDArray[np.bool_], table: str, problem: str) -> None:
    if not np.all(holds):
        raise FaultyTablesError(f"its table `{table}` is faulty, {problem}")


def _is_within(values: NDArray[Any], first: int, stop: int) -> bool:
    return not values.size or (int(values.min()) >= first and int(values.max()) < stop)


def _are_distinct(values: NDArray[Any]) -> bool:
    ordered = np.sort(values)  # numpy.unique would load a module that takes longer than all of this
    return bool((ordered[1:] != ordered[:-1]).all())


def _check_shapes(tables: Tables) -> None:
    numbers = (tables.n_fluents, tables.n_inputs, tables.n_rows)
    _require(0 <= tables.n_fluents < tables.n_inputs < tables.n_rows <= _MAX_ROWS, "n_rows", f"not {numbers}")
    for name in Tables._fields[3:]:
        array = getattr(tables, name)
        _require(array.dtype == np.int32 and array.flags.c_contiguous, name, "it is no array of int32 in a row")
        n_axes = 2 if name in _WIDTHS or name in ("role_start", "block_start", "goal_value", "sees_value") else 1
        _require(array.ndim == n_axes, name, f"it has {array.ndim} axes")
        _require(name not in _WIDTHS or array.shape[-1] == _WIDTHS[name], name, "it has another width")
        _require(name not in _PER_PHASE or len(array) == len(tables.parts), name, "it has another length")
    _require(len(tables.parts) > 0, "parts", "there is no phase")
    _require(tables.role_start.shape == tables.block_start.shape, "block_start", "it has another shape")
    _require(tables.role_start.shape[1] > 0, "role_start", "it has no beginning")
    _require(len(tables.run_start) == len(tables.segments) + 1, "run_start", "it has another length")
    _require(len(tables.gate_start) == len(tables.gate_row) + 1, "gate_start", "it has another length")
    for one, other in _SAME_LENGTH:
        _require(getattr(tables, one).shape == getattr(tables, other).shape, other, "it has another length")


def _check_starts(tables: Tables) -> None:
    for name, limited in _STARTS.items():
        starts = getattr(tables, name)
        _check_ascent(name, starts.ravel(), len(getattr(tables, limited)))
        if starts.ndim == 2:
            _require(starts[1:, 0] == starts[:-1, -1], name, "a phase does not begin where that before it ends")
    for first, rows in ((0, tables.gate_row), (2, tables.loop_row)):
        limits = tables.segments[:, first : first + 2]
        _check_ascent("segments", limits.ravel(), len(rows))
        _require(limits[1:, 0] == limits[:-1, 1], "segments", "one does not begin where that before it ends")
    starts, middles = tables.gate_start, tables.gate_middle
    _require((starts[:-1] <= middles) & (middles <= starts[1:]), "gate_middle", "it is not among the gate's inputs")


def _check_runs(tables: Tables) -> None:
    """Check that the runs of a segment are its gates, and that gates of a run have the shape that it names."""
    ends = np.concatenate([[0], tables.runs[:, 2]])
    _check_ascent("runs", ends, len(tables.gate_row))
    limits = np.concatenate([tables.segments[:, 0], [len(tables.gate_row)]])
    _require(ends[tables.run_start] == limits, "run_start", "a segment's runs are other gates")
    sizes = np.diff(ends)
    shapes = [tables.gate_middle - tables.gate_start[:-1], tables.gate_start[1:] - tables.gate_middle]
    for column, shape in enumerate(shapes):
        _require(np.repeat(tables.runs[:, column], sizes) == shape, "runs", "a gate has another shape")


def _check_ascent(name: str, starts: Ints, length: int) -> None:
    if not starts.size:
        _require(length == 0, name, "it is empty")
        return
    _require(starts[0] == 0 and starts[-1] == length, name, "it does not go from 0 to the end")
    _require(starts[:-1] <= starts[1:], name, "it does not ascend")


def _check_rows(tables: Tables) -> None:
    """Check rows and literals: gates write rows of their own, and nothing reads the spare row."""
    for name in WRITERS:
        written = getattr(tables, name)
        _require(_is_within(written, tables.n_inputs, tables.n_rows - 1), name, "a row is no gate's")
    _require(_is_within(tables.gate_input, 0, tables.n_rows - 1), "gate_input", "a row is out of range")
    for name in _LITERALS:
        _require(_is_within(getattr(tables, name), 0, 2 * (tables.n_rows - 1)), name, "a literal is out of range")


def _check_choices(tables: Tables) -> None:
    """Check the moves of every role, and that its blocks hold the same, filled up by moves that are never legal."""
    first_move = 1 + tables.n_fluents
    _require(_is_within(tables.choice_row, first_move, tables.n_inputs), "choice_row", "a row is no move's")
    sizes = np.diff(tables.role_start, axis=1).ravel()
    blocks = np.diff(tables.block_start, axis=1).ravel()
    _require(sizes < _MAX_CHOICES, "role_start", "a role has too many moves")
    _require(blocks == -(-sizes // BLOCK) * BLOCK, "block_start", "the blocks have another number of moves")
    begin = tables.block_start[:, :-1].ravel()
    place = np.arange(len(tables.choice_row)) - np.repeat(tables.role_start[:, :-1].ravel(), sizes)
    kept = place + np.repeat(begin, sizes)
    row = np.full(len(tables.block_row), tables.n_rows - 1)
    legal = np.ones(len(tables.block_row), np.int32)
    row[kept], legal[kept] = tables.choice_row, tables.choice_legal
    _require(tables.block_row == row, "block_row", "the blocks have other moves")
    _require(tables.block_legal == legal, "block_legal", "the blocks have other moves")


def _check_copies(tables: Tables) -> None:
    """Check that each fluent gets one value at most, and that those wait which read what others overwrite."""
    _require(_is_within(tables.copy_row, 1, 1 + tables.n_fluents), "copy_row", "a row is no fluent's")
    phase = np.repeat(np.arange(len(tables.parts)), tables.copy_start[:, 2] - tables.copy_start[:, 0])
    keys = phase.astype(np.int64) * tables.n_rows + tables.copy_row
    _require(_are_distinct(keys), "copy_row", "a fluent gets two values")
    place = np.arange(len(phase))
    is_direct = place >= tables.copy_start[:, 1][phase]
    source = tables.copy_value >> 1
    _require(~is_direct | (source == 0) | (source > tables.n_fluents), "copy_value", "a fluent is read too late")


def _verified(found: Accesses) -> Accesses:
    _require(found.writer != UNWRITTEN, "gate_input", "a row is read before it is written")
    _require(~found.is_optional, "gate_input", "a row is read that is written only where a play ends")
    if len(found.read_slot):
        of_slot = np.full(int(found.read_slot.max()) + 1, UNWRITTEN)
        of_slot[found.read_slot] = found.writer
        _require(of_slot[found.read_slot] == found.writer, "loop_row", "a later pass of a loop reads other rows")
    return found
