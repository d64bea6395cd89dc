"""The cells of a grid: which one the values of a pattern's variables mean, and what a cell is called in pictures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TypeAlias

from gdl.games.layout import Layout

Place: TypeAlias = tuple[int, int]
"""A cell: its column and its row, counted from 0 at the left and at the top."""


class Cells:
    """The cells of a layout's grid; `rows` run from the top to the bottom. Other layouts have none."""

    def __init__(self, layout: Layout) -> None:
        is_grid = layout.kind == "grid"
        rising = (layout.rows or ()) if is_grid else ()
        self.columns = (layout.columns or ()) if is_grid else ()
        self.rows = rising if layout.y == "down" else rising[::-1]
        self._x = {name: x for x, name in enumerate(self.columns)}
        self._y = {name: y for y, name in enumerate(self.rows)}

    def find(self, values: Mapping[str, str], end: str = "") -> Place | None:
        """Return the cell that *values* of variables mean, None where it is outside; *end* ends their names.

        A column is the value of `?x`, after that of `?bx` and a blank where there is one; a row likewise; `?xy` is
        both in one word. In a grid of one row no row is named.
        """
        if f"?xy{end}" in values:
            return self._words.get(values[f"?xy{end}"])
        x = self._x.get(_name(values, "x", end))
        y = 0 if len(self.rows) == 1 and f"?y{end}" not in values else self._y.get(_name(values, "y", end))
        return None if x is None or y is None else (x, y)

    def column(self, name: str) -> int | None:
        """Return the number of the column of that name, None where there is none."""
        return self._x.get(name)

    def row(self, name: str) -> int | None:
        """Return the number of the row of that name, None where there is none."""
        return self._y.get(name)

    @cached_property
    def _words(self) -> dict[str, Place]:
        found: dict[str, Place] = {}
        for row, y in self._y.items():
            for column, x in self._x.items():
                found.setdefault(f"{column}{row}", (x, y))
        return found


def cell_name(place: Place) -> str:
    """Return what a cell is called in pictures: `data-cell`."""
    return f"{place[0]},{place[1]}"


def _name(values: Mapping[str, str], axis: str, end: str) -> str:
    name, block = values.get(f"?{axis}{end}", ""), values.get(f"?b{axis}{end}")
    return name if block is None else f"{block} {name}"
