"""Whether a condition can hold at all, as far as single names among its arguments tell (check 14)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, TypeAlias

from gdl.checks.fluents import is_kept
from gdl.checks.literals import Use, uses
from gdl.checks.places import part
from gdl.checks.subject import Subject
from gdl.checks.suggestions import Spellings, did_you_mean
from gdl.diagnostics import Diagnostic, diagnostic
from gdl.rules import KEYWORDS, Atom, Rule
from gdl.terms import Compound, Term, Variable, signature

Kind: TypeAlias = str
"""`true` for fluents, `does` for moves, nothing for relations that a file defines itself."""

Place: TypeAlias = tuple[Kind, tuple[str, int], int]
"""An argument: of what, with which name and number of arguments, and its number from 0."""

_KINDS: Final[Mapping[str, Kind]] = {
    "init": "true", "next": "true", "true": "true", "legal": "does", "does": "does",
}  # fmt: skip
_MOST_TOLD: Final = 4
_LONGEST_RULE: Final = 10_000
"""In how many characters a variable is looked for that may be meant."""


@dataclass
class _Given:
    """What stands as each argument where facts and rules give it: its name, by what it is but for upper case.

    At `open_places` there are variables, which may be anything; so may fluents or moves of `open_kinds`.
    """

    names: dict[Place, dict[tuple[str, int], str]] = field(default_factory=lambda: defaultdict(dict))
    open_places: set[Place] = field(default_factory=set)
    open_kinds: set[Kind] = field(default_factory=set)
    _spellings: dict[Place, Spellings] = field(default_factory=dict)

    def add(self, place: Place, term: Term) -> None:
        """Take in that *term* stands at *place*."""
        if isinstance(term, Variable):
            self.open_places.add(place)
        else:
            self.names[place].setdefault(_key(term), signature(term)[0])

    def excludes(self, place: Place, term: Term) -> bool:
        """Return whether *term* never stands at *place*; a relation that nothing gives is told elsewhere."""
        if isinstance(term, Variable) or place[0] in self.open_kinds or place in self.open_places:
            return False
        kind, relation, number = place
        if not kind and ("true", relation, number) in self.names:
            return False  # a `true` around it is missing, which is told elsewhere
        return place in self.names and _key(term) not in self.names[place]

    def near(self, place: Place, name: str) -> str | None:
        """Return what stands at *place* and is spelt much like *name*."""
        if place not in self._spellings:
            self._spellings[place] = Spellings(self.names[place].values())
        return self._spellings[place].near(name)

    def shown(self, place: Place) -> str:
        """Return some of what stands at *place*, as a list."""
        names = list(islice(self.names[place].values(), _MOST_TOLD + 1))
        return ", ".join(names[:_MOST_TOLD]) + (" ..." if len(names) > _MOST_TOLD else "")


def unmatched_conditions(subject: Subject) -> Iterator[Diagnostic]:
    """Yield names as arguments of conditions where no fact or rule has them, so that the condition never holds."""
    if subject.broken:
        return
    given = _given(subject)
    told: set[tuple[Place, Term]] = set()
    for use in uses(subject.rules):
        wrong = next((one for one in _arguments(use.atom) if given.excludes(*one)), None)
        if wrong is not None and wrong not in told:
            told.add(wrong)
            yield _unmatched(use, *wrong, given)


def _unmatched(use: Use, place: Place, term: Term, given: _Given) -> Diagnostic:
    kind, (name, _), number = place
    written = part(part(use.atom.span, signature(use.atom.term)[1]) if kind else use.atom.span, number + 1)
    said = signature(term)[0]
    near = f"?{said}" if _has_variable(use.rule, f"?{said}") else given.near(place, said)
    message = f"argument {number + 1} of `{name}` is never {said}: this never holds"
    hint = did_you_mean(near, f"facts and rules give {given.shown(place)} there")
    return diagnostic("unmatched-condition", written, message, hint)


def _has_variable(rule: Rule, name: str) -> bool:
    text = rule.span.text[:_LONGEST_RULE]
    return name in text.replace("(", " ").replace(")", " ").split()


def _key(term: Term) -> tuple[str, int]:
    """Return what tells *term* from others here; two spellings of a name are told elsewhere."""
    name, n_arguments = signature(term)
    return name.lower(), n_arguments


def _given(subject: Subject) -> _Given:
    found = _Given()
    for rule in subject.rules:
        kind, inner = _inner(rule.head)
        if not isinstance(inner, Variable):
            for place, term in _arguments(rule.head):
                found.add(place, term)
        elif not is_kept(inner, rule):
            found.open_kinds.add(kind)
    return found


def _inner(atom: Atom) -> tuple[Kind, Term]:
    """Return the fluent or move that *atom* holds, else all of it."""
    kind = _KINDS.get(signature(atom.term)[0], "")
    return kind, atom.term.arguments[-1] if kind and isinstance(atom.term, Compound) else atom.term


def _arguments(atom: Atom) -> Iterator[tuple[Place, Term]]:
    kind, inner = _inner(atom)
    if isinstance(inner, Compound) and (kind or inner.functor not in KEYWORDS):
        for number, term in enumerate(inner.arguments):
            yield (kind, signature(inner), number), term
