"""Clauses to clauses in which relations lack the arguments that do not matter.

A rule such as `(<= (near ?x ?y ?skipped) (next ?x ?y) (cell ?skipped))` holds for every cell that is skipped, whichever
it is. Where such rules are many, and such arguments, a relation has as many rows as there are combinations of values
that nobody looks at. Here each such relation becomes several, one for every set of arguments that do not matter in
some rule, without those arguments; who asks the relation asks all of them, and whether the arguments that one lacks
are of the kind (`cell`) that its rules want. Names of relations made here hold blanks, so that no rule file can have
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Final, TypeAlias

from gdl.datalog.clauses import Clause, Literal
from gdl.datalog.demand import can_be_chosen
from gdl.datalog.values import Bound, Values, arguments_of, bound_by, values_of, values_of_relations
from gdl.terms import Compound, Constant, Term, Variable, signature, variables

Relation: TypeAlias = tuple[str, int]
Lacking: TypeAlias = frozenset[int]
"""Which arguments a version of a relation does without, by number from 0."""

_MAX_VERSIONS: Final = 8
_MAX_ALTERNATIVES: Final = 64
"""Into how many clauses one clause may fall apart."""


def split(clauses: Iterable[Clause]) -> tuple[Clause, ...]:
    """Return clauses that answer the same questions; the same clauses where no argument is idle."""
    clauses = tuple(clauses)
    work = _Splitting(clauses)
    if not any(work.kinds.values()):
        return clauses
    return work.split() or clauses


@dataclass(slots=True)
class _Splitting:
    """The work on *clauses*; `kinds[r][i]` is the relation of one argument that argument i of r must be in."""

    clauses: tuple[Clause, ...]
    kinds: dict[Relation, dict[int, Relation]] = field(init=False)
    _listed: dict[Relation, frozenset[Term]] = field(init=False)
    _versions: dict[Relation, dict[Lacking, None]] = field(init=False, default_factory=dict)
    _values: dict[Relation, tuple[Values, ...]] = field(init=False)
    _whole: dict[Relation, None] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._listed = _listed(self.clauses)
        self.kinds = {}
        while sum(self._find_kinds(clause) for clause in self.clauses):
            pass
        self._values = values_of_relations(self.clauses)

    def _find_kinds(self, clause: Clause) -> bool:
        """Note which arguments of the head are idle in this clause; return whether that is news."""
        relation = signature(clause.head)
        if not can_be_chosen(relation) or not clause.literals:
            return False
        known = self.kinds.setdefault(relation, {})
        before = len(known)
        arguments = arguments_of(clause.head)
        for i, argument in enumerate(arguments):
            if i not in known and isinstance(argument, Variable) and _occurs_once(argument, arguments):
                kind = self._kind(argument, clause)
                if kind is not None:
                    known[i] = kind
        return len(known) > before

    def _kind(self, variable: Variable, clause: Clause) -> Relation | None:
        """Return the relation that is all that the body asks of *variable*."""
        if any(variable in variables(pair.left) + variables(pair.right) for pair in clause.differences):
            return None
        found: set[Relation | None] = set()
        for literal in clause.literals:
            if variable in variables(literal.atom):
                relation = signature(literal.atom)
                if not literal.is_positive:
                    return None
                if relation in self._listed:
                    found.add(relation)
                    continue
                kinds = self.kinds.get(relation, {})
                for i, argument in enumerate(arguments_of(literal.atom)):
                    if variable in variables(argument):
                        found.add(kinds.get(i) if argument is variable else None)
        return found.pop() if len(found) == 1 else None

    def split(self) -> tuple[Clause, ...] | None:
        """Return the clauses, None where there would be too many."""
        while True:
            n_versions = sum(map(len, self._versions.values())) + len(self._whole)
            found: dict[Clause, None] = {}
            for clause in self.clauses:
                rewritten = list(self._rewritten(clause))
                if len(rewritten) > _MAX_ALTERNATIVES:
                    return None
                found |= dict.fromkeys(rewritten)
            if any(len(versions) > _MAX_VERSIONS for versions in self._versions.values()):
                return None
            if sum(map(len, self._versions.values())) + len(self._whole) == n_versions:
                return (*found, *self._unions())

    def _rewritten(self, clause: Clause) -> Iterator[Clause]:
        bound = bound_by(clause.literals, self._values)
        if bound is None:
            return  # it never holds
        choices = [self._choices(literal, bound) for literal in clause.literals]
        for chosen in product(*choices):
            body = tuple(dict.fromkeys(literal for literals in chosen for literal in literals))
            yield self._without_idle(replace(clause, literals=body))

    def _choices(self, literal: Literal, bound: Bound) -> list[tuple[Literal, ...]]:
        """Return conjunctions of which one holds where *literal* does."""
        relation = signature(literal.atom)
        if not self.kinds.get(relation):
            return [(literal,)]
        versions = self._versions.get(relation, {})
        if literal.is_positive:
            return [self._asked(literal, lacking) for lacking in versions]
        if all(self._is_of_kind(literal.atom, i, bound) for lacking in versions for i in lacking):
            return [tuple(replace(literal, atom=_version(literal.atom, lacking)) for lacking in versions)]
        self._whole[relation] = None
        return [(literal,)]

    def _asked(self, literal: Literal, lacking: Lacking) -> tuple[Literal, ...]:
        """Return what a version is asked, and that the arguments that it lacks are of their kinds."""
        relation, arguments = signature(literal.atom), arguments_of(literal.atom)
        kinds = (Compound(self.kinds[relation][i][0], (arguments[i],)) for i in sorted(lacking))
        atom = _version(literal.atom, lacking)
        return (replace(literal, atom=atom), *(Literal(kind, is_positive=True) for kind in kinds))

    def _is_of_kind(self, atom: Term, i: int, bound: Bound) -> bool:
        found = values_of(arguments_of(atom)[i], bound)
        return found.is_listed and found.constants <= self._listed[self.kinds[signature(atom)][i]]

    def _without_idle(self, clause: Clause) -> Clause:
        """Return *clause* as one of the version that lacks the arguments that do not matter in it."""
        relation, arguments = signature(clause.head), arguments_of(clause.head)
        kinds = self.kinds.get(relation)
        if not kinds:
            return clause
        idle = {i: arguments[i] for i in kinds if self._is_idle(i, clause, kinds)}
        self._versions.setdefault(relation, {})[frozenset(idle)] = None
        dropped = {Compound(kinds[i][0], (variable,)) for i, variable in idle.items()}
        literals = tuple(literal for literal in clause.literals if literal.atom not in dropped)
        return replace(clause, head=_version(clause.head, frozenset(idle)), literals=literals)

    def _is_idle(self, i: int, clause: Clause, kinds: Mapping[int, Relation]) -> bool:
        variable = arguments_of(clause.head)[i]
        if not isinstance(variable, Variable) or not _occurs_once(variable, arguments_of(clause.head)):
            return False
        if any(variable in variables(pair.left) + variables(pair.right) for pair in clause.differences):
            return False
        asked = [literal for literal in clause.literals if variable in variables(literal.atom)]
        kind = Compound(kinds[i][0], (variable,))
        return bool(asked) and all(literal.is_positive and literal.atom is kind for literal in asked)

    def _unions(self) -> Iterator[Clause]:
        """Yield clauses for relations that somebody asks as they were."""
        for relation in self._whole:
            name, arity = relation
            atom = Compound(name, tuple(Variable(f"?{i}") for i in range(arity)))
            span = next(clause.span for clause in self.clauses if signature(clause.head) == relation)
            for lacking in self._versions.get(relation, {}):
                yield Clause(atom, self._asked(Literal(atom, is_positive=True), lacking), (), span)


def _listed(clauses: Iterable[Clause]) -> dict[Relation, frozenset[Term]]:
    """Return the relations of one argument that facts define, and nothing else."""
    found: dict[Relation, set[Term]] = {}
    derived: set[Relation] = set()
    for clause in clauses:
        relation = signature(clause.head)
        if clause.literals or clause.differences or not clause.head.is_ground:
            derived.add(relation)
        elif can_be_chosen(relation) and relation[1] == 1:
            found.setdefault(relation, set()).update(arguments_of(clause.head))
    return {relation: frozenset(values) for relation, values in found.items() if relation not in derived}


def _occurs_once(variable: Variable, arguments: Iterable[Term]) -> bool:
    return sum(variable in variables(argument) for argument in arguments) == 1


def _version(atom: Term, lacking: Lacking) -> Constant | Compound:
    """Return *atom* as one of the version that lacks these arguments."""
    name, _ = signature(atom)
    kept = tuple(argument for i, argument in enumerate(arguments_of(atom)) if i not in lacking)
    name = f"{name} without {','.join(map(str, sorted(lacking))) or 'nothing'}"
    return Compound(name, kept) if kept else Constant(name)
