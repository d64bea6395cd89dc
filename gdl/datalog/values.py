"""Which values the arguments of relations can have, in any state: a rough answer, got without deriving any atom.

Each argument is looked at by itself. The answer may have values that never occur, but it lacks none that does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from typing import Final, TypeAlias

from gdl.datalog.clauses import Clause, Literal
from gdl.terms import Compound, Constant, Term, Variable, signature

Relation: TypeAlias = tuple[str, int]

_MAX_DEPTH: Final = 4
"""How deep values are told apart."""
_MAX_CONSTANTS: Final = 4_096
"""Of how many constants a set is kept."""
_EVERY_STATE: Final = (("next", 1, "true"), ("init", 1, "true"), ("legal", 2, "does"))
"""What is asked as another relation: its name, its arity, and the name under which it is asked."""


@dataclass(frozen=True, slots=True)
class Values:
    """A set of terms: constants, and function terms whose arguments are sets; all terms there are, if `is_all`."""

    constants: frozenset[Constant] = frozenset()
    compounds: dict[tuple[str, int], tuple[Values, ...]] = field(default_factory=dict)
    is_all: bool = False

    def __or__(self, other: Values) -> Values:
        if self.is_all or other.is_all or len(self.constants | other.constants) > _MAX_CONSTANTS:
            return ALL
        compounds = dict(self.compounds)
        for key, arguments in other.compounds.items():
            known = compounds.get(key)
            compounds[key] = arguments if known is None else joined(known, arguments)
        return Values(self.constants | other.constants, compounds)

    def __and__(self, other: Values) -> Values:
        if self.is_all or other.is_all:
            return other if self.is_all else self
        pairs = {
            key: tuple(a & b for a, b in zip(arguments, other.compounds[key], strict=True))
            for key, arguments in self.compounds.items()
            if key in other.compounds
        }
        compounds = {key: arguments for key, arguments in pairs.items() if all(map(bool, arguments))}
        return Values(self.constants & other.constants, compounds)

    def __bool__(self) -> bool:
        return self.is_all or bool(self.constants) or bool(self.compounds)

    @property
    def is_listed(self) -> bool:
        """Whether these are constants, and nothing else."""
        return not self.is_all and not self.compounds


ALL: Final = Values(is_all=True)
NONE: Final = Values()

Bound: TypeAlias = dict[Variable, Values]


def joined(left: tuple[Values, ...], right: tuple[Values, ...]) -> tuple[Values, ...]:
    """Return what is in one of two sets, argument by argument."""
    return tuple(a | b for a, b in zip(left, right, strict=True))


def arguments_of(atom: Term) -> tuple[Term, ...]:
    """Return the arguments of an atom, none of a proposition."""
    return atom.arguments if isinstance(atom, Compound) else ()


def values_of_relations(clauses: Iterable[Clause]) -> dict[Relation, tuple[Values, ...]]:
    """Return the values of every argument of the relations that can hold at all."""
    found: dict[Relation, tuple[Values, ...]] = {}
    rules = []
    for clause in clauses:
        if clause.literals:
            rules.append(clause)
        else:
            _add(found, clause.head, {})
    is_changed = True
    while is_changed:
        is_changed = _ask_as(found)
        for clause in rules:
            bound = bound_by(clause.literals, found)
            is_changed |= bound is not None and _add(found, clause.head, bound)
    return found


def bound_by(literals: Iterable[Literal], found: dict[Relation, tuple[Values, ...]]) -> Bound | None:
    """Return the values of the variables where all *literals* hold; None where they never do."""
    bound: Bound = {}
    for literal in literals:
        if literal.is_positive:
            known = found.get(signature(literal.atom))
            if known is None or not narrow(arguments_of(literal.atom), known, bound):
                return None
    return bound


def narrow(terms: Iterable[Term], values: Iterable[Values], bound: Bound) -> bool:
    """Bind the variables of *terms* to what *values* leaves of them; return whether anything is left."""
    return all(_narrow(term, value, bound, 0) for term, value in zip(terms, values, strict=True))


def _narrow(term: Term, values: Values, bound: Bound, depth: int) -> bool:
    if values.is_all or depth > _MAX_DEPTH:
        return True
    if isinstance(term, Variable):
        bound[term] = bound.get(term, ALL) & values
        return bool(bound[term])
    if isinstance(term, Constant):
        return term in values.constants
    inner = values.compounds.get(signature(term))
    if inner is None:
        return False
    return all(_narrow(part, value, bound, depth + 1) for part, value in zip(term.arguments, inner, strict=True))


def values_of(term: Term, bound: Bound, depth: int = 0) -> Values:
    """Return the values of *term* where its variables have the values *bound*."""
    if isinstance(term, Constant):
        return Values(frozenset([term]))
    if isinstance(term, Variable):
        found = bound.get(term, ALL)
        return found if depth + _depth(found) <= _MAX_DEPTH else ALL
    if depth >= _MAX_DEPTH:
        return ALL
    return Values(compounds={signature(term): tuple(values_of(part, bound, depth + 1) for part in term.arguments)})


def _depth(values: Values) -> int:
    inner = [reduce(max, map(_depth, arguments), 0) for arguments in values.compounds.values()]
    return 1 + max(inner) if inner else 0


def _add(found: dict[Relation, tuple[Values, ...]], head: Term, bound: Bound) -> bool:
    """Add an atom's values; return whether that changes anything."""
    relation = signature(head)
    new = tuple(values_of(argument, bound) for argument in arguments_of(head))
    return _join(found, relation, new)


def _ask_as(found: dict[Relation, tuple[Values, ...]]) -> bool:
    is_changed = False
    for name, arity, other in _EVERY_STATE:
        if (name, arity) in found:
            is_changed |= _join(found, (other, arity), found[name, arity])
    return is_changed


def _join(found: dict[Relation, tuple[Values, ...]], relation: Relation, new: tuple[Values, ...]) -> bool:
    known = found.get(relation)
    both = new if known is None else joined(known, new)
    found[relation] = both
    return both != known
