"""Tables to tables with fewer rows: a row is taken by another gate after its last read.

Plays evaluate what the state alone decides, then goals where a play ends, then what needs the moves; single states ask
for percepts last. The allocation of rows and its verification go by the order written down here.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.netlist import Numbers, ranges
from gdl.compiler.tables import Tables

READERS: Final = (
    "gate_input", "loop_value", "choice_legal", "block_legal", "terminal", "goal_value", "copy_value", "sees_value",
)  # fmt: skip
"""The tables whose entries are rows or literals that are read; all entries, one after the other, are slots of reads."""
WRITERS: Final = ("gate_row", "loop_row")
"""The tables whose entries are rows that are written; all entries, one after the other, are slots of writes."""
UNWRITTEN: Final = np.iinfo(np.int64).min
"""The writer of a row that holds nothing yet."""

_STATE, _NEXT, _GOALS, _SEES = range(4)
_GATES, _RESET, _UPDATE, _OUTPUT = range(4)


class Accesses(NamedTuple):
    """The reads and writes of a phase.

    A loop's gates appear twice, as in its first and in any later pass. *Shapes*: R reads, W writes. `read_slot` and
    `write_slot` number the entries of READERS and WRITERS; `writer` (R,) is the slot of the last write before each
    read, -1 - row for the constant, a fluent or a move, or UNWRITTEN. `is_optional` (R,): the writer is only evaluated
    where a play ends, though the reader is evaluated always. Times count gates, a loop, or outputs read together, as
    one; at `read_until` (R,) the row that is read may be written again.
    """

    read_slot: Numbers
    read_until: Numbers
    writer: Numbers
    is_optional: NDArray[np.bool_]
    write_slot: Numbers
    write_time: Numbers


class _Pieces:
    """Runs of one kind of operation: kind, the items from and to, the time of the first, and of each next one more."""

    def __init__(self, tables: Tables) -> None:
        self.found: list[tuple[int, int, int, int, int]] = []
        self._segments = tables.segments
        self._time = 0

    def add_part(self, first: int, stop: int) -> None:
        for start, end, begin, until in self._segments[first:stop].tolist():
            if begin == until:
                self.found.append((_GATES, start, end, self._time, 1))
                self._time += end - start
                continue
            one_pass = ((_GATES, start, end), (_UPDATE, begin, until))
            self.found += [(*piece, self._time, 0) for piece in ((_RESET, begin, until), *one_pass, *one_pass)]
            self._time += 1

    def add_outputs(self, first: int, stop: int) -> None:
        self.found.append((_OUTPUT, first, stop, self._time, 0))
        self._time += 1


def read_rows(tables: Tables) -> Numbers:
    """Return the row that each slot of reads names."""
    literals = [getattr(tables, name).ravel() >> 1 for name in READERS[1:]]
    return np.concatenate([tables.gate_input, *literals]).astype(np.int64)


def written_rows(tables: Tables) -> Numbers:
    """Return the row that each slot of writes names."""
    return np.concatenate([tables.gate_row, tables.loop_row]).astype(np.int64)


def reader_starts(tables: Tables) -> dict[str, int]:
    """Return where the slots of each of READERS begin."""
    sizes = [getattr(tables, name).size for name in READERS]
    return dict(zip(READERS, np.cumsum([0, *sizes[:-1]]).tolist(), strict=True))


def accesses(tables: Tables, phase: int) -> Accesses:
    """Return the reads and writes of *phase*; the limits that segments, parts and gates name must be in range."""
    pieces, goal_pieces = _pieces(tables, phase)
    kind, first, stop, time, step = np.array(pieces, np.int64).reshape(-1, 5).T
    size = stop - first
    n_ops = int(size.sum())
    within = ranges(np.zeros_like(size), size)
    op_kind, op_item = np.repeat(kind, size), within + np.repeat(first, size)
    op_time = np.repeat(time, size) + within * np.repeat(step, size)
    goals = np.cumsum([0, *size])[list(goal_pieces)]

    is_gate, is_update = op_kind == _GATES, op_kind == _UPDATE
    gates = op_item[is_gate]
    n_reads = (op_kind != _RESET).astype(np.int64)
    n_reads[is_gate] = tables.gate_start[gates + 1] - tables.gate_start[gates]
    first_slot = op_item + np.where(is_update, len(tables.gate_input), 0)
    first_slot[is_gate] = tables.gate_start[gates]
    read_op, read_slot = np.repeat(np.arange(n_ops), n_reads), ranges(first_slot, n_reads)
    is_plain = np.repeat(is_gate & (np.repeat(step, size) == 1), n_reads)
    write_op = np.flatnonzero(op_kind != _OUTPUT)
    write_slot = op_item[write_op] + np.where(is_gate[write_op], 0, len(tables.gate_row))

    read_row, write_row = read_rows(tables)[read_slot], written_rows(tables)[write_slot]
    writer_op = _last_writes(write_row, write_op, read_row, read_op, n_ops)
    slot_of_op = np.full(n_ops + 1, UNWRITTEN)
    slot_of_op[write_op] = write_slot
    writer = np.where((writer_op < 0) & (read_row < tables.n_inputs), -1 - read_row, slot_of_op[writer_op])
    is_goal = (writer_op >= goals[0]) & (writer_op < goals[1])
    return Accesses(
        read_slot=read_slot,
        read_until=op_time[read_op] + ~is_plain,
        writer=writer,
        is_optional=is_goal & (read_op >= goals[1]),
        write_slot=write_slot,
        write_time=op_time[write_op],
    )


def _pieces(tables: Tables, phase: int) -> tuple[list[tuple[int, int, int, int, int]], tuple[int, int]]:
    """Return the operations of *phase*, and between which pieces those of goals are."""
    starts = reader_starts(tables)

    def slots(name: str, first: int, stop: int) -> None:
        pieces.add_outputs(starts[name] + int(first), starts[name] + int(stop))

    pieces = _Pieces(tables)
    parts = tables.parts[phase].tolist()
    roles, blocks, copies = tables.role_start[phase], tables.block_start[phase], tables.copy_start[phase]
    pieces.add_part(parts[_STATE], parts[_STATE + 1])
    before_goals = len(pieces.found)
    pieces.add_part(parts[_GOALS], parts[_GOALS + 1])
    slots("goal_value", phase * tables.goal_value.shape[1], (phase + 1) * tables.goal_value.shape[1])
    after_goals = len(pieces.found)
    slots("terminal", phase, phase + 1)
    slots("choice_legal", roles[0], roles[-1])
    slots("block_legal", blocks[0], blocks[-1])
    pieces.add_part(parts[_NEXT], parts[_NEXT + 1])
    slots("copy_value", copies[0], copies[2])
    pieces.add_part(parts[_SEES], parts[_SEES + 1])
    slots("sees_value", phase * tables.sees_value.shape[1], (phase + 1) * tables.sees_value.shape[1])
    return pieces.found, (before_goals, after_goals)


def _last_writes(write_row: Numbers, write_op: Numbers, read_row: Numbers, read_op: Numbers, n_ops: int) -> Numbers:
    """Return, per read, the last operation before it that writes its row; -1 where there is none."""
    if not len(write_row):
        return np.full(len(read_row), -1)
    written_at = np.full(int(max(write_row.max(), read_row.max(initial=0))) + 1, -1)
    written_at[write_row] = write_op
    if np.array_equal(written_at[write_row], write_op):  # every row is written once: nothing is to be searched for
        found = written_at[read_row]
        return np.where(found < read_op, found, -1)
    keys = write_row * n_ops + write_op
    order = np.argsort(keys)
    keys = keys[order]
    found = np.searchsorted(keys, read_row * n_ops + read_op) - 1
    is_there = (found >= 0) & (keys[found] // n_ops == read_row)
    last: Numbers = np.where(is_there, write_op[order[found]], -1)
    return last


def reuse(tables: Tables, found: Sequence[Accesses] | None = None) -> Tables:
    """Return *tables* that compute the same with as few rows as the order of the gates allows.

    *found* are the reads and writes of its phases, where the caller has them.
    """
    if found is None:
        found = [accesses(tables, phase) for phase in range(len(tables.parts))]
    row_of_read, row_of_write = read_rows(tables), written_rows(tables)
    n_rows = tables.n_inputs
    for ours in found:
        n_rows = _place(ours, row_of_write, tables.n_inputs, n_rows)
        written = ours.writer >= 0
        row_of_read[ours.read_slot[written]] = row_of_write[ours.writer[written]]
    spare = tables.n_rows - 1
    return tables._replace(
        n_rows=n_rows + 1,
        block_row=np.where(tables.block_row == spare, n_rows, tables.block_row).astype(np.int32),
        **_entries(tables, row_of_read, row_of_write),
    )


def _place(found: Accesses, row_of_write: Numbers, first_row: int, n_rows: int) -> int:
    """Give every write of a phase a row, of *n_rows* there are so far; return how many there are then.

    A value's row is free from the time at which it was read last, and never before the time after it was written: so
    no row is freed before it is taken, and each is freed once.
    """
    written_at, free_from = np.zeros((2, len(row_of_write)), np.int64)
    written_at[found.write_slot] = found.write_time
    free_from[found.write_slot] = found.write_time + 1
    is_read = found.writer >= 0
    np.maximum.at(free_from, found.writer[is_read], found.read_until[is_read])
    slots = np.array(list(dict.fromkeys(found.write_slot.tolist())), np.int64)
    by_end = slots[np.argsort(free_from[slots], kind="stable")]
    ends = zip(by_end.tolist(), free_from[by_end].tolist(), strict=True)
    free = list(range(n_rows - 1, first_row - 1, -1))
    row: dict[int, int] = {}
    ended, end = next(ends, (0, 0))
    for slot, time in zip(slots.tolist(), written_at[slots].tolist(), strict=True):
        while end <= time:
            free.append(row[ended])
            ended, end = next(ends)
        if not free:
            free.append(n_rows)
            n_rows += 1
        row[slot] = free.pop()
    row_of_write[list(row)] = list(row.values())
    return n_rows


def _entries(tables: Tables, row_of_read: Numbers, row_of_write: Numbers) -> dict[str, Any]:
    """Return the tables of rows and literals with the rows that their slots have now."""
    found: dict[str, Any] = {}
    for name, start in reader_starts(tables).items():
        old = getattr(tables, name)
        rows = row_of_read[start : start + old.size].reshape(old.shape)
        found[name] = (rows if name == "gate_input" else 2 * rows + (old & 1)).astype(np.int32)
    start = 0
    for name in WRITERS:
        size = getattr(tables, name).size
        found[name] = row_of_write[start : start + size].astype(np.int32)
        start += size
    return found
