"""Neighbourhoods of cells in the rules of a game: cells with neighbours along one diagonal only are hexagons."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final, Literal

from gdl.boards.stacks import natural
from gdl.language.rules import And, Atom, Condition, Description, Or
from gdl.language.terms import Compound, Term, Variable, signature

_EQUAL: Final = re.compile(r"(is_?)?(equals?|same|eq)", re.IGNORECASE)
_LINES: Final = frozenset({(1, 0), (-1, 0), (0, 1), (0, -1)})
_MAX_WAYS: Final = 16
_MAX_RULES: Final = 5_000


def diagonal(description: Description) -> Literal[-1, 0, 1]:
    """Return along which diagonal cells are neighbours, if some relation has one of them and both lines, as in hex.

    1: both coordinates rise together; -1: one rises where the other falls; 0: no relation is like that.
    """
    rising = _rising(description)
    steps: dict[tuple[str, int], set[tuple[int, int]]] = defaultdict(set)
    for rule in description.rules[:_MAX_RULES]:
        head = rule.head.term
        if isinstance(head, Compound) and len(head.arguments) == 4:
            for way in _ways(rule.body):
                steps[signature(head)] |= set(_steps(head.arguments, way, rising))
    for found in steps.values():
        for sign in (1, -1):
            if found | {(-x, -y) for x, y in found} == _LINES | {(1, sign), (-1, -sign)}:
                return 1 if sign == 1 else -1
    return 0


def _rising(description: Description) -> dict[str, int]:
    """Return of each relation of two names whether the second one follows the first (1) or comes before it (-1)."""
    found: dict[str, int] = {}
    for rule in description.rules:
        term = rule.head.term
        if not rule.body and isinstance(term, Compound) and len(term.arguments) == 2 and term.is_ground:
            first, second = (natural(str(argument)) for argument in term.arguments)
            found.setdefault(signature(term)[0], 1 if first < second else -1)
    return found


def _ways(body: Sequence[Condition]) -> Iterator[list[Term]]:
    """Yield the terms that must hold together, for each way in which the alternatives of *body* can."""
    choices = [tuple(_alternatives(condition)) for condition in body]
    for number, way in enumerate(product(*choices)):
        if number == _MAX_WAYS:
            return
        yield [term for part in way for term in part]


def _alternatives(condition: Condition) -> Iterator[Sequence[Term]]:
    match condition:
        case Atom():
            yield [condition.term]
        case Or(parts):
            yield from ([part.term] for part in parts if isinstance(part, Atom))
        case And(parts):
            yield [part.term for part in parts if isinstance(part, Atom)]
        case _:
            yield []


def _steps(arguments: Sequence[Term], way: Sequence[Term], rising: dict[str, int]) -> Iterator[tuple[int, int]]:
    x, y = (_along(arguments[axis], arguments[axis + 2], way, rising) for axis in (0, 1))
    if x is not None and y is not None and (x, y) != (0, 0):
        yield x, y


def _along(start: Term, end: Term, way: Sequence[Term], rising: dict[str, int]) -> int | None:
    """Return by how much *end* is further than *start*, None where the terms of *way* do not say it."""
    if start is end:
        return 0
    if not isinstance(start, Variable) or not isinstance(end, Variable):
        return None
    for term in way:
        if isinstance(term, Compound) and len(term.arguments) == 2:
            name = signature(term)[0]
            pair = tuple(term.arguments)
            if pair in ((start, end), (end, start)) and _EQUAL.fullmatch(name):
                return 0
            if name in rising and pair == (start, end):
                return rising[name]
            if name in rising and pair == (end, start):
                return -rising[name]
    return None
