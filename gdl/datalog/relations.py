"""Relations as sets of rows, the indexes by which joins read them, and what is known of their sizes."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import itemgetter
from typing import Final, TypeAlias

from gdl.datalog.demand import DEMAND
from gdl.language.terms import Compound, Constant, Term, Variable, signature

Row: TypeAlias = tuple[Term, ...]
Key: TypeAlias = tuple[str, str, int]
"""A relation: its name, the functor that it wraps (or PLAIN, or ANY), and the number of columns of the functor."""

PLAIN: Final = ""
ANY: Final = "?"
"""Stands for any functor; a name that no functor can have."""
WRAPPERS: Final = {"true": 1, "next": 1, "init": 1, "does": 2, "legal": 2}
"""The relations that are kept one per functor of their last argument, with their numbers of arguments."""


def placed(atom: Constant | Compound) -> tuple[Key, Row]:
    """Return the relation that *atom* belongs to, and its columns there.

    An atom such as `(true ?f)` belongs to the relation ANY of its wrapper, whose last column is the whole term.
    """
    name, arity = signature(atom)
    arguments = atom.arguments if isinstance(atom, Compound) else ()
    if WRAPPERS.get(name) != arity:
        return (name, PLAIN, arity), arguments
    return placed_term(name, arguments[:-1], arguments[-1])


def placed_term(name: str, lead: Row, term: Term) -> tuple[Key, Row]:
    """Return the relation and the columns of a wrapped term, with the columns that stand before it."""
    if isinstance(term, Variable):
        return (name, ANY, WRAPPERS[name]), (*lead, term)
    if isinstance(term, Compound):
        return (name, term.functor, len(term.arguments)), lead + term.arguments
    return (name, term.name, 0), lead


def unwrapped(key: Key, row: Row) -> tuple[Row, Term]:
    """Return the columns before the wrapped term of a row of *key*, and that term."""
    name, functor, arity = key
    n_lead = WRAPPERS[name] - 1
    return row[:n_lead], Compound(functor, row[n_lead:]) if arity else Constant(functor)


@dataclass(frozen=True, slots=True)
class Access:
    """How a literal reads a relation: which columns it fixes, and which it gives. *Units*: column numbers.

    `expansions` first append the arguments of compound columns as further columns (dropping rows that have another
    functor there); then `constants` and `equal` select rows, `key` are the columns looked up, `out` those returned.
    """

    width: int
    expansions: tuple[tuple[int, str, int], ...]
    constants: tuple[tuple[int, Term], ...]
    equal: tuple[tuple[int, int], ...]
    key: tuple[int, ...]
    out: tuple[int, ...]

    @property
    def is_lossy(self) -> bool:
        """Whether two rows may look the same through this access."""
        seen = {*self.key, *self.out, *(column for column, _ in self.constants), *(b for _, b in self.equal)}
        n_columns = self.width + sum(arity for _, _, arity in self.expansions)
        opened = {column for column, _, _ in self.expansions}
        return len(seen | opened) < n_columns

    def select(self, rows: Iterable[Row]) -> Iterable[Row]:
        """Return the rows, expanded, that have the functors, constants and equal columns asked for."""
        for column, functor, arity in self.expansions:
            rows = _expanded(rows, column, functor, arity)
        for column, constant in self.constants:
            rows = [row for row in rows if row[column] is constant]
        for a, b in self.equal:
            rows = [row for row in rows if row[a] is row[b]]
        return rows


def _expanded(rows: Iterable[Row], column: int, functor: str, arity: int) -> list[Row]:
    return [
        row + term.arguments
        for row in rows
        if isinstance(term := row[column], Compound) and term.functor == functor and len(term.arguments) == arity
    ]


def columns(numbers: tuple[int, ...]) -> Callable[[Row], Row]:
    """Return a function that takes these columns of a row, as a row."""
    if not numbers:
        return lambda _: ()
    if len(numbers) == 1:
        (number,) = numbers
        return lambda row: (row[number],)
    return itemgetter(*numbers)


def lookup_key(numbers: tuple[int, ...]) -> Callable[[Row], object]:
    """Return a function that takes these columns of a row as an index's key: a lone column is not wrapped."""
    return itemgetter(numbers[0]) if len(numbers) == 1 else columns(numbers)


class Index:
    """The rows of a relation under one access: for each key, the columns asked for, without repetition."""

    __slots__ = ("_access", "_key", "_out", "_seen", "entries", "n_entries")

    def __init__(self, access: Access) -> None:
        self._access = access
        self._key = lookup_key(access.key)
        self._out = columns(access.out)
        self._seen: set[tuple[object, Row]] | None = set() if access.is_lossy else None
        self.entries: dict[object, list[Row]] = {}
        self.n_entries = 0

    def add(self, rows: Iterable[Row]) -> None:
        """Add rows that are new in the relation."""
        entries, key_of, out_of, seen = self.entries, self._key, self._out, self._seen
        for row in self._access.select(rows):
            key, out = key_of(row), out_of(row)
            if seen is not None:
                if (key, out) in seen:
                    continue
                seen.add((key, out))
            bucket = entries.get(key)
            if bucket is None:
                entries[key] = [out]
            else:
                bucket.append(out)
            self.n_entries += 1


class _Partition:
    """The rows of a relation by their values in some columns, with the indexes that fix these columns."""

    __slots__ = ("_value", "indexes", "rows")

    def __init__(self, fixed: tuple[int, ...]) -> None:
        self._value = columns(fixed)
        self.rows: dict[Row, list[Row]] = {}
        self.indexes: dict[Row, list[Index]] = {}

    def add(self, rows: Iterable[Row]) -> None:
        """Add new rows, to the indexes too."""
        changed: dict[Row, list[Row]] = {}
        for row in rows:
            changed.setdefault(self._value(row), []).append(row)
        for value, some in changed.items():
            self.rows.setdefault(value, []).extend(some)
            for index in self.indexes.get(value, ()):
                index.add(some)


class Relation:
    """A set of rows with indexes that are made when first asked for and kept up to date."""

    __slots__ = ("_indexes", "_partitions", "rows")

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self.rows: set[Row] = set(rows)
        self._indexes: dict[Access, Index] = {}
        self._partitions: dict[tuple[int, ...], _Partition] = {}

    def add(self, rows: Iterable[Row]) -> set[Row]:
        """Add *rows* and return those that are new."""
        new = set(rows)
        new -= self.rows
        if new:
            self.rows |= new
            for partition in self._partitions.values():
                partition.add(new)
        return new

    def index(self, access: Access) -> Index:
        """Return the index by which joins with *access* look rows up; it is made when it is first asked for."""
        found = self._indexes.get(access)
        if found is None:
            found = self._indexes[access] = self._new_index(access)
        return found

    def _new_index(self, access: Access) -> Index:
        fixed = tuple((column, term) for column, term in access.constants if column < access.width)
        partition = self._partition(tuple(column for column, _ in fixed))
        value = tuple(term for _, term in fixed)
        index = Index(access)
        index.add(partition.rows.get(value, ()))
        partition.indexes.setdefault(value, []).append(index)
        return index

    def _partition(self, fixed: tuple[int, ...]) -> _Partition:
        found = self._partitions.get(fixed)
        if found is None:
            found = self._partitions[fixed] = _Partition(fixed)
            found.add(self.rows)
        return found


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
