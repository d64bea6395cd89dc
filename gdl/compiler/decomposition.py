"""Clauses to clauses with fewer variables each: what a head does not mention is projected away early.

A variable that is not in the head is eliminated by an auxiliary relation over the literals that mention it, that with
the fewest instances first, as in tree decomposition. Equal auxiliaries are shared. Grounding takes as many
steps as a clause has instances, so this decides how large the circuit is.

Sources: Bichler, Morak, Woltran 2016 (lpopt); for the number of instances Selinger et al. 1979, with values and
conditions taken to be independent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import prod
from typing import Final, TypeAlias

from gdl.datalog.clauses import Clause, Difference, Literal
from gdl.datalog.dependencies import components_of
from gdl.datalog.domains import values_of_relations
from gdl.datalog.values import Bound, Values, bound_by, values_of
from gdl.diagnostics import Span
from gdl.language.terms import (
    Compound,
    Constant,
    Signature,
    Term,
    Variable,
    arguments_of,
    signature,
    substitute,
    variables,
)

Part: TypeAlias = Literal | Difference

AUXILIARY: Final = "auxiliary "
"""How the names of auxiliary relations begin; no rule file can have a blank in a name."""
GUARD: Final = "guard "
"""How the names of relations begin that only bind variables: a clause that asks one also asks for what it stands for.

Their atoms may be taken to hold in every state, if they ever can.
"""


def decompose(clauses: Iterable[Clause]) -> tuple[Clause, ...]:
    """Return clauses that define the same relations, each with as few variables as elimination reaches."""
    clauses = tuple(clauses)
    work = _Decomposition(Estimates.of(clauses))
    for clause in clauses:
        work.add(clause)
    return tuple(work.clauses)


@dataclass(frozen=True, slots=True)
class _Group:
    """The parts that become an auxiliary relation; `scope` are their variables, `kept` those seen from outside.

    Of the literals `guards`, which belong to `rest`, it needs only what they say of `scope`.
    """

    parts: tuple[Part, ...]
    scope: frozenset[Variable]
    kept: frozenset[Variable]
    rest: tuple[Part, ...]
    guards: tuple[Part, ...] = ()


@dataclass(slots=True)
class _Decomposition:
    estimates: Estimates
    clauses: list[Clause] = field(default_factory=list)
    _shared: dict[tuple[object, ...], str] = field(default_factory=dict)

    def add(self, clause: Clause) -> None:
        head_variables = frozenset(variables(clause.head))
        body: tuple[Part, ...] = (*clause.literals, *clause.differences)
        while (group := self._best_group(body, head_variables)) is not None:
            auxiliary = self._auxiliary(group, clause.span)
            body = (*group.rest, Literal(auxiliary, is_positive=True))
        self.clauses.append(_clause(clause.head, body, clause.span))

    def _best_group(self, body: tuple[Part, ...], head_variables: frozenset[Variable]) -> _Group | None:
        scopes = {part: part_variables(part) for part in body}
        everything = frozenset().union(*scopes.values())
        groups = (_group(v, scopes, head_variables) for v in sorted(everything - head_variables, key=str))
        useful = (group for group in groups if group is not None and _is_useful(group, everything))
        return min(useful, key=self._cost, default=None)

    def _cost(self, group: _Group) -> tuple[float, ...]:
        """Return what decides which group comes first: how many instances it has, then how many atoms it defines."""
        n_instances, n_atoms = self.estimates.sizes_of((*group.parts, *group.guards), group.scope, group.kept)
        return bool(group.guards), n_instances, n_atoms, len(group.scope), len(group.kept)

    def _auxiliary(self, group: _Group, span: Span) -> Constant | Compound:
        """Return the atom that stands for *group*, defined now unless an equal one is there."""
        kept = tuple(sorted(group.kept, key=str))
        parts = (*group.parts, *(self._guard(guard, group.scope, span) for guard in group.guards))
        return self._defined(AUXILIARY, parts, kept, span)

    def _guard(self, part: Part, scope: frozenset[Variable], span: Span) -> Literal:
        kept = tuple(sorted(part_variables(part) & scope, key=str))
        return Literal(self._defined(GUARD, (part,), kept, span), is_positive=True)

    def _defined(
        self, prefix: str, parts: tuple[Part, ...], kept: tuple[Variable, ...], span: Span
    ) -> Constant | Compound:
        key, order = _canonical(parts, kept)
        name = self._shared.get((prefix, *key))
        if name is None:
            name = self._shared[prefix, *key] = f"{prefix}{len(self._shared)}"
            clause = _clause(_atom(name, order), parts, span)
            self.clauses.append(clause)
            self.estimates.add(clause)
        return _atom(name, order)


def _atom(name: str, arguments: tuple[Variable, ...]) -> Constant | Compound:
    return Compound(name, arguments) if arguments else Constant(name)


def _clause(head: Constant | Compound, body: Iterable[Part], span: Span) -> Clause:
    parts = tuple(body)
    literals = tuple(part for part in parts if isinstance(part, Literal))
    return Clause(head, literals, tuple(part for part in parts if isinstance(part, Difference)), span)


def _is_useful(group: _Group, everything: frozenset[Variable]) -> bool:
    if len(group.scope) >= len(everything):
        return False
    return len(group.parts) > 1 or len(group.kept) < len(group.scope)


def _group(
    variable: Variable, scopes: dict[Part, frozenset[Variable]], head_variables: frozenset[Variable]
) -> _Group | None:
    """Return what must be joined to eliminate *variable*; None where that would leave a variable unbound."""
    parts = [part for part, scope in scopes.items() if variable in scope]
    scope = frozenset().union(*(scopes[part] for part in parts))
    unbound = scope.difference(*(scopes[part] for part in parts if _binds(part)))
    binders = []
    for part, its in scopes.items():
        if unbound & its and part not in parts and _binds(part) and its <= scope:
            binders.append(part)
            unbound -= its
    guards = []
    while unbound:
        found = _guard(unbound, scope, scopes, parts)
        if found is None:
            return None
        guards.append(found)  # it stays in the rest, too
        unbound -= scopes[found]
    rest = tuple(part for part in scopes if part not in parts)
    outside = head_variables.union(*(scopes[part] for part in rest))
    return _Group((*parts, *binders), scope, scope & outside, rest, tuple(guards))


def _guard(
    unbound: frozenset[Variable], scope: frozenset[Variable], scopes: dict[Part, frozenset[Variable]], parts: list[Part]
) -> Part | None:
    """Return the literal besides *parts* that binds one of *unbound*, and says most of *scope*."""
    candidates = [part for part, its in scopes.items() if unbound & its and part not in parts and _binds(part)]
    return max(candidates, key=lambda part: (len(scopes[part] & scope), -len(scopes[part])), default=None)


def _binds(part: Part) -> bool:
    return isinstance(part, Literal) and part.is_positive


def part_variables(part: Part) -> frozenset[Variable]:
    """Return the variables of a literal or a difference."""
    if isinstance(part, Literal):
        return frozenset(variables(part.atom))
    return frozenset(variables(part.left) + variables(part.right))


def _canonical(parts: tuple[Part, ...], kept: tuple[Variable, ...]) -> tuple[tuple[object, ...], tuple[Variable, ...]]:
    """Return *parts* with their variables numbered, and *kept* in the order of those numbers.

    Two groups with the same first answer define the same relation, up to the names of variables. The numbers stand
    behind a blank, which no name in a rule file has.
    """
    numbered: dict[Variable, Term] = {}
    key = []
    for part in sorted(parts, key=_shape):
        for variable in _in_order(part):
            numbered.setdefault(variable, Variable(f"? {len(numbered)}"))
        key.append(_renamed(part, numbered))
    order = tuple(sorted(kept, key=lambda variable: list(numbered).index(variable)))
    return (tuple(key), tuple(numbered[variable] for variable in order)), order


def _in_order(part: Part) -> tuple[Variable, ...]:
    return variables(part.atom) if isinstance(part, Literal) else variables(part.left) + variables(part.right)


def _shape(part: Part) -> str:
    """Return the text of *part* without the names of its variables."""
    blank: dict[Variable, Term] = dict.fromkeys(_in_order(part), Constant("?"))
    return str(_renamed(part, blank))


def _renamed(part: Part, names: dict[Variable, Term]) -> tuple[object, ...]:
    if isinstance(part, Literal):
        return (part.is_positive, str(substitute(part.atom, names)))
    return (str(substitute(part.left, names)), str(substitute(part.right, names)))


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
        found, defining = cls(values_of_relations(clauses)), defaultdict[Signature, list[Clause]](list)
        for clause in clauses:
            defining[signature(clause.head)].append(clause)
        for relations in _levels(clauses):
            for relation in relations:
                most = prod(map(count, found.values.get(relation, ())))
                is_alone = len(relations) == 1
                found.sizes[relation] = found._derived(relation, defining[relation], most) if is_alone else most
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
