"""Clauses to clauses in which relations are projected to the arguments that matter: the others are don't-care ones.

A rule such as `(<= (near ?x ?y ?skipped) (next ?x ?y) (cell ?skipped))` holds for every cell that is skipped, whichever
it is. Where such rules are many, and such arguments, a relation has as many rows as there are combinations of values
of its don't-care arguments. Here each such relation becomes several, its projections: one for every set of don't-care
arguments of some rule, without those. A clause that asks the relation asks all projections, and whether each argument
that is projected away is in the domain (`cell`) that the rules want. Names of relations made here hold blanks, so that
no rule file can have them.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import chain, islice, product
from typing import Final, TypeAlias

from gdl.datalog.clauses import Clause, Literal
from gdl.datalog.demand import can_be_chosen
from gdl.datalog.domains import values_of_relations
from gdl.datalog.values import Bound, Values, bound_by, values_of
from gdl.language.terms import Compound, Constant, Signature, Term, Variable, arguments_of, signature, variables

Projection: TypeAlias = frozenset[int]
"""The arguments that a projection of a relation does without, by number from 0."""

_MAX_PROJECTIONS: Final = 8
_MAX_ALTERNATIVES: Final = 64
"""Into how many clauses one clause may fall apart."""


def split(clauses: Iterable[Clause]) -> tuple[Clause, ...]:
    """Return clauses that answer the same questions; the same clauses where there is no don't-care argument."""
    clauses = tuple(clauses)
    work = Splitting(clauses)
    if not any(work.domains.values()):
        return clauses
    return work.split() or clauses


class _Passes:
    """The order of passes over *clauses*, one after the other, without the clauses for which nothing has changed.

    Iterating yields numbers of clauses, first all of them. Work so grows with what changes: a chain of rules in which
    each waits for the next needs as many passes as it has rules, most of them over a single clause.
    """

    def __init__(self, clauses: Sequence[Clause]) -> None:
        self._clauses = clauses
        self._asking: dict[Signature, list[int]] = defaultdict(list)
        for number, clause in enumerate(clauses):
            for relation in {signature(literal.atom) for literal in clause.literals}:
                self._asking[relation].append(number)
        self._now = list(range(len(clauses)))
        self._next: list[int] = []
        self._is_waiting = set(self._now)

    def __iter__(self) -> Iterator[int]:
        while self._now:
            number = heappop(self._now)
            self._is_waiting.discard(number)
            yield number
            if not self._now:
                self._now, self._next = sorted(self._next), []

    def look_again(self, number: int) -> None:
        """Yield the clauses again that ask the relation of the head of clause *number*, which is at hand.

        Those that come after it are still to come in this pass, the others in the next one.
        """
        for asking in self._asking.get(signature(self._clauses[number].head), ()):
            if asking not in self._is_waiting:
                self._is_waiting.add(asking)
                if asking > number:
                    heappush(self._now, asking)
                else:
                    self._next.append(asking)


@dataclass(slots=True)
class Splitting:
    """The work on *clauses*; `domains[r][i]`, a relation of one argument, is the domain of argument i of r.

    `n_looks` counts how often a clause was looked at.
    """

    clauses: tuple[Clause, ...]
    domains: dict[Signature, dict[int, Signature]] = field(init=False)
    n_looks: int = field(init=False, default=0)
    _listed: dict[Signature, frozenset[Term]] = field(init=False)
    _projections: dict[Signature, dict[Projection, None]] = field(init=False, default_factory=dict)
    _values: dict[Signature, tuple[Values, ...]] = field(init=False)
    _whole: dict[Signature, None] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._listed = _listed(self.clauses)
        self.domains = {}
        passes = _Passes(self.clauses)
        for number in passes:
            self.n_looks += 1
            if self._find_domains(self.clauses[number]):
                passes.look_again(number)
        self._values = values_of_relations(self.clauses)

    def _find_domains(self, clause: Clause) -> bool:
        """Note which arguments of the head are don't-care ones in this clause; return whether any was not known."""
        relation = signature(clause.head)
        if not can_be_chosen(relation) or not clause.literals:
            return False
        known = self.domains.setdefault(relation, {})
        before = len(known)
        arguments = arguments_of(clause.head)
        for i, argument in enumerate(arguments):
            if i not in known and isinstance(argument, Variable) and _occurs_once(argument, arguments):
                domain = self._domain(argument, clause)
                if domain is not None:
                    known[i] = domain
        return len(known) > before

    def _domain(self, variable: Variable, clause: Clause) -> Signature | None:
        """Return the relation that is all that the body asks of *variable*."""
        if any(variable in variables(pair.left) + variables(pair.right) for pair in clause.differences):
            return None
        literals = [literal for literal in clause.literals if variable in variables(literal.atom)]
        if not all(literal.is_positive for literal in literals):
            return None
        found = {domain for literal in literals for domain in self._asked_of(variable, literal.atom)}
        return found.pop() if len(found) == 1 else None

    def _asked_of(self, variable: Variable, atom: Constant | Compound) -> Iterator[Signature | None]:
        """Yield the relations that are all that *atom* asks of *variable* where it stands, None where it asks more."""
        relation = signature(atom)
        if relation in self._listed:
            yield relation
            return
        domains = self.domains.get(relation, {})
        for i, argument in enumerate(arguments_of(atom)):
            if variable in variables(argument):
                yield domains.get(i) if argument is variable else None

    def split(self) -> tuple[Clause, ...] | None:
        """Return the clauses, None where there would be too many."""
        rewritten: list[list[Clause]] = [[] for _ in self.clauses]
        passes = _Passes(self.clauses)
        for number in passes:
            self.n_looks += 1
            relation = signature(self.clauses[number].head)
            n_projections = len(self._projections.get(relation, ()))
            rewritten[number] = list(islice(self._rewritten(self.clauses[number]), _MAX_ALTERNATIVES + 1))
            n_found = len(self._projections.get(relation, ()))
            if len(rewritten[number]) > _MAX_ALTERNATIVES or n_found > _MAX_PROJECTIONS:
                return None
            if n_found > n_projections:
                passes.look_again(number)
        return (*dict.fromkeys(chain.from_iterable(rewritten)), *self._unions())

    def _rewritten(self, clause: Clause) -> Iterator[Clause]:
        bound = bound_by(clause.literals, self._values)
        if bound is None:
            return  # it never holds
        choices = [self._choices(literal, bound) for literal in clause.literals]
        for chosen in product(*choices):
            body = tuple(dict.fromkeys(literal for literals in chosen for literal in literals))
            yield self._projected(replace(clause, literals=body))

    def _choices(self, literal: Literal, bound: Bound) -> list[tuple[Literal, ...]]:
        """Return conjunctions of which one holds where *literal* does."""
        relation = signature(literal.atom)
        if not self.domains.get(relation):
            return [(literal,)]
        projections = self._projections.get(relation, {})
        if literal.is_positive:
            return [self._asked(literal, projection) for projection in projections]
        if all(self._is_in_domain(literal.atom, i, bound) for projection in projections for i in projection):
            return [tuple(replace(literal, atom=_projection(literal.atom, projection)) for projection in projections)]
        self._whole[relation] = None
        return [(literal,)]

    def _asked(self, literal: Literal, projection: Projection) -> tuple[Literal, ...]:
        """Return the literal of a projection, and those that put the arguments projected away into their domains."""
        relation, arguments = signature(literal.atom), arguments_of(literal.atom)
        domains = (Compound(self.domains[relation][i][0], (arguments[i],)) for i in sorted(projection))
        atom = _projection(literal.atom, projection)
        return (replace(literal, atom=atom), *(Literal(domain, is_positive=True) for domain in domains))

    def _is_in_domain(self, atom: Term, i: int, bound: Bound) -> bool:
        found = values_of(arguments_of(atom)[i], bound)
        return found.is_listed and found.constants <= self._listed[self.domains[signature(atom)][i]]

    def _projected(self, clause: Clause) -> Clause:
        """Return *clause* as one of the projection without the arguments that are don't-care ones in it."""
        relation, arguments = signature(clause.head), arguments_of(clause.head)
        domains = self.domains.get(relation)
        if not domains:
            return clause
        dont_care = {i: arguments[i] for i in domains if self._is_dont_care(i, clause, domains)}
        self._projections.setdefault(relation, {})[frozenset(dont_care)] = None
        dropped = {Compound(domains[i][0], (variable,)) for i, variable in dont_care.items()}
        literals = tuple(literal for literal in clause.literals if literal.atom not in dropped)
        return replace(clause, head=_projection(clause.head, frozenset(dont_care)), literals=literals)

    def _is_dont_care(self, i: int, clause: Clause, domains: Mapping[int, Signature]) -> bool:
        variable = arguments_of(clause.head)[i]
        if not isinstance(variable, Variable) or not _occurs_once(variable, arguments_of(clause.head)):
            return False
        if any(variable in variables(pair.left) + variables(pair.right) for pair in clause.differences):
            return False
        asked = [literal for literal in clause.literals if variable in variables(literal.atom)]
        domain = Compound(domains[i][0], (variable,))
        return bool(asked) and all(literal.is_positive and literal.atom is domain for literal in asked)

    def _unions(self) -> Iterator[Clause]:
        """Yield clauses for relations that a clause asks unprojected, each the union of its projections."""
        spans = {signature(clause.head): clause.span for clause in reversed(self.clauses)}
        for relation in self._whole:
            name, arity = relation
            atom = Compound(name, tuple(Variable(f"?{i}") for i in range(arity)))
            for projection in self._projections.get(relation, {}):
                yield Clause(atom, self._asked(Literal(atom, is_positive=True), projection), (), spans[relation])


def _listed(clauses: Iterable[Clause]) -> dict[Signature, frozenset[Term]]:
    """Return the relations of one argument that facts define, and nothing else."""
    found: dict[Signature, set[Term]] = {}
    derived: set[Signature] = set()
    for clause in clauses:
        relation = signature(clause.head)
        if clause.literals or clause.differences or not clause.head.is_ground:
            derived.add(relation)
        elif can_be_chosen(relation) and relation[1] == 1:
            found.setdefault(relation, set()).update(arguments_of(clause.head))
    return {relation: frozenset(values) for relation, values in found.items() if relation not in derived}


def _occurs_once(variable: Variable, arguments: Iterable[Term]) -> bool:
    return sum(variable in variables(argument) for argument in arguments) == 1


def _projection(atom: Term, projection: Projection) -> Constant | Compound:
    """Return *atom* as one of that projection."""
    name, _ = signature(atom)
    kept = tuple(argument for i, argument in enumerate(arguments_of(atom)) if i not in projection)
    name = f"{name} without {','.join(map(str, sorted(projection))) or 'nothing'}"
    return Compound(name, kept) if kept else Constant(name)
