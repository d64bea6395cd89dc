"""Whether every name has one number of arguments and is one kind of thing (check 4)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from gdl.checks.occurrences import Kind, Use
from gdl.checks.subject import Subject
from gdl.diagnostics import Diagnostic, Related, diagnostic
from gdl.rules import GDL2_KEYWORDS, KEYWORDS

_CODES: Final = {Kind.RELATION: "relation-arities", Kind.FUNCTION: "function-arities"}


def several_arities(subject: Subject) -> Iterator[Diagnostic]:
    """Yield relations and functions that have more than one number of arguments, at the rarer use."""
    for kind, code in _CODES.items():
        for group in _by_name(use for use in subject.occurrences if use.kind is kind).values():
            usual, *others = _most_frequent_first(subject, group)
            for other in others:
                message = f"{other.name} takes {_arguments(other)} here, and {_arguments(usual)} elsewhere"
                place = subject.occurrences[usual][0].span
                yield diagnostic(
                    code,
                    subject.occurrences[other][0].span,
                    message,
                    "if they are meant to be two things, give them two names",
                    [Related(place, f"with {_arguments(usual)} here")],
                )


def relations_as_functions(subject: Subject) -> Iterator[Diagnostic]:
    """Yield names that are both a relation and a function, at the first place of the rarer use."""
    for group in _by_name(use for use in subject.occurrences if use.kind in _CODES).values():
        kinds = {use.kind: use for use in reversed(_most_frequent_first(subject, group))}
        if len(kinds) < 2 or group[0].name in KEYWORDS | GDL2_KEYWORDS:
            continue
        usual, other = _most_frequent_first(subject, kinds.values())
        message = f"{other.name} is {other.kind} here, and {usual.kind} elsewhere"
        related = [Related(subject.occurrences[usual][0].span, f"{usual.kind} here")]
        hint = "if they are meant to be two things, give them two names"
        yield diagnostic("relation-and-function", subject.occurrences[other][0].span, message, hint, related)


def _by_name(uses: Iterable[Use]) -> dict[str, list[Use]]:
    found: dict[str, list[Use]] = defaultdict(list)
    for use in uses:
        found[use.name].append(use)
    return found


def _most_frequent_first(subject: Subject, uses: Iterable[Use]) -> list[Use]:
    places = subject.occurrences
    return sorted(uses, key=lambda use: (-len(places[use]), places[use][0].start))


def _arguments(use: Use) -> str:
    return f"{use.arity} argument{'s' if use.arity != 1 else ''}" if use.arity else "no argument"
