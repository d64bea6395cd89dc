"""What rule files are made of: the keywords, and facts and rules with their conditions, each with its place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeAlias

from gdl.diagnostics import Span
from gdl.language.terms import Compound, Constant, Term

ARITIES: Final = {
    "role": 1, "init": 1, "true": 1, "next": 1, "does": 2, "legal": 2, "goal": 2, "terminal": 0, "base": 1, "input": 2,
}  # fmt: skip
"""The relations that GDL-I gives a meaning, with their numbers of arguments."""

GDL2_ARITIES: Final = {"sees": 2}
"""What GDL-II adds to them."""

USAGE: Final = {
    "role": "(role name)", "init": "(init fluent)", "true": "(true fluent)", "next": "(next fluent)",
    "base": "(base fluent)", "does": "(does role move)", "legal": "(legal role move)", "input": "(input role move)",
    "goal": "(goal role points)", "sees": "(sees role percept)", "terminal": "terminal",
    "distinct": "(distinct term term)", "not": "(not condition)",
}  # fmt: skip
"""How the keywords that have a fixed number of arguments are written."""

CONNECTIVES: Final = frozenset({"<=", "not", "and", "or", "distinct"})
KEYWORDS: Final = frozenset(ARITIES) | CONNECTIVES
GDL2_KEYWORDS: Final = frozenset({"sees", "random"})


@dataclass(frozen=True, slots=True)
class Atom:
    """A relation over terms: `(true (cell ?x ?y b))`, or a proposition."""

    term: Constant | Compound
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Distinct:
    """Two terms that must not be equal."""

    left: Term
    right: Term
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    """A condition that must not hold."""

    inner: Condition
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class And:
    """Conditions that must all hold."""

    parts: tuple[Condition, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Or:
    """Conditions of which one must hold."""

    parts: tuple[Condition, ...]
    span: Span = field(compare=False)


Condition: TypeAlias = Atom | Distinct | Not | And | Or


@dataclass(frozen=True, slots=True)
class Rule:
    """`head` holds where all of `body` holds; a fact has an empty body."""

    head: Atom
    body: tuple[Condition, ...]
    span: Span = field(compare=False)
