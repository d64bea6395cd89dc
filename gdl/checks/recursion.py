"""Whether relations that are defined by themselves stay finite (gdl.md, check 11).

In a condition on a relation that depends on the head's, every argument must be ground, or an argument of the head, or
an argument of a positive condition that does not depend on the head's relation.
Source: Genesereth et al., GDL specification (recursion restriction).
"""

from __future__ import annotations

from collections.abc import Iterator

from gdl.checks.graph import RelationGraph
from gdl.checks.places import part
from gdl.checks.subject import Subject
from gdl.clauses import Clause, Literal
from gdl.diagnostics import Diagnostic, Related, diagnostic
from gdl.rules import Rule
from gdl.terms import Compound, Constant, Term, signature, variables


def recursive_arguments(subject: Subject) -> Iterator[Diagnostic]:
    """Yield arguments of recursive conditions that nothing bounds, and those that are bounded in another way only."""
    for rule, clause in subject.alternatives.clauses:
        recursive: list[Literal] = []
        others: list[Literal] = []
        for literal in clause.literals:
            (recursive if _is_recursive(subject.graph, clause, literal) else others).append(literal)
        if recursive:
            yield from _breaking(rule, clause, recursive, [other for other in others if other.is_positive])


def _is_recursive(graph: RelationGraph, clause: Clause, literal: Literal) -> bool:
    return graph.is_recursive(signature(clause.head), signature(literal.atom))


def _breaking(rule: Rule, clause: Clause, recursive: list[Literal], others: list[Literal]) -> Iterator[Diagnostic]:
    allowed = {*_arguments(clause.head), *(term for other in others for term in _parts(other))}
    for literal in recursive:
        for number, argument in enumerate(_arguments(literal.atom), 1):
            if not argument.is_ground and argument not in allowed:
                is_finite = all(variable in allowed for variable in variables(argument))
                yield (_nested if is_finite else _growing)(rule, literal, number, argument)


def _arguments(atom: Constant | Compound) -> tuple[Term, ...]:
    return atom.arguments if isinstance(atom, Compound) else ()


def _parts(literal: Literal) -> Iterator[Term]:
    todo = list(_arguments(literal.atom))
    while todo:
        top = todo.pop()
        yield top
        if isinstance(top, Compound) and not top.is_ground:
            todo += top.arguments


def _growing(rule: Rule, literal: Literal, number: int, argument: Term) -> Diagnostic:
    head, name = signature(rule.head.term)[0], signature(literal.atom)[0]
    through = "" if head == name else f" through `{name}`"
    return diagnostic(
        "unbounded-recursion",
        part(literal.span or rule.span, number),
        f"`{head}` depends on itself{through}, and nothing limits {argument} here: it may grow without end",
        f"add a condition, not on `{name}`, that lists the values of {argument}, or take an argument of the head",
        [Related(rule.head.span, f"{argument} is no argument of this head")],
    )


def _nested(rule: Rule, literal: Literal, number: int, argument: Term) -> Diagnostic:
    name = signature(literal.atom)[0]
    return diagnostic(
        "recursion-over-new-term",
        part(literal.span or rule.span, number),
        f"{argument} is made for this recursive condition: no other condition has it as a whole",
        f"other systems may refuse this; let a condition that is not on `{name}` list the terms {argument}",
        [Related(rule.head.span, f"{argument} is no argument of this head either")],
    )
