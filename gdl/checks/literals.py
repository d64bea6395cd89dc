"""The atoms that a rule's body is made of, each with its sign."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gdl.rules import And, Atom, Condition, Not, Or, Rule


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
