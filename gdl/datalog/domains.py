"""Which terms the arguments of relations can be, in any state: a rough answer, got without deriving any atom.

Each argument is looked at by itself. The answer may have values that never occur, but it lacks none that does.
Relations are worked out in the order in which they need one another, and a rule is looked at again only when what it
waits for has come: the work grows with the text of the rules, and with how many values are distinguished.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from gdl.datalog.clauses import Clause
from gdl.datalog.dependencies import components_of
from gdl.datalog.values import (
    BOTTOM,
    MAX_DEPTH,
    TOP,
    Functor,
    Known,
    Values,
    bound_by,
    is_same,
    join,
    values_of,
    values_of_heads,
)
from gdl.language.terms import Constant, Signature, Term, Variable, arguments_of, signature

Place: TypeAlias = tuple[tuple[Functor, int], ...]
"""A way to a part of an argument: of which function term, and which of its arguments, by number from 0."""

MAX_WORK: Final = 5_000_000
"""How many names may be compared; from then on a set of more than _FEW names counts as all terms."""
_FEW: Final = 16
_EVERY_STATE: Final = (("next", 1, "true"), ("init", 1, "true"), ("legal", 2, "does"))
"""What is asked as another relation: its name, its arity, and the name under which it is asked."""


def values_of_relations(clauses: Iterable[Clause]) -> Known:
    """Return the values of every argument of the relations that can hold at all."""
    clauses = tuple(clauses)
    facts = (clause.head for clause in clauses if not clause.literals)
    rules = tuple(clause for clause in clauses if clause.literals)
    found = _Derivation(rules, values_of_heads(facts))
    found.derive()
    return found.known


@dataclass(frozen=True, slots=True)
class Want:
    """A name that a step needs and that is not among the values of a relation yet: a constant or a function."""

    relation: Signature
    place: Place
    name: Constant | Functor


class _Wants:
    """The steps that wait for names at one place and within it."""

    __slots__ = ("inner", "steps")

    def __init__(self) -> None:
        self.steps: dict[Constant | Functor, list[int]] = {}
        self.inner: dict[tuple[Functor, int], _Wants] = {}

    def woken(self, before: Values, after: Values) -> Iterator[int]:
        """Yield the steps that need not wait any more, and forget them."""
        if after.is_all:
            yield from self._all()
            return
        for constant in after.constants - before.constants if self.steps else ():
            yield from self.steps.pop(constant, ())
        for key, arguments in after.compounds.items():
            known = before.compounds.get(key)
            if known is None:
                yield from self.steps.pop(key, ())
            if known is not arguments:
                pairs = zip((BOTTOM,) * len(arguments) if known is None else known, arguments, strict=True)
                for number, pair in enumerate(pairs):
                    if (key, number) in self.inner and pair[0] is not pair[1]:
                        yield from self.inner[key, number].woken(*pair)

    def _all(self) -> Iterator[int]:
        for steps in self.steps.values():
            yield from steps
        for inner in self.inner.values():
            yield from inner._all()
        self.steps, self.inner = {}, {}


class Worklist:
    """The steps of a fixpoint that are to be looked at, and those that look again when a relation has grown.

    A step that lacks one name waits for that name, so that a thousand rules that each wait for another constant of one
    relation are not all looked at whenever it has grown by one. `is_rough` says that what was looked at is more than
    MAX_WORK.
    """

    def __init__(self) -> None:
        self._work = 0
        self._queue: deque[int] = deque()
        self._queued: set[int] = set()
        self._readers: dict[Signature, dict[int, None]] = defaultdict(dict)
        self._wanting: dict[Signature, _Wants] = defaultdict(_Wants)

    def run(self, groups: Iterable[Iterable[int]], look_at: Callable[[int], object]) -> None:
        """Call *look_at* for the steps of each group, and for those that are woken, until none is left."""
        for group in groups:
            self._enqueue(group)
            while self._queue:
                step = self._queue.popleft()
                self._queued.discard(step)
                look_at(step)

    def _enqueue(self, steps: Iterable[int]) -> None:
        for step in steps:
            if step not in self._queued:
                self._queued.add(step)
                self._queue.append(step)

    def count(self, *known: tuple[Values, ...]) -> None:
        """Count what it costs to look at *known*: the names in them."""
        self._work += sum(1 + sum(value.size for value in values) for values in known)

    @property
    def is_rough(self) -> bool:
        """Whether so much was looked at that sets must become rougher, for an end to be in sight."""
        return self._work > MAX_WORK

    def wait(self, step: int, relations: Iterable[Signature], want: Want | None) -> None:
        """Have *step* look again whenever one of *relations* has grown; where it lacks *want*, only once that came.

        Values only grow: a step that lacked no name will lack none.
        """
        if want is None:
            for relation in relations:
                self._readers[relation][step] = None
            return
        wants = self._wanting[want.relation]
        for part in want.place:
            wants = wants.inner.setdefault(part, _Wants())
        wants.steps.setdefault(want.name, []).append(step)

    def grow(self, known: Known, relation: Signature, new: tuple[Values, ...]) -> bool:
        """Add *new* to what is known of *relation*; return whether it adds anything, and enqueue what waits for it."""
        before = known.get(relation)
        after = new if before is None else self._joined(before, new)
        if before is not None and is_same(before, after):
            return False
        known[relation] = after
        self._enqueue(tuple(self._readers[relation]))
        if relation in self._wanting:
            old = Values() if before is None else Values(compounds={relation: before})
            self._enqueue(tuple(self._wanting[relation].woken(old, Values(compounds={relation: after}))))
        return True

    def _joined(self, before: tuple[Values, ...], new: tuple[Values, ...]) -> tuple[Values, ...]:
        both = join(before, new)
        if not self.is_rough:
            return both
        return tuple(TOP if one.size > _FEW and one is not old else one for one, old in zip(both, before, strict=True))


def wanted_name(atom: Term, values: tuple[Values, ...] | None) -> Want | None:
    """Return the first name that *atom* has where *values*, those of its relation, do not."""
    relation = signature(atom)
    if values is None:
        return Want(relation, (), relation)
    todo: list[tuple[Place, Term, Values]] = [
        (((relation, i),), *pair) for i, pair in enumerate(zip(arguments_of(atom), values, strict=True))
    ]
    while todo:
        place, term, value = todo.pop()
        if isinstance(term, Variable) or value.is_all or len(place) > MAX_DEPTH:
            continue
        if isinstance(term, Constant):
            if term not in value.constants:
                return Want(relation, place, term)
            continue
        inner = value.compounds.get(signature(term))
        if inner is None:
            return Want(relation, place, signature(term))
        pairs = enumerate(zip(term.arguments, inner, strict=True))
        todo += (((*place, (signature(term), i)), *pair) for i, pair in pairs)
    return None


def order_of_relations(clauses: Sequence[Clause]) -> list[list[int]]:
    """Return the numbers of *clauses* in groups that need one another, each group after what it needs."""
    numbers: dict[Signature, int] = {}
    needs: list[dict[int, None]] = []

    def number_of(relation: Signature) -> int:
        if relation not in numbers:
            numbers[relation] = len(needs)
            needs.append({})
        return numbers[relation]

    own: dict[int, list[int]] = defaultdict(list)
    for i, clause in enumerate(clauses):
        head = number_of(signature(clause.head))
        own[head].append(i)
        for literal in clause.literals:
            needs[head][number_of(signature(literal.atom))] = None
    for name, arity, other in _EVERY_STATE:
        needs[number_of((other, arity))][number_of((name, arity))] = None
    groups = components_of([tuple(needed) for needed in needs])
    return [[i for relation in group for i in own.get(relation, ())] for group in groups]


class _Derivation:
    """The fixpoint on its way: `known` grows until no rule adds anything."""

    def __init__(self, rules: Sequence[Clause], known: Known) -> None:
        self.known = known
        self.worklist = Worklist()
        self._rules = rules
        self._bodies = [tuple({signature(atom): None for atom in rule.positive}) for rule in rules]
        # A condition without variables that holds goes on to do so, and gives the head nothing more.
        self._open = [tuple({signature(atom): None for atom in rule.positive if not atom.is_ground}) for rule in rules]

    def derive(self) -> None:
        """Look at all rules, those first that others need, and again as long as that adds something."""
        for relation in tuple(self.known):
            self._ask_as(relation)
        self.worklist.run(order_of_relations(self._rules), self._look_at)

    def _look_at(self, number: int) -> None:
        rule, body = self._rules[number], self._bodies[number]
        relation = signature(rule.head)
        self.worklist.count(*(self.known.get(one, ()) for one in (relation, *body)))
        bound = bound_by(rule.literals, self.known)
        if bound is None:
            self.worklist.wait(number, body, self._want(rule))
            return
        self.worklist.wait(number, self._open[number], None)
        new = tuple(values_of(one, bound) for one in arguments_of(rule.head))
        if self.worklist.grow(self.known, relation, new):
            self._ask_as(relation)

    def _want(self, rule: Clause) -> Want | None:
        return next(filter(None, (wanted_name(atom, self.known.get(signature(atom))) for atom in rule.positive)), None)

    def _ask_as(self, relation: Signature) -> None:
        for name, arity, other in _EVERY_STATE:
            if relation == (name, arity):
                self.worklist.grow(self.known, (other, arity), self.known[relation])
