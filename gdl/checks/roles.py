"""Whether rules name only roles that are declared, and whether each of these can move, see and get points."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import Final

from gdl.checks.names import doubtful_words
from gdl.checks.relation_graph import uses
from gdl.checks.subject import Subject, part
from gdl.checks.suggestions import KnownNames, Spellings, also_here, as_variable, did_you_mean, short
from gdl.diagnostics import Diagnostic, Related, diagnostic
from gdl.game import RANDOM
from gdl.language.syntax import USAGE, Atom, Rule
from gdl.language.terms import Compound, Constant, arguments_of, signature

_OF_ROLES: Final = frozenset({("role", 1), ("does", 2), ("legal", 2), ("goal", 2), ("input", 2)})
"""The relations whose first argument is a role."""
_LIKE_RANDOM: Final = Spellings([RANDOM.name])
_MOST_TOLD: Final = 10
_MOST_PLACES: Final = 5


def undeclared_roles(subject: Subject) -> Iterator[Diagnostic]:
    """Yield what is said of roles that no fact declares, each once, with some of the places."""
    roles = _roles(subject)
    names = [role.name for role in roles]
    known = KnownNames(names)
    found: dict[Constant | Compound, list[tuple[Rule, Atom]]] = defaultdict(list)
    for rule, atom in _atoms_of_roles(subject) if roles else ():
        role = arguments_of(atom.term)[0]
        if isinstance(role, Constant | Compound) and str(role) not in known:
            found[role].append((rule, atom))
    spellings, misspelt = Spellings(names), _misspelt_roles(subject)
    all_roles = f"the roles are {', '.join(map(short, names[:_MOST_TOLD]))}{' ...' if len(names) > _MOST_TOLD else ''}"
    for role, said in found.items():
        name = short(str(role))
        places = [part(atom.span, 1) for _, atom in said[:_MOST_PLACES]]
        declared = Related(next(iter(roles.values())).head.span, "the first role is declared here")
        if (wrong := misspelt.get(role)) is not None:
            hint = f"should {wrong} be {name}?"
            declared = Related(roles[wrong].head.span, f"no rule speaks of {wrong}")
        else:
            near = spellings.near(str(role))
            hint = _instead_of(role, near, *said[0]) or did_you_mean(near, all_roles)
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


@lru_cache(maxsize=1)  # several checks ask
def _misspelt_roles(subject: Subject) -> dict[Constant | Compound, Constant]:
    """Return roles that rules speak of and no fact declares, with the declared ones, unspoken of, that mean them.

    What other checks would say of the declared one comes of its spelling.
    """
    roles = _roles(subject)
    heads = {id(rule.head) for rule in roles.values()}
    spoken_of = {arguments_of(atom.term)[0] for _, atom in _atoms_of_roles(subject) if id(atom) not in heads}
    silent = {role.name: role for role in _unnamed(subject, roles, "legal") if role not in spoken_of}
    spellings = Spellings(silent)
    near = {role: spellings.near(role.name) for role in spoken_of if isinstance(role, Constant) and role not in roles}
    if RANDOM in near and len(silent) == 1:  # however it is called, as in (role chance)
        near[RANDOM] = next(iter(silent))
    return {role: silent[name] for role, name in near.items() if name is not None}


def blind_roles(subject: Subject) -> Iterator[Diagnostic]:
    """Yield the roles of a GDL-II game that never see anything."""
    heads = [rule.head.term for rule in subject.rules]
    seeing = {arguments_of(head)[0] for head in heads if signature(head) == ("sees", 2)}
    if not subject.is_gdl2 or not all(isinstance(role, Constant) for role in seeing):
        return
    roles = _roles(subject)
    explained = {*_misspelt_roles(subject).values(), *filter(_is_like_random, _unnamed(subject, roles, "goal"))}
    for role, rule in roles.items():
        if role is not RANDOM and role not in seeing and role not in explained:
            message = f"{role} never sees anything, not even its own moves"
            hint = _or_random(role, roles, f"add for example (<= (sees {role} ?move) (does {role} ?move))")
            yield diagnostic("blind-role", part(rule.head.span, 1), message, hint)


def idle_roles(subject: Subject) -> Iterator[Diagnostic]:
    """Yield roles for which there is no rule for `legal`, or none for `goal`; and games without a role to play."""
    roles = _roles(subject)
    players = {role: rule for role, rule in roles.items() if role is not RANDOM or not subject.is_gdl2}
    if roles and not players:
        hint = "add a role that a player takes: (role white)"
        message = "the only role is `random`, which no player takes"
        yield diagnostic("no-player", roles[RANDOM].head.span, message, hint)
    misspelt = set(_misspelt_roles(subject).values())
    for name, of, what in (("legal", roles, "can never move"), ("goal", players, "never gets a goal value")):
        for role in _unnamed(subject, of, name):
            if role not in misspelt:
                message = f"{role} {what}: no `{name}` names it"
                hint = _or_random(role, roles, f"add a fact or a rule for ({name} {role} ...)")
                yield diagnostic(f"role-without-{name}", roles[role].head.span, message, hint)


def _unnamed(subject: Subject, roles: Iterable[Constant], name: str) -> list[Constant]:
    """Return those of *roles* that no rule for *name* names; none where some rule may name any."""
    heads = [rule.head.term for rule in subject.rules if signature(rule.head.term) == (name, 2)]
    named = {arguments_of(head)[0] for head in heads}
    is_whole = not subject.broken and name not in doubtful_words(subject)
    if not named or not is_whole or not all(isinstance(role, Constant) for role in named):
        return []
    return [role for role in roles if role not in named]


def _is_like_random(role: Constant) -> bool:
    return _LIKE_RANDOM.near(role.name) is not None


def _or_random(role: Constant, roles: Collection[Constant], hint: str) -> str:
    """Return *hint*, behind the question whether *role* is chance, whose name may be misspelt."""
    is_likely = RANDOM not in roles and _is_like_random(role)
    return f"should {role} be random? Otherwise {hint}" if is_likely else hint


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
