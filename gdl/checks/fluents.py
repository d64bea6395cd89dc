"""Whether what `true` and `does` ask for can come about, and what comes about is asked for (check 14)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from gdl.checks.literals import uses
from gdl.checks.places import part
from gdl.checks.subject import Subject
from gdl.checks.suggestions import Known, Spellings, also_here, did_you_mean
from gdl.diagnostics import Diagnostic, diagnostic
from gdl.rules import KEYWORDS, Atom, Rule
from gdl.source import Span
from gdl.terms import Compound, Term, Variable, signature

_MAKERS: Final = {"true": frozenset({"init", "next"}), "does": frozenset({"legal"})}


@dataclass
class _Terms:
    """Fluents or moves by name, with the atoms that hold them; `is_open` where a variable stands for any."""

    atoms: dict[str, list[Atom]] = field(default_factory=lambda: defaultdict(list))
    is_open: bool = False


def undefined_fluents(subject: Subject) -> Iterator[Diagnostic]:
    """Yield fluents that conditions ask for and no `init` or `next` makes true."""
    for name, places, near in _never_made(subject, "true"):
        message = f"no `init` or `next` makes {name} true: this never holds"
        hint = did_you_mean(near, f"add an `init` or a `next` for {name}, or delete this condition")
        yield diagnostic("undefined-fluent", places[0], message, hint, also_here(name, places))


def undefined_moves(subject: Subject) -> Iterator[Diagnostic]:
    """Yield moves that conditions ask for and no `legal` allows."""
    for name, places, near in _never_made(subject, "does"):
        message = f"no `legal` allows {name}: nobody ever does it"
        hint = did_you_mean(near, f"add a rule for (legal ?role {name}) or the like, or delete this condition")
        yield diagnostic("undefined-move", places[0], message, hint, also_here(name, places))


def unused_fluents(subject: Subject) -> Iterator[Diagnostic]:
    """Yield fluents that `init` or `next` makes true and no condition asks for."""
    made, asked = _made(subject, "true"), _asked(subject, "true")
    if asked.is_open or subject.broken:
        return
    known = Known(asked.atoms)
    spellings = Spellings(name for name in asked.atoms if name not in made.atoms)
    for name, atoms in made.atoms.items():
        if name not in known:
            message = f"no condition asks whether {name} is true"
            hint = did_you_mean(spellings.near(name), "delete it, or ask for it with (true ...)")
            yield diagnostic("unused-fluent", _places(atoms)[0], message, hint)


def _never_made(subject: Subject, word: str) -> Iterator[tuple[str, list[Span], str | None]]:
    made, asked = _made(subject, word), _asked(subject, word)
    if made.is_open or not made.atoms or subject.broken:
        return
    spellings, known = Spellings(made.atoms), Known(made.atoms, KEYWORDS)
    for name, atoms in asked.atoms.items():
        if name not in known:
            yield name, _places(atoms), spellings.near(name)


def _made(subject: Subject, word: str) -> _Terms:
    heads = ((rule.head, rule) for rule in subject.rules)
    return _collected((atom, rule) for atom, rule in heads if signature(atom.term)[0] in _MAKERS[word])


def _asked(subject: Subject, word: str) -> _Terms:
    conditions = ((use.atom, use.rule) for use in uses(subject.rules))
    return _collected((atom, rule) for atom, rule in conditions if signature(atom.term)[0] == word)


def _collected(atoms: Iterable[tuple[Atom, Rule]]) -> _Terms:
    found = _Terms()
    for atom, rule in atoms:
        if isinstance(atom.term, Compound):
            term = atom.term.arguments[-1]
            if isinstance(term, Variable):
                found.is_open |= not is_kept(term, rule)
            else:
                found.atoms[signature(term)[0]].append(atom)
    return found


def _places(atoms: Iterable[Atom]) -> list[Span]:
    return [part(atom.span, signature(atom.term)[1]) for atom in islice(atoms, 5)]


def is_kept(variable: Variable, rule: Rule) -> bool:
    """Return whether *rule* only lets what is true stay so: `(<= (next ?f) (true ?f) ...)`."""
    stays: tuple[Term, Term] = (Compound("next", (variable,)), Compound("true", (variable,)))
    conditions = [condition.term for condition in rule.body if isinstance(condition, Atom)]
    return rule.head.term is stays[0] and stays[1] in conditions
