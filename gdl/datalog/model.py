"""The standard model of a program in one state: components evaluated when a query needs them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final, TypeAlias

from gdl.datalog.joins import Compare, JoinPlan, LookUp
from gdl.datalog.program import Layer, Program, Query
from gdl.datalog.relations import ANY, WRAPPERS, Index, Key, Relation, Row, placed, placed_term, unwrapped
from gdl.errors import LimitExceeded
from gdl.game import Budget

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

    def rows(self, query: Query) -> Iterator[tuple[Key, set[Row]]]:
        """Yield the relations that answer *query*, evaluated, with their rows."""
        self.require(query.components)
        name, _, arity = placed(query.atom)[0]
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
        """Yield what a clause derives from the rows that are new since the last iteration."""
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
