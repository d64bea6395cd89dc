"""Clauses, stratified, with all that evaluation needs to know of them: layers, providers, plans, sizes."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from gdl.datalog.clauses import Clause
from gdl.datalog.joins import JoinPlan, Planner
from gdl.datalog.relations import ANY, PLAIN, WRAPPERS, Key, Row, Sizes, placed
from gdl.datalog.strata import Heads, stratify
from gdl.language.terms import Compound, Constant, signature


class Layer(IntEnum):
    """What a relation depends on: nothing that changes, the state, or the joint move too."""

    STATIC = 0
    STATE = 1
    MOVE = 2


@dataclass(frozen=True, slots=True)
class Query:
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
        self._queries: dict[Constant | Compound, Query] = {}
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

    def query(self, atom: Constant | Compound) -> Query:
        """Return *atom* as a query; which components it needs is found out once."""
        found = self._queries.get(atom)
        if found is None:
            found = self._queries[atom] = Query(atom, self.providers(atom))
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
