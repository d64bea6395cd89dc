"""The graph of relations: which relation is defined by which others, and by which of their conditions.

Relations are told apart by name and number of arguments, as the specification does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import TypeAlias

from gdl.checks.literals import Use, uses
from gdl.datalog.dependencies import Dependencies
from gdl.rules import Rule
from gdl.terms import signature

Signature: TypeAlias = tuple[str, int]
"""The name of a relation and its number of arguments."""


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

    def chain(self, start: Signature, ends: Collection[str]) -> list[Signature] | None:
        """Return the shortest chain of dependencies from *start* to a relation with one of the names *ends*."""
        targets = {number for number, (name, _) in enumerate(self.relations) if name in ends}
        found = self.dependencies.chain(self.numbers[start], targets)
        return None if found is None else [self.relations[number] for number in found]

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
