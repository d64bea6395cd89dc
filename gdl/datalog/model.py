"""The standard model of a program in one state: components evaluated when a query needs them, models cached."""

from __future__ import annotations

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import chain
from typing import Final, TypeAlias

from gdl.datalog.clauses import Clause
from gdl.datalog.demand import can_be_chosen, on_demand
from gdl.datalog.dependencies import Heads, stratify
from gdl.datalog.joins import Compare, JoinPlan, LookUp, Planner
from gdl.datalog.relations import ANY, PLAIN, WRAPPERS, Index, Key, Relation, Row, Sizes, placed, placed_term, unwrapped
from gdl.errors import LimitExceeded, StratificationError
from gdl.game import Budget, EvaluationLimits
from gdl.language.terms import Compound, Constant, Signature, Term, signature


class Layer(IntEnum):
    """What a relation depends on: nothing that changes, the state, or the joint move too."""

    STATIC = 0
    STATE = 1
    MOVE = 2


@dataclass(frozen=True, slots=True)
class Question:
    """An atom, with the components that must be evaluated before its relation is complete."""

    atom: Constant | Compound
    components: tuple[int, ...]


class Program:
    """Clauses, stratified, with all that evaluation needs to know of them; shared by all states of a game.

    *accepted* are the relations that cannot be derived on demand.

    Raises:
        StratificationError: a clause depends on its own negation.
    """

    def __init__(self, clauses: Sequence[Clause], accepted: Collection[tuple[str, int]] = ()) -> None:
        self._accepted = frozenset(accepted)
        rules = [clause for clause in clauses if clause.literals or not clause.head.is_ground]
        self.clauses: tuple[Clause, ...] = tuple(rules)
        self._heads = Heads(rules)
        strata = stratify(rules)
        self.components = strata.components
        self._component_of = strata.component_of
        self.layers = _layers(clauses)
        self.facts = _facts(clause for clause in clauses if not clause.literals)
        self.needs = tuple(
            tuple(self._needs(i, literal.atom) for literal in clause.literals) for i, clause in enumerate(rules)
        )
        self.wildcards = frozenset(
            key[0] for clause in rules for literal in clause.literals if (key := placed(literal.atom)[0])[1] == ANY
        )
        self._plans: dict[tuple[int, int | None], JoinPlan] = {}
        self._questions: dict[Constant | Compound, Question] = {}
        self.sizes = Sizes()

    def providers(self, atom: Constant | Compound) -> tuple[int, ...]:
        """Return the components that can derive an instance of *atom*."""
        return tuple(sorted({self._component_of[i] for i in self._heads.meeting(atom)}))

    def _needs(self, clause: int, atom: Constant | Compound) -> tuple[int, ...]:
        """Return the providers of *atom* but for the clause's own component, which is under way when it asks."""
        return tuple(number for number in self.providers(atom) if number != self._component_of[clause])

    def is_accepted(self, key: Key) -> bool:
        """Return whether a relation is derived whole, however large it grows."""
        return key[1] != PLAIN or (key[0], key[2]) in self._accepted

    def question(self, atom: Constant | Compound) -> Question:
        """Return the question that *atom* asks."""
        found = self._questions.get(atom)
        if found is None:
            found = self._questions[atom] = Question(atom, self.providers(atom))
        return found

    def layer(self, key: Key) -> Layer:
        """Return what the relation *key* depends on."""
        name, _, arity = key
        return self.layers.get((name, WRAPPERS.get(name, arity)), Layer.STATIC)

    def plan(self, clause: int, first: int | None = None) -> JoinPlan | None:
        """Return the plan of a clause, or None before it was made."""
        return self._plans.get((clause, first))

    def make_plan(self, clause: int, first: int | None = None) -> JoinPlan:
        """Plan a clause by the sizes that are known now."""
        found = self._plans[clause, first] = Planner(self.clauses[clause], self.sizes).plan(first)
        return found


def _facts(clauses: Iterable[Clause]) -> dict[Key, list[Row]]:
    found: dict[Key, list[Row]] = defaultdict(list)
    for clause in clauses:
        key, row = placed(clause.head)
        found[key].append(row)
    return dict(found)


def _layers(clauses: Sequence[Clause]) -> dict[tuple[str, int], Layer]:
    """Return the layer of every relation, each as high as the highest that it depends on."""
    found = {("true", 1): Layer.STATE, ("does", 2): Layer.MOVE, ("next", 1): Layer.MOVE}
    readers: dict[tuple[str, int], set[tuple[str, int]]] = defaultdict(set)
    for clause in clauses:
        for literal in clause.literals:
            readers[signature(literal.atom)].add(signature(clause.head))
    todo = list(found)
    while todo:
        name = todo.pop()
        for reader in readers[name]:
            if found.get(reader, Layer.STATIC) < found[name]:
                found[reader] = found[name]
                todo.append(reader)
    return found


Deltas: TypeAlias = dict[Key, Relation]

_CHECKPOINT_LEVELS: Final = 40
"""How many components may wait for one another on Python's stack."""

LARGE_ROWS: Final = {Layer.STATIC: 100_000, Layer.STATE: 30_000, Layer.MOVE: 30_000}
"""From how many rows on a relation is derived on demand, if it can be."""

LARGE_ROWS_OF_NEW_TERMS: Final = 5_000
"""The same for one clause's rows that hold terms which have to be made."""

_SURPRISE_FACTOR: Final = 8
_SURPRISE_ROWS: Final = 1_000


class Oversized(Exception):  # noqa: N818 -- no error: it asks for the relation to be derived on demand
    """A relation, or a join on the way to it, grows so large that it should be derived only on demand."""

    def __init__(self, relation: tuple[str, int]) -> None:
        super().__init__(relation)
        self.relation = relation


class Model:
    """The relations of one layer, above the model of the layer below."""

    def __init__(self, program: Program, layer: Layer, below: Model | None, budget: Budget) -> None:
        self._program = program
        self._layer = layer
        self._below = below
        self._relations: dict[Key, Relation] = {}
        self._done: set[int] = set()
        self.budget = budget
        for key, rows in program.facts.items():
            if program.layer(key) >= layer:
                self.add(key, rows)

    def add(self, key: Key, rows: Iterable[Row]) -> dict[Key, set[Row]]:
        """Add rows to a relation, however large it is, and return what is new, relation by relation."""
        new: dict[Key, set[Row]] = {}
        for concrete, some in self._by_functor(key, rows):
            added = self._relation(concrete).add(some)
            self.budget.check_rows(len(self._relation(concrete).rows))
            if added:
                new[concrete] = added
                if concrete[0] in self._program.wildcards and concrete[0] in WRAPPERS:
                    whole = (concrete[0], ANY, WRAPPERS[concrete[0]])
                    new[whole] = self._relation(whole).add(_whole_rows(concrete, added, self.budget))
        return new

    def _add_derived(self, key: Key, rows: Iterable[Row]) -> dict[Key, set[Row]]:
        new = self.add(key, rows)
        for concrete in new:
            self._check_size(concrete, len(self._relation(concrete).rows), LARGE_ROWS[self._layer])
        return new

    def _check_size(self, key: Key, n_rows: int, large: int) -> None:
        if n_rows > large and not self._program.is_accepted(key):
            raise Oversized((key[0], key[2]))
        self.budget.check_rows(n_rows)

    def _by_functor(self, key: Key, rows: Iterable[Row]) -> Iterator[tuple[Key, Iterable[Row]]]:
        if key[1] != ANY:
            yield key, rows
            return
        found: dict[Key, list[Row]] = defaultdict(list)
        for *lead, term in rows:
            concrete, columns = placed_term(key[0], tuple(lead), term)
            found[concrete].append(columns)
        yield from found.items()

    def _relation(self, key: Key) -> Relation:
        found = self._relations.get(key)
        if found is None:
            found = self._relations[key] = Relation()
        return found

    def _of_layer(self, layer: Layer) -> Model:
        model = self
        while model._layer > layer:
            assert model._below is not None
            model = model._below
        return model

    def rows(self, question: Question) -> Iterator[tuple[Key, set[Row]]]:
        """Yield the relations that answer *question*, evaluated, with their rows."""
        self.require(question.components)
        name, _, arity = placed(question.atom)[0]
        model = self._of_layer(self._program.layer((name, "", arity)))
        for key, relation in tuple(model._relations.items()):
            if key[0] == name and key[1] != ANY:
                yield key, relation.rows

    def require(self, components: Iterable[int]) -> None:
        """Evaluate components, and before them all that they need.

        Raises:
            LimitExceeded: the budget ran out; the model is then of no further use.
        """
        for number in components:
            self._evaluate(number)

    def _evaluate(self, number: int) -> None:
        component = self._program.components[number]
        clause = self._program.clauses[component.clauses[0]]
        model = self._of_layer(self._program.layer(placed(clause.head)[0]))
        if number in model._done:
            return
        if component.height >= _CHECKPOINT_LEVELS:
            model._evaluate_checkpoints(number)
        model.budget.check_time()
        if component.is_recursive:
            model._to_fixpoint(component.clauses)
        else:
            for i in component.clauses:
                plan, rows = model._run(i, None, {})
                model._add_derived(plan.head, rows)
        model._done.add(number)

    def _evaluate_checkpoints(self, number: int) -> None:
        """Evaluate first what lies deep below, so that chains of any length fit on the stack."""
        components = self._program.components
        cone, todo = {number}, [number]
        while todo:
            for k in components[todo.pop()].needs:
                if k not in cone and components[k].height >= _CHECKPOINT_LEVELS:
                    cone.add(k)
                    todo.append(k)
        for k in sorted(cone - {number}):
            if components[k].height % _CHECKPOINT_LEVELS == 0:
                self._evaluate(k)

    def _to_fixpoint(self, clauses: tuple[int, ...]) -> None:
        deltas: dict[Key, set[Row]] = {}
        for i in clauses:
            plan, rows = self._run(i, None, {})
            _merge(deltas, self._add_derived(plan.head, rows))
        while deltas:
            changed = {key: Relation(rows) for key, rows in deltas.items()}
            deltas = {}
            for i in clauses:
                for plan, rows in self._changes(i, changed):
                    _merge(deltas, self._add_derived(plan.head, rows))

    def _changes(self, clause: int, changed: Deltas) -> Iterator[tuple[JoinPlan, list[Row]]]:
        """Yield what a clause derives from the rows that are new since the last round."""
        for number, literal in enumerate(self._program.clauses[clause].literals):
            if literal.is_positive and placed(literal.atom)[0] in changed:
                yield self._run(clause, number, changed)

    def _run(self, clause: int, first: int | None, changed: Deltas) -> tuple[JoinPlan, list[Row]]:
        plan = self._program.plan(clause, first) or self._make_plan(clause, first)
        self.budget.check_time()
        try:
            work, rows = self._follow(plan, clause, first, changed)
        except LimitExceeded as error:
            if self._program.is_accepted(plan.head) or self.budget.is_over:
                raise
            raise Oversized((plan.head[0], plan.head[2])) from error
        if work > _SURPRISE_ROWS and work > _SURPRISE_FACTOR * plan.expected_rows:
            self._make_plan(clause, first)
        return plan, rows

    def _make_plan(self, clause: int, first: int | None) -> JoinPlan:
        program = self._program
        for needs, literal in zip(program.needs[clause], program.clauses[clause].literals, strict=True):
            key = placed(literal.atom)[0]
            if program.layer(key) == Layer.STATIC:
                self.require(needs)
            found = self._of_layer(program.layer(key))._relations.get(key)
            if found is not None:
                program.sizes.count(key, found)
        return program.make_plan(clause, first)

    def _follow(self, plan: JoinPlan, clause: int, first: int | None, changed: Deltas) -> tuple[int, list[Row]]:
        """Return how many rows the steps of *plan* went through, and the rows of the head."""
        needs = self._program.needs[clause]
        rows: list[Row] = [()]
        work = 0
        for step in plan.steps:
            if isinstance(step, Compare):
                left, right = step.left, step.right
                rows = [row for row in rows if left(row) is not right(row)]
            elif step.literal == first:
                rows = self._joined(step, changed[step.relation].index(step.access), rows)
            else:
                self.require(needs[step.literal])
                rows = self._joined(step, self._index(step), rows)
            if not rows:
                return work, rows
            work += len(rows)
            if step.keep is not None:
                rows = list(dict.fromkeys(map(step.keep, rows)))
        return work, self._built(plan, rows)

    def _built(self, plan: JoinPlan, rows: list[Row]) -> list[Row]:
        if plan.makes_terms:
            self._check_size(plan.head, len(rows), LARGE_ROWS_OF_NEW_TERMS)
        built = list(map(plan.build, rows))
        if plan.makes_terms:
            self.budget.check_terms(chain.from_iterable(built))
        return built

    def _index(self, step: LookUp) -> Index:
        model = self._of_layer(self._program.layer(step.relation))
        index = model._relation(step.relation).index(step.access)
        self._program.sizes.observe(step.relation, step.access, index)
        return index

    def _joined(self, step: LookUp, index: Index, rows: list[Row]) -> list[Row]:
        entries, key_of = index.entries, step.key_of
        if not step.access.out:
            if key_of is None:
                return rows if bool(entries) == step.is_positive else []
            if step.is_positive:
                return [row for row in rows if key_of(row) in entries]
            return [row for row in rows if key_of(row) not in entries]
        if key_of is None:
            found = entries.get((), [])
            self.budget.check_rows(len(rows) * len(found))
            return [row + out for row in rows for out in found]
        get = entries.get
        if len(rows) * index.n_entries > self.budget.limits.max_rows:
            self.budget.check_rows(sum(len(get(key_of(row), ())) for row in rows))
        return [row + out for row in rows for out in get(key_of(row), ())]


def _whole_rows(key: Key, rows: Iterable[Row], budget: Budget) -> list[Row]:
    found = []
    for row in rows:
        lead, term = unwrapped(key, row)
        found.append((*lead, term))
    budget.check_terms(row[-1] for row in found)
    return found


def _merge(deltas: dict[Key, set[Row]], new: dict[Key, set[Row]]) -> None:
    for key, rows in new.items():
        deltas.setdefault(key, set()).update(rows)


Move: TypeAlias = tuple[Constant, Term]
"""A role and its move."""

Answers: TypeAlias = list[tuple[Key, Row]]

_RECENT_STATES: Final = 16
"""How many states keep their derived relations; a tree of many states keeps only facts."""


class Reasoner:
    """Answers questions about clauses in any state; questions may come from several threads.

    Raises:
        StratificationError: a clause depends on its own negation.
    """

    def __init__(self, clauses: Sequence[Clause], limits: EvaluationLimits) -> None:
        self._clauses = clauses
        self._limits = limits
        self._lock = threading.RLock()
        self._demanded: frozenset[Signature] = frozenset()
        self._accepted: frozenset[Signature] = frozenset()
        self._use(Program(clauses))

    def answers(
        self, atom: Constant | Compound, true: frozenset[Term] | None = None, does: Sequence[Move] = ()
    ) -> Answers:
        """Return the rows of the relation of *atom*, all that agree with *atom* among them.

        Without *true*, the question is about what never changes; *does* is a joint move.

        Raises:
            LimitExceeded: the answer costs more than the limits allow; other questions may still be asked.
        """
        with self._lock:
            budget = Budget(self._limits)
            while True:
                self._static.budget = budget
                try:
                    return self._answers(atom, true, does)
                except Oversized as found:
                    self._derive_on_demand(found.relation)
                except BaseException:
                    self._use(self._program)  # a model that was interrupted may lack what its indexes promise
                    raise

    def _answers(self, atom: Constant | Compound, true: frozenset[Term] | None, does: Sequence[Move]) -> Answers:
        model = self._static if true is None else self._state_model(true)
        moves = [placed_term("does", (role,), move) for role, move in does]
        if moves:
            model = self._model(Layer.MOVE, model, moves)
        found = [(key, row) for key, rows in model.rows(self._program.question(atom)) for row in rows]
        model.budget.check_symbols(term for _, row in found for term in row)
        return found

    def _state_model(self, true: frozenset[Term]) -> Model:
        found = self._recent.pop(true, None)
        if found is None:
            found = self._model(Layer.STATE, self._static, [placed_term("true", (), fact) for fact in true])
        found.budget = self._static.budget
        self._recent[true] = found
        if len(self._recent) > _RECENT_STATES:
            self._recent.popitem(last=False)
        return found

    def _model(self, layer: Layer, below: Model | None, facts: Iterable[tuple[Key, Row]]) -> Model:
        model = Model(self._program, layer, below, below.budget if below else Budget(self._limits))
        for key, row in facts:
            model.add(key, (row,))
        return model

    def _derive_on_demand(self, relation: Signature) -> None:
        """Change to a program that derives *relation* on demand, or takes it as large as it is where that fails."""
        chosen = {relation} - self._demanded or self._askers(relation)
        demanded = self._demanded | {name for name in chosen - self._accepted if can_be_chosen(name)}
        if demanded > self._demanded and self._demand(demanded):
            return
        self._accepted |= {relation}
        # Derived whole, it answers what its copies would.
        if not self._demand(self._demanded - {relation}):
            self._use(Program(on_demand(self._clauses, self._demanded, may_change=True), self._accepted))

    def _demand(self, relations: frozenset[Signature]) -> bool:
        """Derive *relations* on demand; return False where a demand would depend on the negation of its answer."""
        try:
            program = Program(on_demand(self._clauses, relations, may_change=True), self._accepted)
        except StratificationError:
            return False
        self._demanded = relations
        self._use(program)
        return True

    def _askers(self, relation: Signature) -> set[Signature]:
        """Return the nearest relations not derived on demand that ask *relation*, if only through some that are."""
        clauses = self._program.clauses
        found: set[Signature] = set()
        seen, todo = {relation}, [relation]
        while todo:
            asked = todo.pop()
            asking = {signature(c.head) for c in clauses if any(signature(x.atom) == asked for x in c.literals)}
            for asker in asking - seen:
                seen.add(asker)
                if can_be_chosen(asker) and asker not in self._demanded:
                    found.add(asker)
                else:
                    todo.append(asker)
        return found

    def _use(self, program: Program) -> None:
        self._program = program
        self._recent: OrderedDict[frozenset[Term], Model] = OrderedDict()
        self._static = self._model(Layer.STATIC, None, ())
