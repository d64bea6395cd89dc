"""Whether every relation that is used is defined, and the other way round; and what names are made of (check 14)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gdl.checks.places import part
from gdl.checks.structure import needed_and_missing
from gdl.checks.subject import Subject
from gdl.checks.suggestions import Known, Spellings, also_here, did_you_mean
from gdl.diagnostics import Diagnostic, diagnostic
from gdl.kif import Form
from gdl.rules import GDL2_KEYWORDS, KEYWORDS
from gdl.terms import Compound, Variable, signature

_UNUSUAL: Final = re.compile("[^A-Za-z0-9_-]")
_UNUSUAL_IN_VARIABLE: Final = re.compile(r"[^A-Za-z0-9!$%&*+\-./<=>?_~]")
"""No variable leaves the program that reads it: all that KIF 3.0 allows is harmless there, and `?n++` is customary."""

_WORDS: Final = KEYWORDS | GDL2_KEYWORDS
"""Whether those of GDL-II stand in a file of GDL-I is told elsewhere."""

_GIVEN: Final = ("role", "init", "next", "legal", "goal", "terminal", "base", "input")
_ASKED: Final = ("true", "does", "not", "distinct", "role", "legal", "goal", "terminal")
"""The words that begin heads, and those that begin conditions."""


def undefined_relations(subject: Subject) -> Iterator[Diagnostic]:
    """Yield relations that conditions ask for and no fact or rule gives."""
    own = _own_relations(subject)
    spellings, words = Spellings(own), Spellings(_ASKED)
    known = Known(own, _WORDS, _names_in_broken(subject))
    fluents = _fluents(subject)
    for (name, _), found in subject.graph.users.items():
        if name not in known:
            places = [part(use.atom.span, 0) for use in found[:5]]
            message = f"no fact or rule gives `{name}`: this never holds"
            near = f"(true {found[0].atom.term})" if name in fluents else spellings.near(name) or words.near(name)
            hint = did_you_mean(near, f"add facts or rules for `{name}`, or delete this condition")
            yield diagnostic("undefined-relation", places[0], message, hint, also_here(f"`{name}`", places))


def unused_relations(subject: Subject) -> Iterator[Diagnostic]:
    """Yield relations on which nothing depends that matters in a game."""
    graph = subject.graph
    roots = {*_WORDS, *needed_and_missing(subject).values()}  # one that misspells `terminal` is told with that
    used = {name for name, _ in graph.reached_from(relation for relation in graph.relations if relation[0] in roots)}
    known = Known(used, _WORDS, _names_in_broken(subject))
    likely = LikelyNames(subject)
    for (name, arity), rule in graph.defined.items():
        if name not in known:
            alone = "" if (name, arity) not in graph.users else ", other than by rules that are not used either"
            message = f"`{name}` is not used{alone}"
            hint = did_you_mean(likely.meant_by(name), "delete it, or use it in a rule that the game needs")
            yield diagnostic("unused-relation", part(rule.head.span, 0), message, hint)


class LikelyNames:
    """What the names of relations that nothing uses are likely meant to be."""

    def __init__(self, subject: Subject) -> None:
        asked = {name for name, _ in subject.graph.users}
        self._asked = Spellings(asked - _own_relations(subject) - _WORDS)
        self._words = Spellings(_GIVEN)

    def meant_by(self, name: str) -> str | None:
        """Return a name near *name* that conditions ask for and nothing gives, or else a word of the language."""
        return self._asked.near(name) or self._words.near(name)


def unusual_characters(subject: Subject) -> Iterator[Diagnostic]:
    """Yield names with characters that other systems may not read, each name once."""
    told = {"<="}
    todo = list(reversed(subject.forms))
    while todo:
        top = todo.pop()
        todo += reversed(top.children or ())
        unusual = _UNUSUAL_IN_VARIABLE if top.is_variable else _UNUSUAL
        odd = dict.fromkeys(unusual.findall(top.name))
        if odd and top.name not in told:
            told.add(top.name)
            message = f"{' and '.join(odd)} in a name: other systems may not read it"
            yield diagnostic("unusual-character", top.span, message, "use English letters, digits, _ and -")


def _fluents(subject: Subject) -> set[str]:
    heads = (rule.head.term for rule in subject.rules)
    made = (head.arguments[0] for head in heads if isinstance(head, Compound) and head.functor in ("init", "next"))
    return {signature(fluent)[0] for fluent in made if not isinstance(fluent, Variable)}


def _own_relations(subject: Subject) -> set[str]:
    return {name for name, _ in subject.graph.defined} - _WORDS


def _names_in_broken(subject: Subject) -> set[str]:
    """Return the names in forms that could not be read: they may be used or given there."""
    found: set[str] = set()
    todo: list[Form] = list(subject.broken)
    while todo:
        top = todo.pop()
        found.add(top.name)
        todo += top.children or ()
    return found
