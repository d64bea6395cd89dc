"""Rules to clauses: `or` and `and` become separate clauses, `not` is pushed inwards, equal literals are merged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Final, TypeAlias

from gdl.datalog.unification import Substitution, substitute, unify
from gdl.errors import LimitExceeded
from gdl.rules import And, Atom, Condition, Distinct, Not, Or, Rule
from gdl.source import Span
from gdl.terms import Compound, Constant, Term, Variable, variables

MAX_ALTERNATIVES: Final = 10_000
"""Into how many clauses one rule may fall apart."""
MAX_CLAUSES: Final = 200_000
"""How many clauses more than rules there may be."""
MAX_PARTS: Final = 2_000
"""How many conditions one clause may have."""


@dataclass(frozen=True, slots=True)
class Literal:
    """An atom that must, or must not, hold; `span` is where the rule file has it, if it does."""

    atom: Constant | Compound
    is_positive: bool
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Difference:
    """Two terms that must differ; where `is_equal`, that must be the same (from `distinct` under `not`)."""

    left: Term
    right: Term
    is_equal: bool = False
    span: Span | None = field(default=None, compare=False)


Part: TypeAlias = Literal | Difference


@dataclass(frozen=True, slots=True)
class Clause:
    """A head that holds where all literals hold and all pairs differ; `span` is the rule that it came from."""

    head: Constant | Compound
    literals: tuple[Literal, ...]
    differences: tuple[Difference, ...]
    span: Span = field(compare=False)

    @property
    def positive(self) -> tuple[Constant | Compound, ...]:
        """The atoms that must hold."""
        return tuple(literal.atom for literal in self.literals if literal.is_positive)

    @property
    def negative(self) -> tuple[Constant | Compound, ...]:
        """The atoms that must not hold."""
        return tuple(literal.atom for literal in self.literals if not literal.is_positive)

    def __str__(self) -> str:
        body = [str(atom) for atom in self.positive] + [f"(not {atom})" for atom in self.negative]
        body += [f"(distinct {pair.left} {pair.right})" for pair in self.differences]
        return f"(<= {self.head} {' '.join(body)})" if body else str(self.head)


def clauses_of(rules: Iterable[Rule]) -> tuple[Clause, ...]:
    """Return the clauses of *rules*, each once, in order.

    Raises:
        LimitExceeded: a rule falls into more than MAX_ALTERNATIVES clauses, or has more than MAX_PARTS conditions;
            or the rules fall into MAX_CLAUSES more than there are rules.
    """
    found: dict[Clause, None] = {}
    n_alternatives = 0
    for number, rule in enumerate(rules):
        n_alternatives += count_alternatives(rule)
        if n_alternatives > number + MAX_CLAUSES:
            raise LimitExceeded("alternatives in all rules", MAX_CLAUSES)
        found |= dict.fromkeys(_clauses(rule))
    return tuple(found)


def count_alternatives(rule: Rule) -> int:
    """Return into how many clauses *rule* falls apart, those counted that can never hold and those that are equal."""
    return _count(And(rule.body, rule.span), is_positive=True)


def _count(condition: Condition, *, is_positive: bool) -> int:
    match condition:
        case Not(inner):
            return _count(inner, is_positive=not is_positive)
        case And(parts) | Or(parts):
            counts = [_count(part, is_positive=is_positive) for part in parts]
            return prod(counts) if isinstance(condition, And) == is_positive else sum(counts)
    return 1


def _clauses(rule: Rule) -> Iterator[Clause]:
    if not rule.body:
        yield Clause(rule.head.term, (), (), rule.span)
        return
    for parts in _alternatives(And(rule.body, rule.span), is_positive=True):
        clause = _clause(rule, parts)
        if clause is not None:
            yield clause


def _alternatives(condition: Condition, *, is_positive: bool) -> list[tuple[Part, ...]]:
    """Return conjunctions of which one must hold for *condition* to hold (or not to hold)."""
    match condition:
        case Atom(term, span):
            return [(Literal(term, is_positive, span),)]
        case Distinct(left, right, span):
            return [(Difference(left, right, not is_positive, span),)]
        case Not(inner):
            return _alternatives(inner, is_positive=not is_positive)
        case And(parts) | Or(parts):
            branches = [_alternatives(part, is_positive=is_positive) for part in parts]
            if isinstance(condition, And) == is_positive:
                return _all_of(branches)
            _check_alternatives(sum(map(len, branches)))
            return [alternative for branch in branches for alternative in branch]


def _all_of(branches: list[list[tuple[Part, ...]]]) -> list[tuple[Part, ...]]:
    found: list[tuple[Part, ...]] = [()]
    for branch in branches:
        _check_alternatives(len(found) * len(branch))
        found = [first + then for first, then in product(found, branch)]
        if max(map(len, found), default=0) > MAX_PARTS:
            raise LimitExceeded("conditions in one rule", MAX_PARTS)
    return found


def _check_alternatives(n_alternatives: int) -> None:
    if n_alternatives > MAX_ALTERNATIVES:
        raise LimitExceeded("alternatives in one rule", MAX_ALTERNATIVES)


def _clause(rule: Rule, parts: tuple[Part, ...]) -> Clause | None:
    """Return the clause for one alternative; None where it can never hold."""
    bound: Substitution | None = {}
    for part in parts:
        if isinstance(part, Difference) and part.is_equal and bound is not None:
            bound = unify(part.left, part.right, bound)
    if bound is None:
        return None
    literals = tuple(
        dict.fromkeys(_bound_literal(part, bound) for part in parts if isinstance(part, Literal)),
    )
    pairs = [_bound_pair(part, bound) for part in parts if isinstance(part, Difference) and not part.is_equal]
    if any(pair.left is pair.right for pair in pairs):
        return None
    differences = tuple(dict.fromkeys(pair for pair in pairs if _is_open(pair)))
    return Clause(_atom(rule.head.term, bound), literals, differences, rule.span)


def _is_open(pair: Difference) -> bool:
    return bool(variables(pair.left) or variables(pair.right))


def _bound_literal(literal: Literal, bound: Substitution) -> Literal:
    return Literal(_atom(literal.atom, bound), literal.is_positive, literal.span)


def _bound_pair(pair: Difference, bound: Substitution) -> Difference:
    return Difference(substitute(pair.left, bound), substitute(pair.right, bound), span=pair.span)


def _atom(atom: Constant | Compound, bound: Substitution) -> Constant | Compound:
    found = substitute(atom, bound)
    assert not isinstance(found, Variable)
    return found
