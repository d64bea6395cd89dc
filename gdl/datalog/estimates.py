"""How many ground instances conditions may have: a rough number, from values of variables and sizes of relations.

Source: Selinger et al. 1979, with values and conditions taken to be independent.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import prod
from typing import Final, TypeAlias

from gdl.datalog.clauses import Clause, Difference, Literal
from gdl.datalog.dependencies import components_of
from gdl.datalog.domains import Bound, Values, arguments_of, bound_by, values_of
from gdl.datalog.fixpoints import values_of_relations
from gdl.language.terms import Signature, Variable, signature, variables

Part: TypeAlias = Literal | Difference

_MANY: Final = 1e6
"""How many values there are where they cannot be counted."""


@dataclass(slots=True)
class Estimates:
    """Sizes of the relations that *clauses* define, and of those that are added."""

    values: dict[Signature, tuple[Values, ...]]
    sizes: dict[Signature, float] = field(default_factory=dict)

    @classmethod
    def of(cls, clauses: Iterable[Clause]) -> Estimates:
        """Return the estimates for *clauses*."""
        clauses = tuple(clauses)
        found = cls(values_of_relations(clauses))
        for relations in _levels(clauses):
            heads = [clause for clause in clauses if signature(clause.head) in relations]
            for relation in relations:
                most = prod(map(count, found.values.get(relation, ())))
                found.sizes[relation] = most if len(relations) > 1 else found._derived(relation, heads, most)
        return found

    def _derived(self, relation: Signature, clauses: list[Clause], most: float) -> float:
        total = 0.0
        for clause in clauses:
            if any(signature(literal.atom) == relation for literal in clause.literals):
                return most
            total += self.instances(clause.literals, variables(clause.head), bound_by(clause.literals, self.values))
        return min(total, most)

    def add(self, clause: Clause) -> None:
        """Take in the one clause of a new relation."""
        relation = signature(clause.head)
        bound = bound_by(clause.literals, self.values)
        self.values[relation] = tuple(values_of(argument, bound or {}) for argument in arguments_of(clause.head))
        self.sizes[relation] = self.instances(clause.literals, variables(clause.head), bound)

    def sizes_of(
        self, parts: Iterable[Part], scope: Iterable[Variable], kept: Iterable[Variable]
    ) -> tuple[float, float]:
        """Return how many values the variables of *scope* and those of *kept* have where *parts* hold."""
        parts = tuple(parts)
        bound = bound_by((part for part in parts if isinstance(part, Literal)), self.values)
        return self.instances(parts, scope, bound), self.instances(parts, kept, bound)

    def instances(self, parts: Iterable[Part], scope: Iterable[Variable], bound: Bound | None) -> float:
        """Return how many values the variables of *scope* may have together where *parts* hold."""
        if bound is None:
            return 0.0
        wanted = frozenset(scope)
        found = prod(count(bound[v]) if v in bound else _MANY for v in wanted)
        for part in parts:
            if isinstance(part, Literal) and part.is_positive and wanted.issuperset(variables(part.atom)):
                found *= self._share(part)
        return max(found, 1.0)

    def _share(self, literal: Literal) -> float:
        """Return how many of the atoms that values allow there are at most."""
        relation = signature(literal.atom)
        known = self.values.get(relation, ())
        allowed = prod(map(count, known))
        size = self.sizes.get(relation, allowed)
        return min(1.0, size / allowed) if allowed else 0.0


def count(values: Values) -> float:
    """Return how many terms there are in *values*."""
    if values.is_all:
        return _MANY
    return len(values.constants) + sum(prod(map(count, arguments)) for arguments in values.compounds.values())


def _levels(clauses: tuple[Clause, ...]) -> list[set[Signature]]:
    """Return the relations that clauses define, those that others need first, those that need one another together."""
    heads = list(dict.fromkeys(signature(clause.head) for clause in clauses))
    place = {relation: i for i, relation in enumerate(heads)}
    below: list[set[int]] = [set() for _ in heads]
    for clause in clauses:
        below[place[signature(clause.head)]].update(
            place[relation] for literal in clause.literals if (relation := signature(literal.atom)) in place
        )
    return [{heads[i] for i in component} for component in components_of([tuple(each) for each in below])]
