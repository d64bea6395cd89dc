"""Clauses rewritten so that atoms are derived only as far as a query needs them (magic sets)."""

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from gdl.datalog import domains
from gdl.datalog.clauses import Clause, Literal
from gdl.datalog.values import TOP, Known, Values, bound_by, narrow, values_of
from gdl.diagnostics import Span
from gdl.language.syntax import ARITIES, GDL2_ARITIES
from gdl.language.terms import Compound, Constant, Signature, Term, Variable, arguments_of, signature, variables

DEMAND: Final = "demand "
"""How the names of relations of demands begin."""


@dataclass(frozen=True, slots=True)
class Adorned:
    """A relation asked with some arguments known. *Units*: `known` are argument numbers from 0.

    `stage` is what the demand depends on where that is more than the relation does (the state, the joint move).
    """

    relation: Signature
    known: tuple[int, ...]
    stage: int | None = None

    @property
    def name(self) -> str:
        """The name of the copy that answers."""
        name = f"{self.relation[0]} {','.join(map(str, self.known))}"
        return name if self.stage is None else f"{name} {self.stage}"

    def answer(self, atom: Compound) -> Compound:
        """Return *atom* as an atom of the copy."""
        return Compound(self.name, atom.arguments)

    def demand(self, atom: Compound) -> Compound:
        """Return the demand that *atom* makes: its known arguments."""
        return Compound(DEMAND + self.name, tuple(atom.arguments[i] for i in self.known))


def can_be_chosen(relation: Signature) -> bool:
    """Return whether a relation may be derived on demand: it has arguments, and no meaning that GDL gives it."""
    name, arity = relation
    return arity > 0 and " " not in name and name not in ARITIES and name not in GDL2_ARITIES


def asked_with_constants(clauses: Iterable[Clause]) -> frozenset[Signature]:
    """Return the relations that every clause but their own asks with a constant, as a count that starts at 0."""
    clauses = tuple(clauses)
    derived = {signature(clause.head) for clause in clauses if clause.literals}
    asked: dict[Signature, bool] = {}
    for clause in clauses:
        for literal in clause.literals:
            relation = signature(literal.atom)
            if relation != signature(clause.head):
                arguments = literal.atom.arguments if isinstance(literal.atom, Compound) else ()
                has_constant = any(argument.is_ground for argument in arguments)
                asked[relation] = asked.get(relation, True) and has_constant
    return frozenset(name for name in derived if can_be_chosen(name) and asked.get(name, False))


def on_demand(clauses: Iterable[Clause], chosen: Set[Signature], *, may_change: bool = False) -> tuple[Clause, ...]:
    """Return clauses that answer the same questions and derive the *chosen* relations only on demand.

    A chosen relation is itself derived where a clause asks it with no argument known, and not otherwise; its clauses
    then ask it whole too. What is derived on demand depends on the state or the joint move only if its relation does:
    engines work out first what does not depend on the move. With *may_change* a clause that depends on more than what
    it asks, and knows more of the arguments by that, asks a copy of its own, which depends on that too. The result may
    not be stratified although *clauses* are: the caller must be ready to do without it.
    """
    clauses = tuple(clauses)
    rewriting = _Rewriting(chosen, _stages(clauses), may_change)
    found: dict[Clause, None] = {}
    asked: dict[Adorned, None] = {}

    def add(clause: Clause, copy: Adorned | None) -> None:
        rewritten = rewriting.rewritten(clause, copy)
        found.update(dict.fromkeys(rewritten.clauses))
        asked.update(dict.fromkeys(rewritten.asked))

    for clause in clauses:
        if signature(clause.head) not in chosen:
            add(clause, None)
    done: set[Adorned] = set()
    while len(done) < len(asked):
        for copy in [copy for copy in asked if copy not in done]:
            done.add(copy)
            for clause in clauses:
                if signature(clause.head) == copy.relation:
                    add(clause, copy)
    return tuple(found)


_CHANGING: Final = (("true", 1), ("does", 2))
"""What changes from step to step: the state, and within a step the joint move."""


def _stages(clauses: Sequence[Clause]) -> dict[Signature, int]:
    """Return what each relation depends on: 1 for the state, 2 for the joint move; those not named on neither."""
    readers: dict[Signature, set[Signature]] = {}
    for clause in clauses:
        for literal in clause.literals:
            readers.setdefault(signature(literal.atom), set()).add(signature(clause.head))
    stages: dict[Signature, int] = {}
    for stage, changing in enumerate(_CHANGING, 1):
        todo = [changing]
        while todo:
            relation = todo.pop()
            if stages.get(relation, 0) < stage:
                stages[relation] = stage
                todo += readers.get(relation, ())
    return stages


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What becomes of one clause: the clause itself, the demands that its body makes, and whom it asks."""

    clauses: tuple[Clause, ...]
    asked: tuple[Adorned, ...]


@dataclass(frozen=True, slots=True)
class _Rewriting:
    """Rewrites clauses for the *chosen* relations; *stages* tells what each relation depends on."""

    chosen: Set[Signature]
    stages: dict[Signature, int]
    may_change: bool

    def rewritten(self, clause: Clause, copy: Adorned | None) -> Rewritten:
        """Return the clause rewritten for *copy*, the relation itself where nothing is known; None if not chosen."""
        chosen = self.chosen - {copy.relation} if copy is not None and not copy.known else self.chosen
        context = [each for each in clause.literals if each.is_positive and signature(each.atom) not in chosen]
        head: Constant | Compound = clause.head
        start: list[Literal] = []
        if copy is not None and copy.known:
            assert isinstance(head, Compound)
            start = [Literal(self._known(copy.demand(head), copy), is_positive=True)]
            head = self._known(copy.answer(head), copy)
            context = _connected(start, context)
        before = start + context
        answers: dict[Literal, Literal] = {}
        demands: list[Clause] = []
        asked: list[Adorned] = []
        for literal in _by_known([each for each in clause.literals if signature(each.atom) in chosen], before):
            atom, adorned = literal.atom, self._adorned(literal, before, copy)
            asked.append(adorned)
            if adorned.known and isinstance(atom, Compound):
                answers[literal] = replace(literal, atom=self._known(adorned.answer(atom), adorned))
                demand = self._known(adorned.demand(atom), adorned)
                earlier = self._up_to(self.stages[signature(demand)], before)
                demands.append(Clause(demand, tuple(earlier), (), clause.span))
            if literal.is_positive:
                before.append(answers.get(literal, literal))
        body = (answers.get(literal, literal) for literal in clause.literals)
        return Rewritten((Clause(head, (*start, *body), clause.differences, clause.span), *demands), tuple(asked))

    def _adorned(self, literal: Literal, before: Sequence[Literal], copy: Adorned | None) -> Adorned:
        """Return how *literal* is asked after *before*, where most of it is known, then by what depends on least."""
        own = self._stage(literal)
        least = max(own, (copy and copy.stage) or 0) if self.may_change else own
        most = max([least, *map(self._stage, before)]) if self.may_change else own
        known = {stage: _known_arguments(literal, self._up_to(stage, before)) for stage in range(least, most + 1)}
        stage = max(known, key=lambda stage: len(known[stage]))
        is_more = bool(known[stage]) and stage > own
        return Adorned(signature(literal.atom), known[stage], stage if is_more else None)

    def _up_to(self, stage: int, literals: Iterable[Literal]) -> list[Literal]:
        """Return the literals that depend on no more than *stage*."""
        return [literal for literal in literals if self._stage(literal) <= stage]

    def _stage(self, literal: Literal) -> int:
        return self.stages.get(signature(literal.atom), 0)

    def _known(self, atom: Compound, copy: Adorned) -> Compound:
        """Return *atom*, of a copy's answer or demand, and note what it depends on."""
        self.stages[signature(atom)] = self.stages.get(copy.relation, 0) if copy.stage is None else copy.stage
        return atom


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


def _known_arguments(literal: Literal, before: Iterable[Literal]) -> tuple[int, ...]:
    """Return the numbers of the arguments of *literal* that are known after *before*."""
    bound = _bound(before)
    arguments = literal.atom.arguments if isinstance(literal.atom, Compound) else ()
    return tuple(i for i, argument in enumerate(arguments) if _is_known(argument, bound))


def _is_known(term: Term, bound: set[Variable]) -> bool:
    return all(variable in bound for variable in variables(term))


Asked: TypeAlias = Known

ASKED: Final = "asked "
"""How the names of relations made here begin; no rule file can have a blank in a name."""


def narrowed(clauses: Iterable[Clause]) -> tuple[Clause, ...]:
    """Return clauses that answer the same questions, without those that can never hold."""
    clauses = tuple(clauses)
    work = _Narrowing(domains.values_of_relations(clauses))
    asked = work.asked(clauses)
    found = [kept for clause in clauses if (kept := work.narrowed(clause, asked)) is not None]
    return (*found, *work.lists())


@dataclass(slots=True)
class _Narrowing:
    values: Known
    _names: dict[frozenset[Constant], tuple[str, Span]] = field(default_factory=dict)

    def asked(self, clauses: tuple[Clause, ...]) -> Asked:
        """Return for what values each relation is asked, argument by argument."""
        asking = _Asking(clauses, self.values)
        # Who asks comes before what is asked.
        asking.worklist.run(reversed(domains.order_of_relations(clauses)), asking.look_at)
        return asking.asked

    def narrowed(self, clause: Clause, asked: Asked) -> Clause | None:
        """Return *clause* for what is asked of it; None where it can be left out."""
        wanted = _wanted(clause.head, asked)
        bound = bound_by(clause.literals, self.values)
        if wanted is None or bound is None or not narrow(arguments_of(clause.head), wanted, dict(bound)):
            return None
        conditions: dict[Literal, None] = {}
        for argument, values in zip(arguments_of(clause.head), wanted, strict=True):
            if isinstance(argument, Variable) and values.is_listed and not _is_within(bound.get(argument, TOP), values):
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


class _Asking:
    """The fixpoint of what is asked: `asked` grows until no clause asks for more."""

    def __init__(self, clauses: Sequence[Clause], values: Known) -> None:
        self.asked: Asked = {}
        self.worklist = domains.Worklist()
        self._clauses = clauses
        self._values = values

    def look_at(self, number: int) -> None:
        """Note what the clause of that number asks for, where it is asked itself and holds."""
        clause = self._clauses[number]
        if not clause.literals:
            return
        relation, wanted = signature(clause.head), _wanted(clause.head, self.asked)
        self.worklist.count(*(self._values.get(signature(one.atom), ()) for one in clause.literals), wanted or ())
        bound = bound_by(clause.literals, self._values)
        if bound is None:
            return
        if wanted is None or not narrow(arguments_of(clause.head), wanted, bound):
            self.worklist.wait(number, (relation,), domains.wanted_name(clause.head, wanted))
            return
        if not clause.head.is_ground:  # else whatever more is asked of it leaves what it asks as it is
            self.worklist.wait(number, (relation,), None)
        for literal in clause.literals:
            new = tuple(values_of(argument, bound) for argument in arguments_of(literal.atom))
            self.worklist.grow(self.asked, signature(literal.atom), new)


def _wanted(head: Term, asked: Asked) -> tuple[Values, ...] | None:
    """Return for what values clauses ask the relation of *head*, None where none does; all of what GDL names."""
    name, arity = signature(head)
    return (TOP,) * arity if name in ARITIES or name in GDL2_ARITIES else asked.get((name, arity))


def _is_within(values: Values, others: Values) -> bool:
    return values.is_listed and values.constants <= others.constants
