"""Sets of terms, as far as they stay distinct: what they leave of the variables of conditions, and what heads add."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from typing import Final, TypeAlias

from gdl.datalog.clauses import Literal
from gdl.language.terms import Constant, Signature, Term, Variable, arguments_of, signature

Functor: TypeAlias = tuple[str, int]
Known: TypeAlias = dict[Signature, tuple["Values", ...]]
"""The values of every argument of some relations."""
MAX_DEPTH: Final = 4
"""The depth to which values are distinguished."""
MAX_CONSTANTS: Final = 4_096
"""Of how many constants a set is kept."""
MAX_SIZE: Final = 65_536
"""How many names a set may hold, those of function terms and of what stands in them included."""


@dataclass(frozen=True, slots=True)
class Values:
    """A set of terms: constants, and function terms whose arguments are sets; all terms there are, if `is_all`.

    `size` counts the names in it. `a | b` is *a* itself where *b* adds nothing.
    """

    constants: frozenset[Constant] = frozenset()
    compounds: dict[Functor, tuple[Values, ...]] = field(default_factory=dict)
    is_all: bool = False
    size: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        inner = sum(1 + value.size for arguments in self.compounds.values() for value in arguments)
        object.__setattr__(self, "size", len(self.constants) + inner)

    def __or__(self, other: Values) -> Values:
        if self.is_all or other.is_all:
            return TOP
        if other is self or not other:
            return self
        if not self:
            return other
        constants = self.constants if other.constants <= self.constants else self.constants | other.constants
        if len(constants) > MAX_CONSTANTS:
            return TOP
        compounds = self._compounds_with(other)
        if constants is self.constants and compounds is self.compounds:
            return self
        found = Values(constants, compounds)
        return found if found.size <= MAX_SIZE else TOP

    def _compounds_with(self, other: Values) -> dict[Functor, tuple[Values, ...]]:
        new: dict[Functor, tuple[Values, ...]] = {}
        for key, arguments in other.compounds.items():
            known = self.compounds.get(key)
            both = arguments if known is None else join(known, arguments)
            if known is None or not is_same(known, both):
                new[key] = both
        return self.compounds | new if new else self.compounds

    def __and__(self, other: Values) -> Values:
        if self.is_all or other.is_all:
            return other if self.is_all else self
        if self is other:
            return self
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


TOP: Final = Values(is_all=True)
BOTTOM: Final = Values()

Bound: TypeAlias = dict[Variable, Values]


def join(left: tuple[Values, ...], right: tuple[Values, ...]) -> tuple[Values, ...]:
    """Return what is in one of two sets, argument by argument."""
    return tuple(a | b for a, b in zip(left, right, strict=True))


def is_same(left: tuple[Values, ...], right: tuple[Values, ...]) -> bool:
    """Return whether *right*, which was joined from *left* and others, has nothing new."""
    return all(a is b for a, b in zip(left, right, strict=True))


def bound_by(literals: Iterable[Literal], found: Known) -> Bound | None:
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
    if values.is_all or depth > MAX_DEPTH:
        return True
    if isinstance(term, Variable):
        bound[term] = bound.get(term, TOP) & values
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
        found = bound.get(term, TOP)
        return found if depth + _depth(found) <= MAX_DEPTH else TOP
    if depth >= MAX_DEPTH:
        return TOP
    return Values(compounds={signature(term): tuple(values_of(part, bound, depth + 1) for part in term.arguments)})


def _depth(values: Values) -> int:
    inner = [reduce(max, map(_depth, arguments), 0) for arguments in values.compounds.values()]
    return 1 + max(inner) if inner else 0


class _Collected:
    """The values of one argument of some facts, taken in term by term."""

    __slots__ = ("_compounds", "_constants", "_is_all")

    def __init__(self) -> None:
        self._constants: set[Constant] = set()
        self._compounds: dict[tuple[str, int], tuple[_Collected, ...]] = {}
        self._is_all = False

    def add(self, term: Term, depth: int = 0) -> None:
        """Take in *term*, which stands that deep in its argument."""
        if self._is_all:
            return
        if isinstance(term, Constant):
            self._constants.add(term)
        elif isinstance(term, Variable) or depth >= MAX_DEPTH:
            self._is_all = True
        else:
            key = signature(term)
            if key not in self._compounds:
                self._compounds[key] = tuple(_Collected() for _ in term.arguments)
            for inner, argument in zip(self._compounds[key], term.arguments, strict=True):
                inner.add(argument, depth + 1)
        if len(self._constants) > MAX_CONSTANTS:
            self._is_all = True

    def values(self) -> Values:
        """Return what was taken in."""
        if self._is_all:
            return TOP
        compounds = {key: tuple(one.values() for one in inner) for key, inner in self._compounds.items()}
        found = Values(frozenset(self._constants), compounds)
        return found if found.size <= MAX_SIZE else TOP


def values_of_heads(heads: Iterable[Term]) -> Known:
    """Return the values of every argument in *heads*, as if each held for all values of its variables."""
    found: dict[Signature, tuple[_Collected, ...]] = {}
    for head in heads:
        relation = signature(head)
        if relation not in found:
            found[relation] = tuple(_Collected() for _ in arguments_of(head))
        for collected, argument in zip(found[relation], arguments_of(head), strict=True):
            collected.add(argument)
    return {relation: tuple(one.values() for one in arguments) for relation, arguments in found.items()}
