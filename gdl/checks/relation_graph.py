"""Which relations the rules of a file use, and where: the atoms of bodies, and the graph of what needs what."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from gdl.datalog.dependencies import Dependencies
from gdl.language.syntax import And, Atom, Condition, Not, Or, Rule
from gdl.language.terms import Signature, signature


@dataclass(frozen=True, slots=True)
class Use:
    """An atom in the body of a rule; `is_negative` where it stands under a `not`."""

    rule: Rule
    atom: Atom
    is_negative: bool


def uses(rules: Iterable[Rule]) -> Iterator[Use]:
    """Yield the atoms in the bodies of *rules*, in the order of the text."""
    for rule in rules:
        for condition in rule.body:
            yield from _uses(rule, condition, is_negative=False)


def _uses(rule: Rule, condition: Condition, *, is_negative: bool) -> Iterator[Use]:
    match condition:
        case Atom():
            yield Use(rule, condition, is_negative)
        case Not(inner):
            yield from _uses(rule, inner, is_negative=not is_negative)
        case And(parts) | Or(parts):
            for one in parts:
                yield from _uses(rule, one, is_negative=is_negative)


class RelationGraph:
    """What the relations of some rules depend on."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.defined: dict[Signature, Rule] = {}
        """The first rule or fact of every relation that has one."""
        self.uses: dict[tuple[Signature, Signature], list[Use]] = defaultdict(list)
        """The conditions through which one relation needs another."""
        self.users: dict[Signature, list[Use]] = defaultdict(list)
        """The conditions that name a relation."""
        for rule in rules:
            self.defined.setdefault(signature(rule.head.term), rule)
        for use in uses(rules):
            head, needed = signature(use.rule.head.term), signature(use.atom.term)
            self.uses[head, needed].append(use)
            self.users[needed].append(use)

    @cached_property
    def relations(self) -> tuple[Signature, ...]:
        """All relations; their numbers are their places here."""
        return tuple(dict.fromkeys((*self.defined, *self.users)))

    @cached_property
    def numbers(self) -> dict[Signature, int]:
        """The number of every relation."""
        return {relation: number for number, relation in enumerate(self.relations)}

    @cached_property
    def dependencies(self) -> Dependencies:
        """Which relation needs which, by number."""
        edges: list[dict[int, bool]] = [{} for _ in self.relations]
        for (head, needed), between in self.uses.items():
            edges[self.numbers[head]][self.numbers[needed]] = any(use.is_negative for use in between)
        return Dependencies(edges)

    def needed_by(self, relation: Signature) -> tuple[Signature, ...]:
        """Return the relations in the bodies of the rules for *relation*."""
        return tuple(self.relations[number] for number in self.dependencies.edges[self.numbers[relation]])

    def chains(self, starts: Iterable[Signature], ends: Collection[str]) -> Iterator[list[Signature]]:
        """Yield the shortest chain of dependencies from each of *starts* to a relation with one of the names *ends*."""
        targets = (number for number, (name, _) in enumerate(self.relations) if name in ends)
        distances = self.dependencies.distances_to(targets)
        for start in starts:
            if self.numbers[start] in distances:
                yield self._downwards(self.numbers[start], distances)

    def _downwards(self, node: int, distances: Mapping[int, int]) -> list[Signature]:
        way = [node]
        while distances[way[-1]]:
            wanted = distances[way[-1]] - 1
            way.append(next(one for one in self.dependencies.edges[way[-1]] if distances.get(one) == wanted))
        return [self.relations[number] for number in way]

    def is_recursive(self, head: Signature, needed: Signature) -> bool:
        """Return whether *needed*, which *head* needs, needs *head* in turn."""
        return self.dependencies.are_mutual(self.numbers[head], self.numbers[needed])

    def reached_from(self, roots: Iterable[Signature]) -> set[Signature]:
        """Return those of *roots* that there are, and all relations that they depend on."""
        found = {root for root in roots if root in self.numbers}
        todo = list(found)
        while todo:
            new = set(self.needed_by(todo.pop())) - found
            found |= new
            todo += new
        return found
