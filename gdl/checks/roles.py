"""Whether rules name only roles that are declared, and whether each of these can move and get points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Final

from gdl.checks.names import Known, Spellings, as_variable, did_you_mean, doubtful_words, short
from gdl.checks.subject import Subject, part, uses
from gdl.diagnostics import Diagnostic, Related, diagnostic
from gdl.game import RANDOM
from gdl.language.syntax import Atom, Rule
from gdl.language.terms import Compound, Constant, signature

_OF_ROLES: Final = frozenset({("role", 1), ("does", 2), ("legal", 2), ("goal", 2), ("input", 2)})
"""The relations whose first argument is a role."""
_MOST_TOLD: Final = 10


def undeclared_roles(subject: Subject) -> Iterator[Diagnostic]:
    """Yield what is said of a role that no fact declares."""
    roles = _roles(subject)
    names = [role.name for role in roles]
    known, spellings = Known(names), Spellings(names)
    all_roles = f"the roles are {', '.join(map(short, names[:_MOST_TOLD]))}{' ...' if len(names) > _MOST_TOLD else ''}"
    declared = [Related(rule.head.span, "the first role is declared here") for rule in list(roles.values())[:1]]
    for rule, atom in _atoms_of_roles(subject) if roles else ():
        role = atom.term.arguments[0] if isinstance(atom.term, Compound) else None
        if isinstance(role, Constant | Compound) and str(role) not in known:
            message = f"{short(str(role))} is no role of this game"
            otherwise = "add (role random), if chance has a part in this game" if role is RANDOM else all_roles
            hint = did_you_mean(as_variable(str(role), rule) or spellings.near(str(role)), otherwise)
            yield diagnostic("undeclared-role", part(atom.span, 1), message, hint, declared)


def idle_roles(subject: Subject) -> Iterator[Diagnostic]:
    """Yield roles for which there is no rule for `legal`, or none for `goal`; and games without a role to play."""
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
    is_whole = not subject.broken and name not in doubtful_words(subject)
    if named and is_whole and all(isinstance(role, Constant) for role in named):
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
    return {} if subject.broken or "role" in doubtful_words(subject) else found


def _atoms_of_roles(subject: Subject) -> Iterator[tuple[Rule, Atom]]:
    relations = _OF_ROLES | {("sees", 2)} if subject.is_gdl2 else _OF_ROLES
    heads = ((rule, rule.head) for rule in subject.rules)
    atoms = chain(heads, ((use.rule, use.atom) for use in uses(subject.rules)))
    return ((rule, atom) for rule, atom in atoms if signature(atom.term) in relations)
