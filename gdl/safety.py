"""Whether every variable of a clause is bound: what is not safe has no finite meaning.

Source: gdl.md check 8; Genesereth et al., GDL specification, section 3 (safety).
"""

from __future__ import annotations

from collections.abc import Iterable

from gdl.clauses import Clause
from gdl.errors import LimitExceeded, UnsafeRuleError
from gdl.terms import Term, Variable, variables
from gdl.unification import MAX_PATTERN_DEPTH


def check_safety(clauses: Iterable[Clause]) -> None:
    """Accept clauses whose variables all occur in a positive literal of the body.

    Raises:
        UnsafeRuleError: names the rule, the variable and where it is left open.
        LimitExceeded: a term with variables nests deeper than MAX_PATTERN_DEPTH.
    """
    for clause in clauses:
        compared = [term for pair in clause.differences for term in (pair.left, pair.right)]
        _check_depth([clause.head, *clause.positive, *clause.negative, *compared])
        bound = {variable for atom in clause.positive for variable in variables(atom)}
        _check_bound(clause, [clause.head], bound, "the head")
        _check_bound(clause, clause.negative, bound, "a negated condition")
        _check_bound(clause, compared, bound, "`distinct`")


def _check_bound(clause: Clause, terms: Iterable[Term], bound: set[Variable], where: str) -> None:
    for term in terms:
        for variable in variables(term):
            if variable not in bound:
                raise UnsafeRuleError(
                    f"the variable {variable} of {where} {term} is bound by no positive condition of the rule",
                    clause.span,
                    f"add a condition such as (role {variable}) or (index {variable}) that lists its values",
                )


def _check_depth(terms: Iterable[Term]) -> None:
    if any(not term.is_ground and term.depth > MAX_PATTERN_DEPTH for term in terms):
        raise LimitExceeded("levels of nesting in a term with variables", MAX_PATTERN_DEPTH)
