"""Whether two terms can become equal, and what their variables are then.

Variables of the two terms must have different names where they are meant to be different: see `apart`.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from gdl.errors import LimitExceeded
from gdl.terms import Compound, Term, Variable

Substitution: TypeAlias = dict[Variable, Term]

MAX_PATTERN_DEPTH: Final = 100
"""How deep a term with variables may nest in a rule."""

_APART: Final = " apart"
"""Ends the names of variables of another rule: no token holds a blank, so no rule has such a name."""


def walk(term: Term, bound: Substitution) -> Term:
    """Return what *term* stands for under *bound*, at its outermost level."""
    while isinstance(term, Variable) and term in bound:
        term = bound[term]
    return term


def unify(left: Term, right: Term, bound: Substitution | None = None) -> Substitution | None:
    """Return the most general substitution over *bound* that makes the terms equal, or None.

    Source: Robinson 1965, with the occurs check.
    """
    found = dict(bound or {})
    todo = [(left, right)]
    seen: set[tuple[Term, Term]] = set()  # terms share parts: what was met once need not be opened again
    while todo:
        a, b = todo.pop()
        a, b = walk(a, found), walk(b, found)
        if a is b or (a, b) in seen:
            continue
        seen.add((a, b))
        if isinstance(b, Variable):
            a, b = b, a
        if isinstance(a, Variable):
            if _occurs(a, b, found):
                return None
            found[a] = b
        elif isinstance(a, Compound) and isinstance(b, Compound) and _is_same_functor(a, b):
            todo += zip(a.arguments, b.arguments, strict=True)
        else:
            return None
    return found


def _is_same_functor(a: Compound, b: Compound) -> bool:
    return a.functor == b.functor and len(a.arguments) == len(b.arguments)


def _occurs(variable: Variable, term: Term, bound: Substitution) -> bool:
    todo, seen = [term], set()
    while todo:
        top = walk(todo.pop(), bound)
        if top is variable:
            return True
        if isinstance(top, Compound) and not top.is_ground and top not in seen:
            seen.add(top)
            todo += top.arguments
    return False


def substitute(term: Term, bound: Substitution) -> Term:
    """Return *term* with its variables replaced as *bound* says, all the way down.

    Raises:
        LimitExceeded: the result nests deeper than MAX_PATTERN_DEPTH.
    """
    return _substituted(term, bound, {}, 0) if bound else term


def _substituted(term: Term, bound: Substitution, done: dict[Term, Term], depth: int) -> Term:
    top = walk(term, bound)
    if not isinstance(top, Compound) or top.is_ground:
        return top
    if depth >= MAX_PATTERN_DEPTH:
        raise LimitExceeded("levels of nesting in a term with variables", MAX_PATTERN_DEPTH)
    if top not in done:
        arguments = [_substituted(argument, bound, done, depth + 1) for argument in top.arguments]
        done[top] = Compound(top.functor, tuple(arguments))
    return done[top]


def apart(term: Term) -> Term:
    """Return *term* with other variables, so that it can meet terms of another rule."""
    if term.is_ground:
        return term
    if isinstance(term, Variable):
        return Variable(f"{term.name}{_APART}")
    assert isinstance(term, Compound)
    return Compound(term.functor, tuple(apart(argument) for argument in term.arguments))


def can_meet(left: Term, right: Term) -> bool:
    """Return whether the terms, taken from different rules, have a common instance."""
    return unify(left, apart(right)) is not None
