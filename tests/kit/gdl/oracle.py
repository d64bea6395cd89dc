"""A second, naive meaning of rules, to hold the engines against: it shares no code with them, and has no indexes.

Terms are strings and tuples; an atom is a tuple that begins with its relation. Rules are evaluated one component of
mutual recursion after the other, each by going over its rules until nothing new follows. Where a component negates
itself, its model is the well-founded one, found by alternating fixpoints, which is the perfect model wherever the
rules are (locally) stratified. Sources: Lifschitz, Turner 1994 (components); Van Gelder 1993 (alternating fixpoints).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final, TypeAlias

Tree: TypeAlias = Any
"""A string, or a tuple of trees."""
Binding: TypeAlias = dict[str, Tree]
Facts: TypeAlias = frozenset[Tree]
Relation: TypeAlias = tuple[str, int]
"""A name, and how many parts its atoms have, the name included."""
Model: TypeAlias = dict[Relation, set[Tree]]

MAX_FACTS: Final = 1_500
MAX_DEPTH: Final = 8


class TooLarge(Exception):  # noqa: N818 -- no error: the example is not for a naive evaluator
    """The model grows beyond what this evaluator is for."""


def trees(text: str) -> list[Tree]:
    """Return the forms of *text*; `(p)` is the same as `p`."""
    stack: list[list[Tree]] = [[]]
    for token in re.findall(r"[()]|[^\s()]+", re.sub(";.*", "", text)):
        if token == "(":
            stack.append([])
        elif token == ")":
            done = tuple(stack.pop())
            stack[-1].append(done if len(done) > 1 else done[0])
        else:
            stack[-1].append(token)
    return stack[0]


def text_of(tree: Tree) -> str:
    """Return *tree* as KIF."""
    return tree if isinstance(tree, str) else f"({' '.join(map(text_of, tree))})"


@dataclass(frozen=True)
class Clause:
    """A head that holds where the atoms of `positive` do, those of `negative` do not, and all `pairs` differ."""

    head: Tree
    positive: tuple[Tree, ...]
    negative: tuple[Tree, ...]
    pairs: tuple[tuple[Tree, Tree], ...]
    equal: tuple[tuple[Tree, Tree], ...]


def clauses_of(rule: Tree) -> Iterator[Clause]:
    """Yield one clause for each way in which the body of *rule* can hold."""
    head, *body = rule[1:] if rule[0] == "<=" else (rule,)
    for parts in product(*(_ways(condition, holds=True) for condition in body)):
        found = [part for way in parts for part in way]
        kinds = {kind: tuple(tree for other, tree in found if other == kind) for kind in ("+", "-", "pair", "equal")}
        yield Clause(_atom(head), tuple(_ordered(kinds["+"])), kinds["-"], kinds["pair"], kinds["equal"])


def _ways(condition: Tree, *, holds: bool) -> list[list[tuple[str, Tree]]]:
    """Return alternatives of what must be so for *condition* to hold (or not)."""
    match condition:
        case ("not", inner):
            return _ways(inner, holds=not holds)
        case ("distinct", left, right):
            return [[("pair" if holds else "equal", (left, right))]]
        case (("and" | "or") as connective, *parts):
            ways = [_ways(part, holds=holds) for part in parts]
            if (connective == "and") == holds:
                return [[part for way in choice for part in way] for choice in product(*ways)]
            return [way for some in ways for way in some]
    return [[("+" if holds else "-", _atom(condition))]]


def _atom(tree: Tree) -> Tree:
    return (tree,) if isinstance(tree, str) else tree


def _ordered(atoms: Sequence[Tree]) -> Iterator[Tree]:
    """Yield the atoms so that each has as few new variables as can be."""
    known: set[str] = set()
    rest = list(dict.fromkeys(atoms))
    while rest:
        first = min(rest, key=lambda atom: len(_variables(atom) - known))
        rest.remove(first)
        known |= _variables(first)
        yield first


def _variables(tree: Tree) -> set[str]:
    if isinstance(tree, str):
        return {tree} if tree.startswith("?") else set()
    return set().union(*map(_variables, tree))


class Program:
    """Rules by component, those first that the others need."""

    def __init__(self, rules: Iterable[Tree]) -> None:
        clauses = [clause for rule in rules for clause in clauses_of(rule)]
        self.needs: dict[Relation, frozenset[Relation]] = _closure(clauses)
        mutual: dict[frozenset[Relation], list[Clause]] = {}
        for clause in clauses:
            key = _relation(clause.head)
            same = {other for other in self.needs[key] if key in self.needs.get(other, ())}
            mutual.setdefault(frozenset(same | {key}), []).append(clause)
        self._components = sorted(mutual.items(), key=lambda item: len(self.needs[next(iter(item[0]))] | item[0]))

    def extended(self, model: Model, given: Iterable[Tree], without: Collection[Relation] = frozenset()) -> Model:
        """Return *model* with the facts of *given* and all that follows, but for rules that need one of *without*.

        Of *model* itself nothing changes, so that what does not depend on *given* is derived once.

        Raises:
            TooLarge: too much holds.
            ValueError: something neither holds nor does not hold, so the rules are not stratified.
        """
        found = dict(model)
        for fact in given:
            key = _relation(fact)
            found[key] = found.get(key, set()) | {fact}
        for relations, clauses in self._components:
            needs = self.needs[next(iter(relations))]
            if relations.isdisjoint(model) and needs.isdisjoint(without):
                found |= _of_component(relations, clauses, found)
        return found


def model(rules: Sequence[Tree], given: Facts) -> Facts:
    """Return all that holds by *rules* where the facts of *given* hold; a proposition is a string.

    Raises: as `Program.extended`.
    """
    found = Program(rules).extended({}, map(_atom, given))
    return frozenset(fact if len(fact) > 1 else fact[0] for facts in found.values() for fact in facts)


def _relation(atom: Tree) -> Relation:
    return atom[0], len(atom)


def _closure(clauses: Iterable[Clause]) -> dict[Relation, frozenset[Relation]]:
    """Return, per relation that has rules, all those that it depends on."""
    needs: dict[Relation, frozenset[Relation]] = {}
    for clause in clauses:
        key = _relation(clause.head)
        needs[key] = needs.get(key, frozenset()) | {_relation(atom) for atom in (*clause.positive, *clause.negative)}
    while True:
        more = {key: found.union(*(needs.get(other, ()) for other in found)) for key, found in needs.items()}
        if more == needs:
            return needs
        needs = more


def _of_component(relations: Collection[Relation], clauses: Sequence[Clause], below: Model) -> Model:
    """Return the relations of one component, where *below* has all that they need else."""
    given = {key: below.get(key, set()) for key in relations}
    if not any(_relation(atom) in relations for clause in clauses for atom in clause.negative):
        return _least(clauses, given, below, below)
    certain = {key: set(facts) for key, facts in given.items()}
    while True:
        possible = _least(clauses, given, below, below | certain)
        more = _least(clauses, given, below, below | possible)
        if more == certain:
            break
        certain = more
    if certain != possible:
        raise ValueError(f"undecided: {[possible[key] - certain[key] for key in relations]}")
    return certain


def _least(clauses: Sequence[Clause], given: Model, below: Model, assumed: Model) -> Model:
    """Return the least relations that the clauses are closed under; what *assumed* lacks is taken not to hold."""
    known = {key: set(facts) for key, facts in given.items()}
    while True:
        everything = below | known
        new = {
            _instance(clause.head, binding)
            for clause in clauses
            for binding in _matches(clause.positive, {}, everything)
            if _passes(clause, binding, assumed)
        }
        new = {fact for fact in new if fact not in known[_relation(fact)]}
        if not new:
            return known
        for fact in new:
            known[_relation(fact)].add(fact)
        if sum(map(len, known.values())) > MAX_FACTS or any(_depth(fact) > MAX_DEPTH for fact in new):
            raise TooLarge


def _matches(atoms: Sequence[Tree], binding: Binding, known: Mapping[Relation, set[Tree]]) -> Iterator[Binding]:
    """Yield what the variables can be so that all atoms hold."""
    if not atoms:
        yield binding
        return
    for fact in known.get(_relation(atoms[0]), ()):
        matched = _match(atoms[0], fact, binding)
        if matched is not None:
            yield from _matches(atoms[1:], matched, known)


def _passes(clause: Clause, binding: Binding, assumed: Model) -> bool:
    """Return whether the conditions hold that only test."""
    return (
        all(_instance(left, binding) != _instance(right, binding) for left, right in clause.pairs)
        and all(_instance(left, binding) == _instance(right, binding) for left, right in clause.equal)
        and all(_instance(atom, binding) not in assumed.get(_relation(atom), ()) for atom in clause.negative)
    )


def _match(pattern: Tree, fact: Tree, binding: Binding) -> Binding | None:
    if isinstance(pattern, str):
        value = binding.get(pattern, fact) if pattern.startswith("?") else pattern
        if value != fact:
            return None
        return binding if pattern in binding or value == pattern else binding | {pattern: fact}
    if isinstance(fact, str) or len(fact) != len(pattern):
        return None
    for part, value in zip(pattern, fact, strict=True):
        matched = _match(part, value, binding)
        if matched is None:
            return None
        binding = matched
    return binding


def _instance(pattern: Tree, binding: Binding) -> Tree:
    if isinstance(pattern, str):
        return binding.get(pattern, pattern)
    return tuple(_instance(part, binding) for part in pattern)


def _depth(tree: Tree) -> int:
    return 0 if isinstance(tree, str) else 1 + max(map(_depth, tree))
