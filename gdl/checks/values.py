"""Whether goal values are whole numbers from 0 to 100, and roles are declared (check 15)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Final

from gdl.checks.literals import uses
from gdl.checks.places import part
from gdl.checks.subject import Subject
from gdl.checks.suggestions import Known, Spellings, did_you_mean
from gdl.diagnostics import Diagnostic, Related, diagnostic
from gdl.game import RANDOM
from gdl.rules import Atom, Rule
from gdl.source import Span
from gdl.terms import Compound, Constant, Variable, signature

_INTEGER: Final = re.compile("[-+]?[0-9]+")
_GOAL: Final = re.compile("100|[1-9]?[0-9]")
_OF_ROLES: Final = frozenset({("role", 1), ("does", 2), ("legal", 2), ("goal", 2), ("input", 2)})
"""The relations whose first argument is a role."""
_MOST_CHARACTERS: Final = 40


def goal_values(subject: Subject) -> Iterator[Diagnostic]:
    """Yield goal values that are no whole numbers from 0 to 100."""
    for rule in subject.rules:
        head = rule.head.term
        if (
            isinstance(head, Compound)
            and signature(head) == ("goal", 2)
            and not isinstance(head.arguments[1], Variable)
        ):
            value = str(head.arguments[1])
            if _GOAL.fullmatch(value) is None:
                yield _bad_goal(value, part(rule.head.span, 2))


def _bad_goal(value: str, place: Span) -> Diagnostic:
    hint = "write a whole number from 0 to 100"
    if _INTEGER.fullmatch(value) is None:
        return diagnostic("goal-is-no-number", place, f"the goal value {_short(value)} is no whole number", hint)
    message = f"the goal value {_short(value)} is none of 0, 1, 2 ... 100"
    return diagnostic("goal-not-in-range", place, message, hint)


def undeclared_roles(subject: Subject) -> Iterator[Diagnostic]:
    """Yield what is said of a role that no fact declares."""
    roles = _roles(subject)
    names = [role.name for role in roles]
    known, spellings = Known(names), Spellings(names)
    all_roles = f"the roles are {', '.join(map(_short, names[:10]))}"
    declared = [Related(rule.head.span, "the first role is declared here") for rule in list(roles.values())[:1]]
    for atom in _atoms_of_roles(subject) if roles else ():
        role = atom.term.arguments[0] if isinstance(atom.term, Compound) else None
        if isinstance(role, Constant | Compound) and str(role) not in known:
            message = f"{_short(str(role))} is no role of this game"
            otherwise = "add (role random), if chance has a part in this game" if role is RANDOM else all_roles
            hint = did_you_mean(spellings.near(str(role)), otherwise)
            yield diagnostic("undeclared-role", part(atom.span, 1), message, hint, declared)


def idle_roles(subject: Subject) -> Iterator[Diagnostic]:
    """Yield roles for which there is no rule for `legal`, or none for `goal`; and games that nobody plays."""
    roles = _roles(subject)
    players = {role: rule for role, rule in roles.items() if role is not RANDOM or not subject.is_gdl2}
    if roles and not players:
        hint = "add a role that a player takes: (role white)"
        message = "the only role is `random`, which no player takes"
        yield diagnostic("no-player", roles[RANDOM].head.span, message, hint)
    yield from _without(subject, roles, "legal", "can never move")
    yield from _without(subject, players, "goal", "never gets a goal value")


def _without(subject: Subject, roles: Mapping[Constant, Rule], name: str, what: str) -> Iterator[Diagnostic]:
    heads = [rule.head.term for rule in subject.rules if signature(rule.head.term) == (name, 2)]
    named = {head.arguments[0] for head in heads if isinstance(head, Compound)}
    if named and not subject.broken and all(isinstance(role, Constant) for role in named):
        for role, rule in roles.items():
            if role not in named:
                message = f"{role} {what}: no `{name}` names it"
                hint = f"add a fact or a rule for ({name} {role} ...)"
                yield diagnostic(f"role-without-{name}", rule.head.span, message, hint)


def _roles(subject: Subject) -> dict[Constant, Rule]:
    """Return the declared roles with the facts that declare them; none where some cannot be made out."""
    found: dict[Constant, Rule] = {}
    for rule in subject.rules:
        if isinstance(rule.head.term, Compound) and signature(rule.head.term) == ("role", 1):
            role = rule.head.term.arguments[0]
            if rule.body or not isinstance(role, Constant):
                return {}
            found.setdefault(role, rule)
    return {} if subject.broken else found


def _atoms_of_roles(subject: Subject) -> Iterator[Atom]:
    relations = _OF_ROLES | {("sees", 2)} if subject.is_gdl2 else _OF_ROLES
    atoms = chain((rule.head for rule in subject.rules), (use.atom for use in uses(subject.rules)))
    return (atom for atom in atoms if signature(atom.term) in relations)


def _short(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."
