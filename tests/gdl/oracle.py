"""A second, naive meaning of rules, to hold the interpreter against: no term classes, strata, joins or indexes.

Terms are strings and tuples. The model is the well-founded one, found by alternating fixpoints, which is the perfect
model wherever the rules are (locally) stratified. Source: Van Gelder 1993.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias

Tree: TypeAlias = Any
"""A string, or a tuple of trees."""
Binding: TypeAlias = dict[str, Tree]
Facts: TypeAlias = frozenset[Tree]

_LATE: Final = {"or": 1, "not": 2, "distinct": 2}
"""What is looked at after the conditions that say what the variables can be."""

MAX_FACTS: Final = 1_500
MAX_DEPTH: Final = 8


class TooLarge(Exception):  # noqa: N818 -- no error: the example is not for a naive evaluator
    """The model grows beyond what this evaluator is for."""


def trees(text: str) -> list[Tree]:
    """Return the forms of *text*; `(p)` is the same as `p`."""
    stack: list[list[Tree]] = [[]]
    for token in re.findall(r"[()]|[^\s()]+", text):
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


def model(rules: Sequence[Tree], given: Facts) -> Facts:
    """Return all that holds by *rules* where the facts of *given* hold.

    Raises:
        TooLarge: too much holds.
        ValueError: something neither holds nor does not hold, so the rules are not stratified.
    """
    certain: Facts = frozenset()
    while True:
        possible = _least(rules, given, assumed=certain)
        more = _least(rules, given, assumed=possible)
        if more == certain:
            break
        certain = more
    if certain != possible:
        raise ValueError(f"undecided: {possible - certain}")
    return certain


def _least(rules: Sequence[Tree], given: Facts, assumed: Facts) -> Facts:
    """Return the least set that the rules are closed under, where what is not in *assumed* is taken not to hold."""
    known = given
    while True:
        new = {
            _instance(head, binding)
            for head, *body in map(_parts, rules)
            for binding in _solutions(body, {}, known, assumed)
        }
        if new <= known:
            return known
        known |= new
        if len(known) > MAX_FACTS or any(_depth(fact) > MAX_DEPTH for fact in new):
            raise TooLarge


def _parts(rule: Tree) -> tuple[Tree, ...]:
    return rule[1:] if rule[0] == "<=" else (rule,)


def _solutions(body: Sequence[Tree], binding: Binding, known: Facts, assumed: Facts) -> Iterator[Binding]:
    """Yield what the variables can be so that all of *body* holds; what only tests is left to the end."""
    if not body:
        yield binding
        return
    first, *rest = sorted(body, key=lambda condition: _LATE.get(condition[0], 0))
    if first[0] == "or":
        for branch in first[1:]:
            yield from _solutions([branch, *rest], binding, known, assumed)
    elif first[0] == "and":
        yield from _solutions([*first[1:], *rest], binding, known, assumed)
    elif first[0] in ("not", "distinct"):
        if _holds(_instance(first, binding), assumed):
            yield from _solutions(rest, binding, known, assumed)
    else:
        for fact in known:
            matched = _match(first, fact, binding)
            if matched is not None:
                yield from _solutions(rest, matched, known, assumed)


def _holds(condition: Tree, assumed: Facts) -> bool:
    """Return whether a condition without variables holds."""
    match condition:
        case ("not", inner):
            return not _holds(inner, assumed)
        case ("distinct", left, right):
            return bool(left != right)
        case ("and", *parts):
            return all(_holds(part, assumed) for part in parts)
        case ("or", *parts):
            return any(_holds(part, assumed) for part in parts)
    return condition in assumed


def _match(pattern: Tree, fact: Tree, binding: Binding) -> Binding | None:
    if isinstance(pattern, str):
        value = binding.get(pattern, fact) if pattern.startswith("?") else pattern
        return binding | {pattern: fact} if value == fact else None
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
