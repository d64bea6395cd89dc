"""How a clause's body is evaluated: an order of its literals, each a step from sets of rows to sets of rows.

A step joins all rows found so far with one relation at once, and drops the columns that no later step needs.
The order is greedy: what only tests comes first, then what multiplies the rows least.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from gdl.datalog.clauses import Clause, Difference
from gdl.datalog.relations import Access, Key, Row, Sizes, columns, lookup_key, placed
from gdl.language.terms import Compound, Term, Variable, variables

Slots: TypeAlias = dict[Variable, int]
"""The column of each bound variable in the rows found so far."""


@dataclass(frozen=True, slots=True, eq=False)
class LookUp:
    """Join the rows with a relation, or keep those that have (or have not) a match.

    `literal` is the number of the literal in its clause; `key_of` takes the key from a row, None where nothing is
    fixed; `keep` drops columns afterwards, None where all stay.
    """

    literal: int
    relation: Key
    access: Access
    is_positive: bool
    key_of: Callable[[Row], object] | None
    keep: Callable[[Row], Row] | None


@dataclass(frozen=True, slots=True, eq=False)
class Compare:
    """Keep the rows in which two terms differ."""

    left: Callable[[Row], Term]
    right: Callable[[Row], Term]
    keep: Callable[[Row], Row] | None


Step: TypeAlias = LookUp | Compare


@dataclass(frozen=True, slots=True, eq=False)
class JoinPlan:
    """The steps of a body, and how the rows at its end become rows of the head's relation.

    `makes_terms` says that a head's row holds terms larger than those of the body's rows.
    """

    steps: tuple[Step, ...]
    head: Key
    build: Callable[[Row], Row]
    expected_rows: float
    makes_terms: bool


class Planner:
    """Orders one clause's literals, knowing the sizes of relations."""

    def __init__(self, clause: Clause, sizes: Sizes) -> None:
        self._clause = clause
        self._sizes = sizes
        self._slots: Slots = {}
        self._literals = dict(enumerate(clause.literals))
        self._variables = {literal: frozenset(variables(literal.atom)) for literal in clause.literals}
        self._differences = {
            pair: frozenset(variables(pair.left) + variables(pair.right)) for pair in clause.differences
        }
        needed_by = [frozenset(variables(clause.head)), *self._variables.values(), *self._differences.values()]
        self._n_uses = Counter(variable for needed in needed_by for variable in needed)
        self._steps: list[Step] = []
        self._expected = 1.0
        self._expected_total = 1.0

    def plan(self, first: int | None = None) -> JoinPlan:
        """Return the plan; *first* is the literal to begin with (the one that changed, in semi-naive evaluation)."""
        if first is not None:
            self._take_literal(first)
        while self._literals or self._differences:
            self._take_next()
        key, pattern = placed(self._clause.head)
        makes_terms = any(isinstance(term, Compound) and not term.is_ground for term in pattern)
        return JoinPlan(tuple(self._steps), key, builder(pattern, self._slots), self._expected_total, makes_terms)

    def _take_next(self) -> None:
        for pair, needed in self._differences.items():
            if needed <= self._slots.keys():
                self._take_difference(pair)
                return
        self._take_literal(min(self._literals, key=self._cost))

    def _cost(self, number: int) -> float:
        literal = self._literals[number]
        if not literal.is_positive:
            return 0.5 if self._variables[literal] <= self._slots.keys() else float("inf")
        relation, reading, given = self._read(number)
        if not given:
            return 0.25
        return self._sizes.fan_out(relation, reading.access(tuple(given.values())))

    def _read(self, number: int) -> tuple[Key, _Reading, Slots]:
        """Return how a literal reads its relation now, and which variables it gives that are needed later."""
        relation, pattern = placed(self._literals[number].atom)
        reading = _Reading(pattern, self._slots)
        return relation, reading, {v: column for v, column in reading.given.items() if self._n_uses[v] > 1}

    def _take_difference(self, pair: Difference) -> None:
        self._n_uses.subtract(self._differences.pop(pair))
        left, right = term_builder(pair.left, self._slots), term_builder(pair.right, self._slots)
        self._steps.append(Compare(left, right, self._drop_unneeded()))

    def _take_literal(self, number: int) -> None:
        relation, reading, given = self._read(number)
        literal = self._literals.pop(number)
        self._n_uses.subtract(self._variables[literal])
        access = reading.access(tuple(given.values()))
        self._expected *= self._sizes.fan_out(relation, access) if given else 0.5
        self._expected_total += self._expected
        self._slots |= {variable: len(self._slots) + i for i, variable in enumerate(given)}
        key_of = lookup_key(tuple(reading.key_slots)) if reading.key_slots else None
        self._steps.append(LookUp(number, relation, access, literal.is_positive, key_of, self._drop_unneeded()))

    def _drop_unneeded(self) -> Callable[[Row], Row] | None:
        kept = [variable for variable in self._slots if self._n_uses[variable]]
        if len(kept) == len(self._slots):
            return None
        numbers = tuple(self._slots[variable] for variable in kept)
        self._slots = {variable: i for i, variable in enumerate(kept)}
        return columns(numbers)


class _Reading:
    """Tells the columns of a pattern apart: fixed by a constant, by a bound variable, or given."""

    def __init__(self, pattern: Row, slots: Slots) -> None:
        self._width = len(pattern)
        self._expansions: list[tuple[int, str, int]] = []
        self._constants: list[tuple[int, Term]] = []
        self._equal: list[tuple[int, int]] = []
        self._key: list[int] = []
        self.key_slots: list[int] = []
        self.given: Slots = {}
        n_columns = self._width
        todo = list(enumerate(pattern))
        for column, term in todo:
            if isinstance(term, Variable):
                self._read_variable(column, term, slots)
            elif isinstance(term, Compound) and not term.is_ground:
                self._expansions.append((column, term.functor, len(term.arguments)))
                todo += enumerate(term.arguments, n_columns)
                n_columns += len(term.arguments)
            else:
                self._constants.append((column, term))

    def _read_variable(self, column: int, variable: Variable, slots: Slots) -> None:
        if variable in slots:
            self._key.append(column)
            self.key_slots.append(slots[variable])
        elif variable in self.given:
            self._equal.append((self.given[variable], column))
        else:
            self.given[variable] = column

    def access(self, out: tuple[int, ...]) -> Access:
        return Access(
            self._width,
            tuple(self._expansions),
            tuple(self._constants),
            tuple(self._equal),
            tuple(self._key),
            out,
        )


def term_builder(term: Term, slots: Slots) -> Callable[[Row], Term]:
    """Return a function that makes *term* from a row that holds its variables."""
    if isinstance(term, Variable):
        slot = slots[term]
        return lambda row: row[slot]
    if isinstance(term, Compound) and not term.is_ground:
        functor, build = term.functor, builder(term.arguments, slots)
        return lambda row: Compound(functor, build(row))
    return lambda _: term


def builder(pattern: Sequence[Term], slots: Slots) -> Callable[[Row], Row]:
    """Return a function that makes the terms of *pattern* from a row that holds their variables."""
    if all(isinstance(term, Variable) for term in pattern):
        return columns(tuple(slots[term] for term in pattern if isinstance(term, Variable)))
    builders = [term_builder(term, slots) for term in pattern]
    return lambda row: tuple([build(row) for build in builders])
