"""Clauses to clauses that derive no atoms with arguments that nobody asks for.

A relation of squares may be derived for all pairs of coordinates, though it is only asked for those of a board. Where
an argument can have values that no rule asks for, its clauses get a condition that it is among those that are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from gdl.datalog.clauses import Clause, Literal
from gdl.datalog.values import (
    ALL,
    Bound,
    Values,
    arguments_of,
    bound_by,
    joined,
    narrow,
    values_of,
    values_of_relations,
)
from gdl.source import Span
from gdl.syntax import ARITIES, GDL2_ARITIES
from gdl.terms import Compound, Constant, Term, Variable, signature

Relation: TypeAlias = tuple[str, int]
Asked: TypeAlias = dict[Relation, tuple[Values, ...]]

ASKED: Final = "asked "
"""How the names of relations made here begin; no rule file can have a blank in a name."""


def narrowed(clauses: Iterable[Clause]) -> tuple[Clause, ...]:
    """Return clauses that answer the same questions, without those that can never hold."""
    clauses = tuple(clauses)
    work = _Narrowing(values_of_relations(clauses))
    asked = work.asked(clauses)
    found = [kept for clause in clauses if (kept := work.narrowed(clause, asked)) is not None]
    return (*found, *work.lists())


@dataclass(slots=True)
class _Narrowing:
    values: dict[Relation, tuple[Values, ...]]
    _names: dict[frozenset[Constant], tuple[str, Span]] = field(default_factory=dict)

    def asked(self, clauses: tuple[Clause, ...]) -> Asked:
        """Return for what values each relation is asked, argument by argument."""
        found: Asked = {}
        is_changed = True
        while is_changed:
            is_changed = False
            for clause in clauses:
                bound = self._bound(clause, found) if clause.literals else None
                if bound is not None:
                    for literal in clause.literals:
                        is_changed |= _ask(found, literal.atom, bound)
        return found

    def _bound(self, clause: Clause, asked: Asked) -> Bound | None:
        """Return the values of the variables where the clause is asked and holds."""
        bound = bound_by(clause.literals, self.values)
        wanted = _wanted(clause.head, asked)
        if bound is None or wanted is None or not narrow(arguments_of(clause.head), wanted, bound):
            return None
        return bound

    def narrowed(self, clause: Clause, asked: Asked) -> Clause | None:
        """Return *clause* for what is asked of it; None where it can be left out."""
        wanted = _wanted(clause.head, asked)
        bound = bound_by(clause.literals, self.values)
        if wanted is None or bound is None or not narrow(arguments_of(clause.head), wanted, dict(bound)):
            return None
        conditions: dict[Literal, None] = {}
        for argument, values in zip(arguments_of(clause.head), wanted, strict=True):
            if isinstance(argument, Variable) and values.is_listed and not _is_within(bound.get(argument, ALL), values):
                conditions[self._condition(argument, values.constants, clause.span)] = None
        return replace(clause, literals=(*clause.literals, *conditions))

    def _condition(self, variable: Variable, constants: frozenset[Constant], span: Span) -> Literal:
        name, _ = self._names.setdefault(constants, (f"{ASKED}{len(self._names)}", span))
        return Literal(Compound(name, (variable,)), is_positive=True)

    def lists(self) -> Iterator[Clause]:
        """Yield the facts that the conditions ask for."""
        for constants, (name, span) in self._names.items():
            for constant in sorted(constants, key=str):
                yield Clause(Compound(name, (constant,)), (), (), span)


def _wanted(head: Term, asked: Asked) -> tuple[Values, ...] | None:
    """Return for what values the relation of *head* is asked, None where nobody asks; all of what GDL names."""
    name, arity = signature(head)
    return (ALL,) * arity if name in ARITIES or name in GDL2_ARITIES else asked.get((name, arity))


def _ask(asked: Asked, atom: Term, bound: Bound) -> bool:
    """Note that *atom* is asked; return whether that is news."""
    relation = signature(atom)
    new = tuple(values_of(argument, bound) for argument in arguments_of(atom))
    known = asked.get(relation)
    asked[relation] = new if known is None else joined(known, new)
    return asked[relation] != known


def _is_within(values: Values, others: Values) -> bool:
    return values.is_listed and values.constants <= others.constants
