"""Tables to tables with fewer rows: a gate's row is taken by another gate once nobody reads it any more.

What a step touches is then more likely to be in the processor's second-level cache. Meant for plays, which evaluate the
parts of a phase in one order: state, goals, next, percepts.
"""

from __future__ import annotations

import numpy as np

from gdl.compiler.tables import Ints, Tables

_STATE, _NEXT, _GOALS, _SEES = range(4)
_ORDER = (_STATE, _GOALS, _NEXT, _SEES)


def reuse(tables: Tables) -> Tables:
    """Return *tables* that compute the same with as few rows as the order of the gates allows."""
    return _Allocation(tables).run()


class _Allocation:
    """The new tables under construction, beside the old ones."""

    def __init__(self, tables: Tables) -> None:
        self._old = tables
        self._spare = tables.n_rows - 1
        written = np.concatenate([tables.gate_row, tables.loop_row])
        self._n_fixed = self._n_rows = int(written.min()) if len(written) else self._spare
        self._gate_row, self._gate_input = tables.gate_row.copy(), tables.gate_input.copy()
        self._loop_row, self._loop_value = tables.loop_row.copy(), tables.loop_value.copy()
        self._copy_value = tables.copy_value.copy()
        self._choice_legal, self._block_legal = tables.choice_legal.copy(), tables.block_legal.copy()
        self._terminal = tables.terminal.copy()
        self._goal_value, self._sees_value = tables.goal_value.copy(), tables.sees_value.copy()
        self._row = np.arange(self._spare, dtype=np.int32)
        self._free: list[int] = []

    def run(self) -> Tables:
        for phase in range(len(self._old.parts)):
            self._place(phase)
        block_row = self._old.block_row.copy()
        block_row[block_row == self._spare] = self._n_rows
        return self._old._replace(
            n_rows=self._n_rows + 1,
            gate_row=self._gate_row,
            gate_input=self._gate_input,
            loop_row=self._loop_row,
            loop_value=self._loop_value,
            copy_value=self._copy_value,
            choice_legal=self._choice_legal,
            block_legal=self._block_legal,
            block_row=block_row,
            terminal=self._terminal,
            goal_value=self._goal_value,
            sees_value=self._sees_value,
        )

    def _place(self, phase: int) -> None:
        """Give the gates of a phase their rows, and rename all that reads them."""
        old = self._old
        self._row[:] = np.arange(self._spare)
        self._row[self._n_fixed :] = -1
        self._free = list(range(self._n_rows - 1, self._n_fixed - 1, -1))
        ends = self._last_reads(phase)
        moves = slice(old.role_start[phase, 0], old.role_start[phase, -1])
        blocks = slice(old.block_start[phase, 0], old.block_start[phase, -1])
        copies = slice(old.copy_start[phase, 0], old.copy_start[phase, 2])
        position = self._fill(phase, _STATE, 0, ends)
        self._choice_legal[moves] = self._renamed(old.choice_legal[moves])
        self._block_legal[blocks] = self._renamed(old.block_legal[blocks])
        self._terminal[phase] = self._renamed(old.terminal[phase : phase + 1])[0]
        position = self._fill(phase, _GOALS, position, ends)
        self._goal_value[phase] = self._renamed(old.goal_value[phase])
        position = self._fill(phase, _NEXT, position, ends)
        self._copy_value[copies] = self._renamed(old.copy_value[copies])
        self._fill(phase, _SEES, position, ends)
        self._sees_value[phase] = self._renamed(old.sees_value[phase])

    def _renamed(self, literals: Ints) -> Ints:
        found: Ints = 2 * self._row[literals >> 1] + (literals & 1)
        return found

    def _segments(self, phase: int, part: int) -> list[tuple[int, int, int, int]]:
        first, last = self._old.parts[phase, part : part + 2]
        return [(a, b, c, d) for a, b, c, d in self._old.segments[first:last].tolist()]

    def _last_reads(self, phase: int) -> dict[int, list[int]]:
        """Return, per position in the order of evaluation, the rows that nobody reads after it."""
        old, position, last = self._old, 0, np.full(self._spare, -1, np.int64)
        for part in _ORDER:
            for start, end, first, stop in self._segments(phase, part):
                inputs = old.gate_input[old.gate_start[start] : old.gate_start[end]]
                own = np.arange(position, position + end - start)
                position += end - start
                last[old.gate_row[start:end]] = own if first == stop else position - 1
                counts = np.diff(old.gate_start[start : end + 1])
                last[inputs] = np.repeat(own, counts) if first == stop else position - 1
                last[old.loop_row[first:stop]] = position - 1
                last[old.loop_value[first:stop] >> 1] = position - 1
            if part == _GOALS:
                outputs = self._outputs_before_moves(phase)
                last[outputs] = np.maximum(last[outputs], position)
        last[self._outputs_after_moves(phase)] = position
        ends: dict[int, list[int]] = {}
        rows = np.flatnonzero(last[self._n_fixed :] >= 0) + self._n_fixed
        for row, at in zip(rows.tolist(), last[rows].tolist(), strict=True):
            ends.setdefault(at, []).append(row)
        return ends

    def _outputs_before_moves(self, phase: int) -> Ints:
        old = self._old
        legal = old.choice_legal[old.role_start[phase, 0] : old.role_start[phase, -1]]
        found: Ints = np.concatenate([legal, old.terminal[phase : phase + 1], old.goal_value[phase]]) >> 1
        return found

    def _outputs_after_moves(self, phase: int) -> Ints:
        old = self._old
        copies = old.copy_value[old.copy_start[phase, 0] : old.copy_start[phase, 2]]
        return np.concatenate([copies, old.sees_value[phase]]) >> 1

    def _fill(self, phase: int, part: int, position: int, ends: dict[int, list[int]]) -> int:
        """Give the gates of a part rows; return how many gates are placed so far."""
        old = self._old
        for start, end, first, stop in self._segments(phase, part):
            for row in old.loop_row[first:stop].tolist():
                self._take(row)
            for place, row in enumerate(old.gate_row[start:end].tolist(), position):
                if first == stop:
                    self._release(ends, place)
                self._take(row)
            position += end - start
            if first != stop:
                self._release(ends, position - 1)
        for start, end, first, stop in self._segments(phase, part):
            inputs = slice(old.gate_start[start], old.gate_start[end])
            self._gate_row[start:end] = self._row[old.gate_row[start:end]]
            self._gate_input[inputs] = self._row[old.gate_input[inputs]]
            self._loop_row[first:stop] = self._row[old.loop_row[first:stop]]
            self._loop_value[first:stop] = self._renamed(old.loop_value[first:stop])
        return position

    def _release(self, ends: dict[int, list[int]], position: int) -> None:
        self._free += [int(self._row[row]) for row in ends.get(position, ())]

    def _take(self, row: int) -> None:
        """Give a row a place; one that is computed a second time, for another part, leaves its first."""
        if self._row[row] >= 0:
            self._free.append(int(self._row[row]))
        if not self._free:
            self._free.append(self._n_rows)
            self._n_rows += 1
        self._row[row] = self._free.pop()
