"""Whether rules name only roles that are declared, and whether each of these can move and get points."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from gdl.checks.names import Known, Spellings, also_here, as_variable, did_you_mean, doubtful_words, short
from gdl.checks.subject import Subject, part, uses
from gdl.diagnostics import Diagnostic, Related, diagnostic
from gdl.game import RANDOM
from gdl.language.syntax import USAGE, Atom, Rule
from gdl.language.terms import Compound, Constant, arguments_of, signature

_OF_ROLES: Final = frozenset({("role", 1), ("does", 2), ("legal", 2), ("goal", 2), ("input", 2)})
"""The relations whose first argument is a role."""
_MOST_TOLD: Final = 10
_MOST_PLACES: Final = 5


def undeclared_roles(subject: Subject) -> Iterator[Diagnostic]:
    """Yield what is said of roles that no fact declares, each once, with some of the places."""
    roles = _roles(subject)
    names = [role.name for role in roles]
    known = Known(names)
    found: dict[Constant | Compound, list[tuple[Rule, Atom]]] = defaultdict(list)
    for rule, atom in _atoms_of_roles(subject) if roles else ():
        role = arguments_of(atom.term)[0]
        if isinstance(role, Constant | Compound) and str(role) not in known:
            found[role].append((rule, atom))
    spellings = Spellings(names)
    all_roles = f"the roles are {', '.join(map(short, names[:_MOST_TOLD]))}{' ...' if len(names) > _MOST_TOLD else ''}"
    for role, said in found.items():
        name = short(str(role))
        places = [part(atom.span, 1) for _, atom in said[:_MOST_PLACES]]
        near = spellings.near(str(role))
        hint = _instead_of(role, near, *said[0]) or did_you_mean(near, all_roles)
        declared = Related(next(iter(roles.values())).head.span, "the first role is declared here")
        related = [declared, *also_here(name, places)]
        yield diagnostic("undeclared-role", places[0], f"{name} is no role of this game", hint, related)


def _instead_of(role: Constant | Compound, near: str | None, rule: Rule, atom: Atom) -> str | None:
    """Return what is likely meant by *role* in *atom*, where that is no other role."""
    if (variable := as_variable(str(role), rule)) is not None:
        return f"did you mean {variable}?"
    if role is RANDOM:
        return f"should {near} be random?" if near else "add (role random), if chance has a part in this game"
    if isinstance(role, Compound) or role.name.isdigit():
        return f"the role comes first: write {USAGE[signature(atom.term)[0]]}"
    return None


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
    atoms = ((rule, atom) for rule in subject.rules for atom in (rule.head, *(use.atom for use in uses([rule]))))
    return ((rule, atom) for rule, atom in atoms if signature(atom.term) in relations)
