"""What is known of the sizes of relations, and what a look-up may be expected to give.

Three sources, the best first: indexes seen at work, relations counted column by column, and a guess.
"""

from __future__ import annotations

from typing import Final

from gdl.datalog.demand import DEMAND
from gdl.datalog.relations import Access, Index, Key, Relation

GUESSED_VALUES: Final = 8.0
"""How many values a column is taken to have where nothing is known."""

_MIN_FAN_OUT: Final = 0.01


class Sizes:
    """Sizes of the relations of one program, remembered from the states in which they were largest."""

    def __init__(self) -> None:
        self._seen: dict[tuple[Key, Access], tuple[int, int]] = {}
        self._counted: dict[Key, tuple[int, tuple[int, ...]]] = {}

    def observe(self, key: Key, access: Access, index: Index) -> None:
        """Remember the sizes of an index at work."""
        n_entries, _ = self._seen.get((key, access), (0, 0))
        if index.n_entries > n_entries:
            self._seen[key, access] = (index.n_entries, len(index.entries))

    def count(self, key: Key, relation: Relation) -> None:
        """Remember how many rows a relation has, and how many values each column, once it has grown by a fifth."""
        n_rows, _ = self._counted.get(key, (0, ()))
        if 5 * len(relation.rows) > 6 * n_rows:
            self._counted[key] = (
                len(relation.rows),
                tuple(len(set(column)) for column in zip(*relation.rows, strict=True)),
            )

    def fan_out(self, key: Key, access: Access) -> float:
        """Return how many rows one look-up may be expected to give."""
        n_entries, n_keys = self._seen.get((key, access), (0, 0))
        if n_keys:
            return n_entries / n_keys
        if key[0] == "does" or key[0].startswith(DEMAND):
            return 1.0
        fixed = [column for column, _ in access.constants] + list(access.key)
        n_rows, n_values = self._counted.get(key, (0, ()))
        if not n_rows:
            return GUESSED_VALUES ** (max(0, access.width - len(fixed)))
        expected = float(n_rows)
        for column in fixed:
            expected /= n_values[column] if column < len(n_values) else GUESSED_VALUES
        return max(expected, _MIN_FAN_OUT)
