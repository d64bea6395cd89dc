"""Whether relations that are defined by themselves stay finite (gdl.md, check 11).

In a condition on a relation that depends on the head's, every argument must be ground, or an argument of the head, or
an argument of a positive condition that does not depend on the head's relation.
Source: Genesereth et al., GDL specification (recursion restriction).
"""

from __future__ import annotations

from collections.abc import Iterator

from gdl.checks.places import part
from gdl.checks.subject import Subject
from gdl.datalog.clauses import Literal
from gdl.diagnostics import Diagnostic, Related, diagnostic
from gdl.rules import Rule
from gdl.terms import Compound, Constant, Term, Variable, signature, variables


def recursive_arguments(subject: Subject) -> Iterator[Diagnostic]:
    """Yield the arguments of recursive conditions that stand neither in the head nor in another condition."""
    for rule, clause in subject.alternatives.clauses:
        recursive: list[Literal] = []
        allowed = set(_arguments(clause.head))
        for literal in clause.literals:
            if subject.graph.is_recursive(signature(clause.head), signature(literal.atom)):
                recursive.append(literal)
            elif literal.is_positive:
                allowed.update(_arguments(literal.atom))
        inside = {variable for argument in allowed for variable in variables(argument)}
        for literal in recursive:
            for number, argument in enumerate(_arguments(literal.atom), 1):
                if not argument.is_ground and argument not in allowed:
                    yield _unbounded(rule, literal, number, argument, inside)


def _arguments(atom: Constant | Compound) -> tuple[Term, ...]:
    return atom.arguments if isinstance(atom, Compound) else ()


def _unbounded(rule: Rule, literal: Literal, number: int, argument: Term, inside: set[Variable]) -> Diagnostic:
    head, name = signature(rule.head.term)[0], signature(literal.atom)[0]
    through = "" if head == name else f" by way of `{name}`"
    where = "the head or of another condition"
    also = "; that it stands inside an argument is not enough" if argument in inside else ""
    return diagnostic(
        "unbounded-recursion",
        part(literal.span or rule.span, number),
        f"`{head}` depends on itself{through}, and {argument} is no argument of {where}: terms might grow without end",
        f"add a condition, not on `{name}`, that lists the values of {argument}{also}",
        [Related(rule.head.span, f"the head, of which {argument} is no argument")],
    )
