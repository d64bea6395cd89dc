"""Whether the values of every variable are listed by a condition (gdl.md, check 8)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from gdl.checks.subject import Subject
from gdl.diagnostics import Diagnostic, Related, diagnostic
from gdl.rules import And, Atom, Condition, Or, Rule
from gdl.safety import Unbound, unbound_variables
from gdl.source import Span
from gdl.terms import Variable, variables

_WHY: Final = {
    "a negated condition": "`not` tests values and gives none; ",
    "`distinct`": "`distinct` compares values and gives none; ",
}


def rules_too_large(subject: Subject) -> Iterator[Diagnostic]:
    """Yield the rules that no engine takes, for their size."""
    for rule, error in subject.alternatives.refused:
        message = f"this rule is too large to be run: more than {error.limit:,} {error.what}"
        hint = "give parts of it relations of their own, each with a few rules"
        yield diagnostic("rule-too-large", rule.span, message, hint)


def unsafe_variables(subject: Subject) -> Iterator[Diagnostic]:
    """Yield variables of a head, a negation or a `distinct` that no positive condition binds."""
    found: dict[int, list[tuple[Rule, Unbound]]] = defaultdict(list)
    for rule, clause in subject.alternatives.clauses:
        if rule.body:
            found[rule.span.start] += ((rule, unbound) for unbound in unbound_variables(clause))
    for cases in found.values():
        told: set[tuple[Variable, str, Span | None]] = set()
        for rule, unbound in cases:
            key = (unbound.variable, unbound.where, unbound.span)
            if key not in told:
                told.add(key)
                yield _unsafe(rule, unbound)


def _unsafe(rule: Rule, unbound: Unbound) -> Diagnostic:
    variable = unbound.variable
    branches = [branch for condition in rule.body for branch in _branches_without(condition, variable)]
    who = "a branch of the `or`" if branches else "no condition"
    gives = "gives no value to" if branches else "gives a value to"
    return diagnostic(
        "unsafe-variable",
        unbound.span or rule.head.span,
        f"{who} {gives} the variable {variable} of {unbound.where}",
        f"{_WHY.get(unbound.where, '')}add a condition that lists the values of {variable}, as (role {variable}) does",
        [Related(branch, f"{variable} has no value here") for branch in branches],
    )


def _branches_without(condition: Condition, variable: Variable) -> Iterator[Span]:
    """Yield the branches of an `or` that leave *variable* open, where another one binds it."""
    match condition:
        case Or(parts) if not _binds(condition, variable) and any(_mentions(part, variable) for part in parts):
            yield from (part.span for part in parts if not _binds(part, variable))
        case And(parts):
            for part in parts:
                yield from _branches_without(part, variable)


def _mentions(condition: Condition, variable: Variable) -> bool:
    match condition:
        case Atom(term):
            return variable in variables(term)
        case And(parts) | Or(parts):
            return any(_mentions(part, variable) for part in parts)
    return False


def _binds(condition: Condition, variable: Variable) -> bool:
    match condition:
        case Atom(term):
            return variable in variables(term)
        case And(parts):
            return any(_binds(part, variable) for part in parts)
        case Or(parts):
            return all(_binds(part, variable) for part in parts)
    return False
