"""Whether the values of every variable are listed by a condition (gdl.md, check 8)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from gdl.checks.literals import uses
from gdl.checks.subject import Subject
from gdl.checks.suggestions import Spellings, did_you_mean
from gdl.datalog.safety import Unbound, unbound_variables
from gdl.diagnostics import Diagnostic, Related, diagnostic
from gdl.rules import And, Atom, Condition, Or, Rule
from gdl.source import Span
from gdl.terms import Variable, variables

_IN_WORDS: Final = {
    "the head": ("of the head", ""),
    "a negated condition": ("under `not`", "`not` tests values and gives none: "),
    "`distinct`": ("in `distinct`", "`distinct` compares values and gives none: "),
}
"""For what needs the variable: how a message says it, and how the hint begins."""


def rules_too_large(subject: Subject) -> Iterator[Diagnostic]:
    """Yield the rules that no engine takes, for their size."""
    for rule, error in subject.alternatives.refused:
        message = f"this rule is too large to be run: more than {error.limit:,} {error.what}"
        hint = "define the branches of `or` as relations of their own; let terms nest less"
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
    where, reason = _IN_WORDS[unbound.where]
    branches = [branch for condition in rule.body for branch in _branches_without(condition, variable)]
    gives = "a branch of the `or` gives no value to" if branches else "no condition gives a value to"
    bound = Spellings(one.name for one in _bindable(rule) if one is not variable)
    advice = f"{reason}add a condition that lists the values of {variable}, as (role ?r) lists roles"
    return diagnostic(
        "unsafe-variable",
        unbound.span or rule.head.span,
        f"{gives} the variable {variable} {where}",
        advice if branches else did_you_mean(bound.near(variable.name), advice),
        [Related(branch, f"{variable} has no value in this branch") for branch in branches],
    )


def _bindable(rule: Rule) -> set[Variable]:
    return {variable for use in uses([rule]) if not use.is_negative for variable in variables(use.atom.term)}


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
