"""Whether the words of the language are used as what they are (checks 5, 6, 16)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gdl.checks.literals import uses
from gdl.checks.occurrences import Kind
from gdl.checks.places import part
from gdl.checks.subject import Subject
from gdl.diagnostics import Diagnostic, diagnostic
from gdl.game import RANDOM
from gdl.rules import GDL2_KEYWORDS, KEYWORDS, Rule
from gdl.terms import Compound, Constant, Term, signature

_NEVER_IN_BODIES: Final = {
    "init": "conditions ask for the present state: (true ...)",
    "next": "conditions ask for the present state: (true ...)",
    "base": "it lists what can be true, for readers; give the list a relation of its own and use that in both places",
    "input": "it lists what can be done, for readers; give the list a relation of its own and use that in both places",
}


def keywords_as_names(subject: Subject) -> Iterator[Diagnostic]:
    """Yield keywords in the place of a function or an object."""
    keywords = KEYWORDS | GDL2_KEYWORDS if subject.is_gdl2 else KEYWORDS
    for use, forms in subject.occurrences.items():
        if use.name not in keywords:
            continue
        for form in forms:
            if use.kind is Kind.FUNCTION:
                message = f"`{use.name}` is a word of the language, and stands for a function here"
                hint = "is a parenthesis misplaced? If not, choose another name"
                yield diagnostic("keyword-as-function", form.span, message, hint)
            elif use.kind is Kind.OBJECT and use.name != RANDOM.name:
                message = f"`{use.name}` is a word of the language, and names an object here"
                yield diagnostic("keyword-as-object", form.span, message, "choose another name")
            elif use.kind is Kind.RELATION and use.name == RANDOM.name:
                message = "`random` is the role that plays by chance, and stands for a relation here"
                yield diagnostic("random-as-relation", form.span, message, "choose another name")


def roles(subject: Subject) -> Iterator[Diagnostic]:
    """Yield roles that are not given by a fact and a name."""
    for rule in _rules_of(subject, "role", 1):
        if rule.body:
            message = "a rule for `role`: the roles are given by facts"
            yield diagnostic("role-by-rule", rule.head.span, message, "write a fact (role name) for each role")
        elif isinstance(_first(rule.head.term), Compound):
            message = "a role is a name, not a term with arguments"
            yield diagnostic("role-is-no-name", rule.head.span, message, "write (role name)")


def reserved_conditions(subject: Subject) -> Iterator[Diagnostic]:
    """Yield `init`, `next`, `base` and `input` in the body of a rule."""
    for use in uses(subject.rules):
        name = signature(use.atom.term)[0]
        if name in _NEVER_IN_BODIES:
            message = f"`{name}` in the body of a rule: it may only be defined"
            yield diagnostic("reserved-body", use.atom.span, message, _NEVER_IN_BODIES[name])


def gdl2_keywords_in_gdl1(subject: Subject) -> Iterator[Diagnostic]:
    """Yield what means something in GDL-II, in a file that is read as GDL-I."""
    if subject.is_gdl2:
        return
    is_own_relation = any(name.lower() == "sees" for name, _ in subject.graph.users)
    for rule in () if is_own_relation else _rules_of(subject, "sees", 2):
        message = "this file is read as GDL-I, where `sees` is a relation like any other"
        hint = "for hidden information write (sees role percept) with a role; otherwise choose another name"
        yield diagnostic("sees-in-gdl1", rule.head.span, message, hint)
    for rule in _rules_of(subject, "role", 1):
        if str(_first(rule.head.term)).lower() == "random":
            message = "this file is read as GDL-I, where `random` is a role like any other"
            yield diagnostic("random-in-gdl1", rule.head.span, message, "read it as GDL-II, or choose another name")


def blind_roles(subject: Subject) -> Iterator[Diagnostic]:
    """Yield the roles of a GDL-II game that never see anything."""
    if not subject.is_gdl2:
        return
    seeing = [_first(rule.head.term) for rule in _rules_of(subject, "sees", 2)]
    if any(not isinstance(role, Constant) for role in seeing):
        return
    for rule in _rules_of(subject, "role", 1):
        role = _first(rule.head.term)
        if isinstance(role, Constant) and role is not RANDOM and role not in seeing:
            message = f"{role} never sees anything, not even its own moves"
            hint = f"add for example (<= (sees {role} ?move) (does {role} ?move))"
            yield diagnostic("blind-role", part(rule.head.span, 1), message, hint)


def _rules_of(subject: Subject, name: str, arity: int) -> Iterator[Rule]:
    for rule in subject.rules:
        found, n_arguments = signature(rule.head.term)
        if n_arguments == arity and found.lower() == name:
            yield rule


def _first(term: Term) -> Term | None:
    return term.arguments[0] if isinstance(term, Compound) else None
