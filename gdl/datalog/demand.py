"""Clauses rewritten so that chosen relations are derived only as far as somebody asks (magic sets).

Bottom-up evaluation derives a whole relation, though a rule may ask for one row of it: a count that starts at nought,
a path that starts here. For each way in which such a relation is asked (its adornment: which arguments are known) the
rewritten program has a relation of demands, a copy of the clauses that starts from them, and clauses that pass
demands on. Names of relations made here hold blanks, so that no rule file can have them.

Source: Bancilhon, Maier, Sagiv, Ullman 1986; Beeri, Ramakrishnan 1991.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from gdl.datalog.clauses import Clause, Literal
from gdl.syntax import ARITIES, GDL2_ARITIES
from gdl.terms import Compound, Constant, Term, Variable, signature, variables

Relation: TypeAlias = tuple[str, int]

DEMAND: Final = "demand "
"""How the names of relations of demands begin."""


@dataclass(frozen=True, slots=True)
class Adorned:
    """A relation asked with some arguments known. *Units*: `known` are argument numbers from 0."""

    relation: Relation
    known: tuple[int, ...]

    @property
    def name(self) -> str:
        """The name of the copy that answers."""
        return f"{self.relation[0]} {','.join(map(str, self.known))}"

    def answer(self, atom: Compound) -> Compound:
        """Return *atom* as an atom of the copy."""
        return Compound(self.name, atom.arguments)

    def demand(self, atom: Compound) -> Compound:
        """Return the demand that *atom* makes: its known arguments."""
        return Compound(DEMAND + self.name, tuple(atom.arguments[i] for i in self.known))


def can_be_chosen(relation: Relation) -> bool:
    """Return whether a relation may be derived on demand: it has arguments, and no meaning that GDL gives it."""
    name, arity = relation
    return arity > 0 and " " not in name and name not in ARITIES and name not in GDL2_ARITIES


def asked_with_constants(clauses: Iterable[Clause]) -> frozenset[Relation]:
    """Return the relations that everybody but their own clauses asks with a constant: a count that starts at nought."""
    clauses = tuple(clauses)
    derived = {signature(clause.head) for clause in clauses if clause.literals}
    asked: dict[Relation, bool] = {}
    for clause in clauses:
        for literal in clause.literals:
            relation = signature(literal.atom)
            if relation != signature(clause.head):
                arguments = literal.atom.arguments if isinstance(literal.atom, Compound) else ()
                has_constant = any(argument.is_ground for argument in arguments)
                asked[relation] = asked.get(relation, True) and has_constant
    return frozenset(name for name in derived if can_be_chosen(name) and asked.get(name, False))


def on_demand(clauses: Iterable[Clause], chosen: Set[Relation]) -> tuple[Clause, ...]:
    """Return clauses that answer the same questions and derive the *chosen* relations only on demand.

    A chosen relation is itself derived where somebody asks it with no argument known, and not otherwise. The result
    may not be stratified although *clauses* are: whoever uses it must be ready to go without.
    """
    clauses = tuple(clauses)
    found: dict[Clause, None] = {}
    asked: dict[Adorned, None] = {}
    for clause in clauses:
        if signature(clause.head) not in chosen:
            _add(found, asked, _rewritten(clause, None, chosen))
    done: set[Adorned] = set()
    while len(done) < len(asked):
        for copy in [copy for copy in asked if copy not in done]:
            done.add(copy)
            for clause in clauses:
                if signature(clause.head) == copy.relation:
                    _add(found, asked, _rewritten(clause, copy if copy.known else None, chosen))
    return tuple(found)


def _add(found: dict[Clause, None], asked: dict[Adorned, None], rewritten: Rewritten) -> None:
    found |= dict.fromkeys(rewritten.clauses)
    asked |= dict.fromkeys(rewritten.asked)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What becomes of one clause: the clause itself, the demands that its body makes, and whom it asks."""

    clauses: tuple[Clause, ...]
    asked: tuple[Adorned, ...]


def _rewritten(clause: Clause, copy: Adorned | None, chosen: Set[Relation]) -> Rewritten:
    """Return the clause rewritten, for a copy of its head's relation or for itself."""
    context = [literal for literal in clause.literals if literal.is_positive and not _is_chosen(literal, chosen)]
    head: Constant | Compound = clause.head
    start: list[Literal] = []
    if copy is not None:
        assert isinstance(head, Compound)
        start = [Literal(copy.demand(head), is_positive=True)]
        head = copy.answer(head)
        context = _connected(start, context)
    before = start + context
    answers: dict[Literal, Literal] = {}
    demands: list[Clause] = []
    asked: list[Adorned] = []
    for literal in _by_known([literal for literal in clause.literals if _is_chosen(literal, chosen)], before):
        atom, adorned = literal.atom, _adorned(literal, before)
        asked.append(adorned)
        if adorned.known and isinstance(atom, Compound):
            answers[literal] = replace(literal, atom=adorned.answer(atom))
            demands.append(Clause(adorned.demand(atom), tuple(before), (), clause.span))
        if literal.is_positive:
            before.append(answers.get(literal, literal))
    body = (answers.get(literal, literal) for literal in clause.literals)
    return Rewritten((Clause(head, (*start, *body), clause.differences, clause.span), *demands), tuple(asked))


def _is_chosen(literal: Literal, chosen: Set[Relation]) -> bool:
    return signature(literal.atom) in chosen


def _connected(start: list[Literal], literals: list[Literal]) -> list[Literal]:
    """Return the literals that share a variable with *start*, directly or through one another, or have none."""
    known = _bound(start)
    found: list[Literal] = []
    rest = literals
    while True:
        joining = [x for x in rest if not variables(x.atom) or known.intersection(variables(x.atom))]
        if not joining:
            return found
        found += joining
        known |= _bound(joining)
        rest = [literal for literal in rest if literal not in joining]


def _by_known(literals: list[Literal], before: list[Literal]) -> list[Literal]:
    """Return the literals with positive ones first, those of which more is known earlier."""
    known = _bound(before)

    def unknown(literal: Literal) -> tuple[bool, int]:
        return not literal.is_positive, len(set(variables(literal.atom)) - known)

    return sorted(literals, key=unknown)


def _bound(literals: Iterable[Literal]) -> set[Variable]:
    return {variable for literal in literals for variable in variables(literal.atom)}


def _adorned(literal: Literal, before: list[Literal]) -> Adorned:
    """Return how *literal* is asked after *before*."""
    bound = _bound(before)
    arguments = literal.atom.arguments if isinstance(literal.atom, Compound) else ()
    known = tuple(i for i, argument in enumerate(arguments) if _is_known(argument, bound))
    return Adorned(signature(literal.atom), known)


def _is_known(term: Term, bound: set[Variable]) -> bool:
    return all(variable in bound for variable in variables(term))
