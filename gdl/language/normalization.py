"""Rules in normal form: variables renamed by their order, conditions sorted, so that equal texts are equal rules.

What is equal here means the same; a rule that means the same in other words may be another one here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from gdl.language.kif import words
from gdl.language.rules import Description
from gdl.language.sentences import And, Atom, Condition, Distinct, Not, Or, Rule

_MOST_ORDERED: Final = 60
_MOST_CHARACTERS: Final = 20_000
"""Up to how many conditions, and characters, a body's conditions are ordered by the names that earlier ones give; those
of a larger one are sorted once."""
_UNNAMED: Final = "?~"
"""What a variable without a name is called where conditions are ordered: it comes after those that have one."""


def normal_text(rule: Rule) -> str:
    """Return *rule* as a text that names of variables and the order of conditions do not change.

    Example:
        >>> from gdl.language.rules import read_rules
        >>> rules = read_rules("(<= (p ?a) (q ?a ?b) (distinct ?b c)) (<= (p ?y) (distinct c ?z) (q ?y ?z))").rules
        >>> [normal_text(rule) for rule in rules]
        ['(<= (p ?1) (distinct ?2 c) (q ?1 ?2))', '(<= (p ?1) (distinct ?2 c) (q ?1 ?2))']
    """
    names: dict[str, str] = {}
    head = list(words(str(rule.head.term)))
    _name(head, names)
    left = list(_flat(rule.body))
    if not left:
        return _renamed(head, names)
    is_small = len(left) <= _MOST_ORDERED and rule.span.end - rule.span.start <= _MOST_CHARACTERS
    for condition in _ordered(left, names) if is_small else sorted(left, key=lambda one: _text(one, names)):
        _name(_in_order(condition, names), names)
    return f"(<= {_renamed(head, names)} {' '.join(sorted(_text(one, names) for one in left))})"


def _flat(conditions: Iterable[Condition]) -> Iterator[Condition]:
    """Yield conditions that must all hold, each alone."""
    for condition in conditions:
        if isinstance(condition, And):
            yield from _flat(condition.parts)
        else:
            yield condition


def _ordered(conditions: Sequence[Condition], names: dict[str, str]) -> Iterator[Condition]:
    """Yield *conditions*, each the first by its text as *names*, which grow meanwhile, write it."""
    left = list(conditions)
    while left:
        first = min(left, key=lambda one: _text(one, names))
        left.remove(first)
        yield first


def _in_order(condition: Condition, names: dict[str, str]) -> list[str]:
    """Return the words of *condition* with the variables as the file has them, its parts in the order of `_text`."""
    if isinstance(condition, Atom):
        return list(words(str(condition.term)))
    if isinstance(condition, Not):
        return _in_order(condition.inner, names)
    if isinstance(condition, Distinct):
        sides = [list(words(str(side))) for side in (condition.left, condition.right)]
        return [word for side in sorted(sides, key=lambda side: _renamed(side, names)) for word in side]
    parts = sorted(condition.parts, key=lambda part: _text(part, names))
    return [word for part in parts for word in _in_order(part, names)]


def _name(found: Iterable[str], names: dict[str, str]) -> None:
    for word in found:
        if word[0] == "?":
            names.setdefault(word, f"?{len(names) + 1}")


def _text(condition: Condition, names: dict[str, str]) -> str:
    """Return *condition* with the variables that have *names* renamed, all others alike, and its parts sorted."""
    if isinstance(condition, Atom):
        return _renamed(words(str(condition.term)), names)
    if isinstance(condition, Distinct):
        sides = sorted(_renamed(words(str(side)), names) for side in (condition.left, condition.right))
        return f"(distinct {' '.join(sides)})"
    if isinstance(condition, Not):
        return f"(not {_text(condition.inner, names)})"
    word = "or" if isinstance(condition, Or) else "and"
    return f"({word} {' '.join(sorted(_text(part, names) for part in condition.parts))})"


def _renamed(found: Iterable[str], names: dict[str, str]) -> str:
    pieces: list[str] = []
    for word in found:
        if pieces and word != ")" and pieces[-1] != "(":
            pieces.append(" ")
        pieces.append(names.get(word, _UNNAMED) if word[0] == "?" else word)
    return "".join(pieces)


def normal_sha256(description: Description) -> str:
    """Return the SHA-256 of all rules in normal form, whatever their order, in hex digits."""
    texts = sorted({normal_text(rule) for rule in description.rules})
    return hashlib.sha256("\n".join(texts).encode("utf-8", "replace")).hexdigest()
