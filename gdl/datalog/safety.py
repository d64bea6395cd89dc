"""Whether every variable of a clause is bound: what is not safe has no finite meaning.

Source: gdl.md check 8; Genesereth et al., GDL specification, section 3 (safety).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gdl.datalog.clauses import Clause
from gdl.datalog.unification import MAX_PATTERN_DEPTH
from gdl.errors import LimitExceeded, UnsafeRuleError
from gdl.source import Span
from gdl.terms import Term, Variable, variables


@dataclass(frozen=True, slots=True)
class Unbound:
    """A variable that no positive condition binds; `where` and `term` are what needs it, at `span` if that is known."""

    variable: Variable
    where: str
    term: Term
    span: Span | None


def check_safety(clauses: Iterable[Clause]) -> None:
    """Accept clauses whose variables all occur in a positive literal of the body.

    Raises:
        UnsafeRuleError: names the rule, the variable and where it is left open.
        LimitExceeded: a term with variables nests deeper than MAX_PATTERN_DEPTH.
    """
    for clause in clauses:
        check_depth(clause)
        for found in unbound_variables(clause):
            raise UnsafeRuleError(
                f"the variable {found.variable} of {found.where} {found.term} is bound by no positive condition "
                "of the rule",
                clause.span,
                f"add a condition such as (role {found.variable}) or (index {found.variable}) that lists its values",
            )


def unbound_variables(clause: Clause) -> Iterator[Unbound]:
    """Yield the variables of the head, of negated literals and of `distinct` that no positive literal binds."""
    bound = {variable for atom in clause.positive for variable in variables(atom)}
    for where, term, span in _needing(clause):
        for variable in variables(term):
            if variable not in bound:
                yield Unbound(variable, where, term, span)


def _needing(clause: Clause) -> Iterator[tuple[str, Term, Span | None]]:
    yield "the head", clause.head, None
    for literal in clause.literals:
        if not literal.is_positive:
            yield "a negated condition", literal.atom, literal.span
    for pair in clause.differences:
        yield "`distinct`", pair.left, pair.span
        yield "`distinct`", pair.right, pair.span


def check_depth(clause: Clause) -> None:
    """Raise LimitExceeded when a term with variables nests deeper than MAX_PATTERN_DEPTH."""
    terms = (
        clause.head,
        *clause.positive,
        *clause.negative,
        *(x for d in clause.differences for x in (d.left, d.right)),
    )
    if any(not term.is_ground and term.depth > MAX_PATTERN_DEPTH for term in terms):
        raise LimitExceeded("levels of nesting in a term with variables", MAX_PATTERN_DEPTH)
