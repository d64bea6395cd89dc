"""Rules to clauses: `or` and `and` become separate clauses, `not` is pushed inwards; and which clauses are safe."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, product
from typing import Final

from gdl.datalog import disjunctions
from gdl.datalog.clauses import Clause, Difference, Literal, Part
from gdl.diagnostics import Span
from gdl.errors import LimitExceeded, UnsafeRuleError
from gdl.language.syntax import Rule
from gdl.language.terms import (
    MAX_PATTERN_DEPTH,
    Compound,
    Constant,
    Substitution,
    Term,
    Variable,
    substitute,
    unify,
    variables,
)

MAX_WRITTEN_OUT: Final = 64
"""Into how many clauses a rule is written out before its `or`s get relations of their own."""
MAX_ALTERNATIVES: Final = 1_000
"""Into how many clauses one rule may fall apart where relations of their own do not help."""
MAX_CLAUSES: Final = 200_000
"""How many clauses more than rules there may be."""
MAX_PARTS: Final = 2_000
"""How many conditions one clause may have."""
_MAX_SHOWN: Final = 20
"""How many clauses show what is unsafe in a rule that is not written out."""


def clauses_of(rules: Iterable[Rule]) -> tuple[Clause, ...]:
    """Return the clauses of *rules*, each once, in order.

    A rule with many `or`s falls into clauses that pass bindings from one to the next (`gdl.datalog.disjunctions`).
    Where such a rule is not safe, it falls into some of those that show it.

    Raises:
        LimitExceeded: a rule falls into more than MAX_ALTERNATIVES clauses, or has more than MAX_PARTS conditions;
            or the rules fall into MAX_CLAUSES more than there are rules.
    """
    found: dict[Clause, None] = {}
    n_alternatives = 0
    for number, rule in enumerate(rules, 1):
        own = _clauses(rule)
        n_alternatives += len(own)
        if n_alternatives > number + MAX_CLAUSES:
            raise LimitExceeded("alternatives in all rules", MAX_CLAUSES)
        found |= dict.fromkeys(own)
    return tuple(found)


def is_written_out(rule: Rule) -> bool:
    """Return whether there is a clause for every choice of branches in the `or`s of *rule*."""
    return _count(disjunctions.body_of(rule)) <= MAX_WRITTEN_OUT


def _count(node: disjunctions.Node) -> int:
    """Return how many choices of branches there are, or some number above MAX_WRITTEN_OUT."""
    match node:
        case disjunctions.AllOf(nodes):
            n_choices = 1
            for inner in nodes:
                n_choices = min(n_choices * _count(inner), MAX_WRITTEN_OUT + 1)
            return n_choices
        case disjunctions.AnyOf(nodes):
            return min(sum(map(_count, nodes)), MAX_WRITTEN_OUT + 1)
    return 1


def _clauses(rule: Rule) -> list[Clause]:
    body = disjunctions.body_of(rule)
    has_equation = any(isinstance(part, Difference) and part.is_equal for part in disjunctions.parts_of(body))
    if has_equation or _count(body) <= MAX_WRITTEN_OUT:
        return _written_out(rule, body)
    unsafe = islice(disjunctions.uncovered(body, disjunctions.bindings, _needed, ()), _MAX_SHOWN)
    choices = [disjunctions.alternative(body, disjunctions.bindings, need, part) for part, need in unsafe]
    given = disjunctions.given_by(body, disjunctions.bindings)
    unbound = [need for need in variables(rule.head.term) if need not in given]
    choices += [disjunctions.alternative(body, disjunctions.bindings, need, None) for need in unbound[:_MAX_SHOWN]]
    shown = [_clause(rule.head.term, choice, rule.span) for choice in choices if choice is not None]
    return [clause for clause in shown if clause is not None] or _passing(rule, body)


def _needed(part: Part) -> tuple[Variable, ...]:
    """Return the variables of *part* that other parts must give a value."""
    if isinstance(part, Literal):
        return () if part.is_positive else variables(part.atom)
    return variables(part.left) + variables(part.right)


def _passing(rule: Rule, body: disjunctions.AllOf) -> list[Clause]:
    try:
        steps = disjunctions.passed_on(rule)
    except disjunctions.CannotPass:
        return _written_out(rule, body)
    for _, parts in steps:
        _check_parts(len(parts))
    found = (_clause(head, parts, rule.span) for head, parts in steps)
    return [clause for clause in found if clause is not None]


def flat_clause(rule: Rule) -> Clause:
    """Return a clause that needs whatever some choice of branches in *rule* needs, though it has another meaning."""
    literals = tuple(part for part in disjunctions.parts_of(disjunctions.body_of(rule)) if isinstance(part, Literal))
    return Clause(rule.head.term, literals, (), rule.span)


def _written_out(rule: Rule, body: disjunctions.AllOf) -> list[Clause]:
    found = (_clause(rule.head.term, parts, rule.span) for parts in _alternatives(body))
    return [clause for clause in found if clause is not None]


def _alternatives(node: disjunctions.Node) -> list[tuple[Part, ...]]:
    """Return conjunctions of which one must hold for *node* to hold."""
    match node:
        case disjunctions.AllOf(nodes):
            return _all_of([_alternatives(inner) for inner in nodes])
        case disjunctions.AnyOf(nodes):
            branches = [_alternatives(inner) for inner in nodes]
            _check_alternatives(sum(map(len, branches)))
            return [parts for branch in branches for parts in branch]
    return [(node,)]


def _all_of(branches: list[list[tuple[Part, ...]]]) -> list[tuple[Part, ...]]:
    found: list[list[Part]] = [[]]
    for branch in branches:
        _check_alternatives(len(found) * len(branch))
        if len(branch) == 1:
            for parts in found:
                parts.extend(branch[0])
        else:
            found = [[*first, *then] for first, then in product(found, branch)]
        _check_parts(max(map(len, found), default=0))
    return [tuple(parts) for parts in found]


def _check_parts(n_parts: int) -> None:
    if n_parts > MAX_PARTS:
        raise LimitExceeded("conditions in one rule", MAX_PARTS)


def _check_alternatives(n_alternatives: int) -> None:
    if n_alternatives > MAX_ALTERNATIVES:
        raise LimitExceeded("alternatives in one rule", MAX_ALTERNATIVES)


def _clause(head: Constant | Compound, parts: tuple[Part, ...], span: Span) -> Clause | None:
    """Return the clause for *head* where *parts* hold together; None where they never do."""
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
    return Clause(_atom(head, bound), literals, differences, span)


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
