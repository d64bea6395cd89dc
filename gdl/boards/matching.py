"""The facts of a state, or of a rule file, that a pattern of a layout matches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, Literal

from gdl.language.kif import read_term
from gdl.language.rules import Description
from gdl.language.terms import Compound, Term, Variable, signature

MAX_LINE: Final = 200
"""How many characters of a term are shown."""


class Matcher:
    """Finds the facts of a state, or of a rule file, that a pattern matches."""

    def __init__(self, description: Description, facts: Iterable[Term]) -> None:
        self.state = tuple(sorted(facts, key=str))
        self._description = description
        self._found: dict[str, dict[tuple[str, int], list[Term]]] = {}

    def __call__(self, pattern: str, source: Literal["state", "rules"]) -> Iterator[dict[str, str]]:
        """Yield what the variables of *pattern* stand for in each fact that it matches."""
        term = read_term(pattern)
        if source not in self._found:
            self._found[source] = _by_signature(self.state if source == "state" else _facts_of(self._description))
        for fact in self._found[source].get(signature(term), ()):
            bound = _bound(term, fact)
            if bound is not None:
                yield {name: shown(value) for name, value in bound.items()}


def _bound(pattern: Term, fact: Term) -> dict[str, Term] | None:
    """Return what the variables of *pattern* stand for where it is *fact*, which has none; None where it is not."""
    found: dict[str, Term] = {}
    todo = [(pattern, fact)]
    while todo:
        left, right = todo.pop()
        if isinstance(left, Variable):
            if found.setdefault(left.name, right) is not right:
                return None
        elif isinstance(left, Compound) and not left.is_ground:
            if signature(left) != signature(right):
                return None
            assert isinstance(right, Compound)
            todo += zip(left.arguments, right.arguments, strict=True)
        elif left is not right:
            return None
    return found


def _by_signature(facts: Iterable[Term]) -> dict[tuple[str, int], list[Term]]:
    found: dict[tuple[str, int], list[Term]] = {}
    for fact in facts:
        found.setdefault(signature(fact), []).append(fact)
    return found


def _facts_of(description: Description) -> Iterator[Term]:
    return (rule.head.term for rule in description.rules if not rule.body and rule.head.term.is_ground)


def shown(term: Term) -> str:
    """Return the text of *term*, cut to a line and without characters that would move a terminal's cursor."""
    return printed(str(term))


def printed(whole: str) -> str:
    """Return *whole* cut to a line, without characters that would move a terminal's cursor."""
    text = whole[:MAX_LINE]
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else "?" for character in text)
