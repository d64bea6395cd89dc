"""What may not depend on what: the first state on states, legal moves on moves, anything on its own negation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Final

from gdl.checks.graph import RelationGraph, Signature
from gdl.checks.subject import Subject
from gdl.clauses import Clause, Literal
from gdl.diagnostics import Diagnostic, Related, diagnostic
from gdl.source import Span
from gdl.strata import cycle_text, dependencies_of
from gdl.terms import signature
from gdl.unification import can_meet

_MOST_CHAINS: Final = 50
"""How many chains of dependency of one kind are told."""

_MOST_DEPENDENCIES: Final = 200_000
"""How many pairs of rules on cycles are looked at: a second's work."""

_WHEN_FIRST: Final = "it is settled before the first state, when nothing is `true` and nobody `does` anything"
_WHEN_STATE: Final = "it is settled before the roles choose their moves; ask `does` only for `next` and `sees`"

_FORBIDDEN: Final[dict[Signature, tuple[str, frozenset[str], str]]] = {
    ("init", 1): ("init-depends-on-state", frozenset({"true", "does"}), _WHEN_FIRST),
    ("base", 1): ("base-depends-on-state", frozenset({"true", "does"}), _WHEN_FIRST),
    ("input", 2): ("base-depends-on-state", frozenset({"true", "does"}), _WHEN_FIRST),
    ("legal", 2): ("legal-depends-on-move", frozenset({"does"}), _WHEN_STATE),
    ("goal", 2): ("goal-depends-on-move", frozenset({"does"}), _WHEN_STATE),
    ("terminal", 0): ("terminal-depends-on-move", frozenset({"does"}), _WHEN_STATE),
}
"""For every relation the code of the defect, the relations that it may not depend on, and why."""


def premature_questions(subject: Subject) -> Iterator[Diagnostic]:
    """Yield what is asked before there can be an answer (gdl.md, check 7), with the chain that leads there."""
    graph = subject.graph
    for relation, (code, forbidden, why) in _FORBIDDEN.items():
        needed = graph.needed_by(relation) if relation in graph.numbers else ()
        chains = (graph.chain(first, forbidden) for first in needed if first != relation)
        for chain in islice(filter(None, chains), _MOST_CHAINS):
            yield _too_early(graph, code, [relation, *chain], why)


def _too_early(graph: RelationGraph, code: str, chain: Sequence[Signature], why: str) -> Diagnostic:
    names = [name for name, _ in chain]
    first, *others = (graph.uses[pair][0].atom.span for pair in pairwise(chain))
    related = [Related(span, f"`{name}` asks it here") for span, name in zip(others, names[1:], strict=False)]
    through = "" if len(names) == 2 else f": {' <- '.join(names)}"
    return diagnostic(code, first, f"`{names[0]}` depends on `{names[-1]}`{through}", why, related)


def negative_cycles(subject: Subject) -> Iterator[Diagnostic]:
    """Yield cycles through a negation (gdl.md, check 10): errors, or warnings where the arguments keep atoms apart.

    Raises:
        LimitExceeded: too many rules of relations on such cycles depend on one another to tell which it is.
    """
    graph = subject.graph
    cycles = list(islice(graph.dependencies.negative_cycles(), _MOST_CHAINS))
    names = {graph.relations[number] for number in graph.dependencies.mutual_with(node for node, *_ in cycles)}
    clauses = [clause for _, clause in subject.alternatives.clauses if signature(clause.head) in names]
    told: set[int] = set()
    for error in _cycles_of_atoms(clauses):
        told |= {place.start for place in (error.span, *(related.span for related in error.related))}
        yield error
    for cycle in cycles:
        chain = [graph.relations[number] for number in cycle]
        first = next(use for use in graph.uses[chain[0], chain[1]] if use.is_negative)
        if first.atom.span.start not in told:
            yield _cycle_of_names(graph, chain, first.atom.span)


def _cycle_of_names(graph: RelationGraph, chain: Sequence[Signature], span: Span) -> Diagnostic:
    name, negated, *rest = (relation for relation, _ in chain)
    related = [
        Related(graph.uses[pair][0].atom.span, f"`{pair[0][0]}` needs `{pair[1][0]}` here")
        for pair in list(pairwise(chain))[1:]
    ]
    return diagnostic(
        "negative-cycle-of-names",
        span,
        f"`{name}` asks for the negation of `{name}`, if of other arguments"
        if name == negated
        else f"`{name}` and `{negated}` need each other through a negation, if with other arguments: "
        f"{' <- '.join([name, f'not {negated}', *rest])}",
        "other systems may refuse this; give the negated part a relation of its own",
        related,
    )


def _cycles_of_atoms(clauses: Sequence[Clause]) -> Iterator[Diagnostic]:
    told: set[frozenset[int]] = set()
    cycles = dependencies_of(clauses, _MOST_DEPENDENCIES).negative_cycles()
    for cycle in islice(cycles, _MOST_CHAINS):
        if frozenset(cycle) not in told:
            told.add(frozenset(cycle))
            yield _cycle_of_atoms(clauses, cycle)


def _cycle_of_atoms(clauses: Sequence[Clause], cycle: Sequence[int]) -> Diagnostic:
    text = cycle_text(clauses, cycle)
    first, *others = (_between(clauses[i], clauses[j], k == 0) for k, (i, j) in enumerate(pairwise(cycle)))
    related = [
        Related(literal.span, f"{clauses[i].head} needs {'' if literal.is_positive else 'not '}{literal.atom} here")
        for i, literal in zip(cycle[1:], others, strict=False)
        if literal.span is not None
    ]
    return diagnostic(
        "negative-cycle",
        first.span or clauses[cycle[0]].span,
        f"{text[0]} depends on its own negation: {' <- '.join(text)}",
        f"break the cycle: define {clauses[cycle[1]].head} without {text[0]}",
        related,
    )


def _between(user: Clause, needed: Clause, is_negative: bool) -> Literal:
    """Return the literal through which one clause needs another."""
    meeting = [literal for literal in user.literals if can_meet(literal.atom, needed.head)]
    return next((literal for literal in meeting if literal.is_positive != is_negative), meeting[0])
