"""What may not depend on what, and which recursion stays finite (checks 7, 10, 11)."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, islice, pairwise
from typing import Final

from gdl.checks.relation_graph import RelationGraph, Use
from gdl.checks.subject import Subject, parts
from gdl.checks.suggestions import also_here
from gdl.datalog.clauses import Clause, Literal, Part
from gdl.datalog.disjunctions import alternative, body_of, uncovered
from gdl.datalog.strata import dependencies_of
from gdl.datalog.translation import flat_clause
from gdl.diagnostics import Diagnostic, Related, Span, diagnostic
from gdl.language.syntax import Rule
from gdl.language.terms import Compound, Constant, Signature, Term, Variable, can_meet, signature, variables

_MOST_CHAINS: Final = 50
"""The most chains of dependency of one kind that are reported."""

_MOST_STEPS: Final = 10
"""How many steps of a cycle a message shows."""

_MOST_DEPENDENCIES: Final = 200_000
"""How many pairs of rules on cycles are looked at: a second's work."""

_STATE: Final = frozenset({"true", "does", "legal", "goal", "terminal"})
_MOVE: Final = frozenset({"does"})
_WHY_NO_STATE: Final = "{} is fixed before the game begins: use relations that are the same in every state"
_WHY_NO_MOVE: Final = "{} is fixed before any role moves: keep what was done in the state, with `next`, and ask `true`"

_FORBIDDEN: Final[dict[Signature, tuple[str, frozenset[str], str]]] = {
    ("init", 1): ("init-depends-on-state", _STATE, _WHY_NO_STATE.format("the first state")),
    ("base", 1): ("base-depends-on-state", _STATE, _WHY_NO_STATE.format("what can be true")),
    ("input", 2): ("base-depends-on-state", _STATE, _WHY_NO_STATE.format("what can be done")),
    ("legal", 2): ("legal-depends-on-move", _MOVE, _WHY_NO_MOVE.format("what is legal")),
    ("goal", 2): ("goal-depends-on-move", _MOVE, _WHY_NO_MOVE.format("a goal value")),
    ("terminal", 0): ("terminal-depends-on-move", _MOVE, _WHY_NO_MOVE.format("whether the game is over")),
}
"""For every relation the code of the defect, the relations that it may not depend on, and why."""

_MAY_NOT_ASK: Final = {relation: asked for relation, (_, asked, _) in _FORBIDDEN.items()}
_ONLY_DEFINED: Final = frozenset({"role", "init", "next", "base", "input"})
"""What has facts alone, or stands in no body: other checks report a rule or a question."""


def premature_questions(subject: Subject) -> Iterator[Diagnostic]:
    """Yield what is asked before there can be an answer (gdl.md, check 7), with the chain that leads there.

    A chain through a relation that is wrong in itself is not told once more for those that ask it.
    """
    graph = subject.graph
    for relation, (code, forbidden, why) in _FORBIDDEN.items():
        needed = graph.needed_by(relation) if relation in graph.numbers else ()
        starts = (first for first in needed if first != relation)
        chains = (way for way in graph.chains(starts, forbidden) if not _is_told(way))
        for way in islice(chains, _MOST_CHAINS):
            yield _too_early(graph, code, [relation, *way], why)


def _is_told(way: Sequence[Signature]) -> bool:
    """Return whether another diagnostic tells what is wrong with *way*, at a relation that it goes through."""
    *through, (asked, _) = way
    return any(name in _ONLY_DEFINED or asked in _MAY_NOT_ASK.get((name, arity), ()) for name, arity in through)


def _too_early(graph: RelationGraph, code: str, chain: Sequence[Signature], why: str) -> Diagnostic:
    names = [name for name, _ in chain]
    first, *others = (graph.uses[pair][0].atom.span for pair in pairwise(chain))
    related = [
        Related(span, f"`{name}` asks `{asked}`")
        for span, (name, asked) in islice(zip(others, pairwise(names[1:]), strict=True), _MOST_STEPS)
    ]
    asked = [f"`{name}`" for name in names[2:]]
    if len(asked) > _MOST_STEPS:
        asked[_MOST_STEPS // 2 : -_MOST_STEPS // 2] = ["others"]
    through = "".join(f", which asks {name}" for name in asked)
    message = f"`{names[0]}` may not depend on `{names[-1]}`"
    return diagnostic(code, first, f"{message}, but asks `{names[1]}`{through}" if through else message, why, related)


def negative_cycles(subject: Subject) -> Iterator[Diagnostic]:
    """Yield cycles through a negation (gdl.md, check 10): errors, or warnings where the arguments keep atoms apart.

    Raises:
        LimitExceeded: too many rules of relations on such cycles depend on one another to tell which it is.
    """
    graph = subject.graph
    cycles = list(islice(graph.dependencies.negative_cycles(), _MOST_CHAINS))
    names = {graph.relations[number] for number in graph.dependencies.mutual_with(node for node, *_ in cycles)}
    choices = (clause for _, clause in subject.alternatives.choices)
    clauses = [
        clause
        for clause in chain(choices, map(flat_clause, subject.alternatives.passing))
        if signature(clause.head) in names
    ]
    told: set[int] = set()
    wrong: set[frozenset[Signature]] = set()
    for chosen in _cycles_of_atoms(clauses):
        error = _cycle_of_atoms(chosen)
        told |= {place.start for place in (error.span, *(related.span for related in error.related))}
        wrong.add(frozenset(signature(clause.head) for clause in chosen))
        yield error
    for cycle in cycles:
        relations = [graph.relations[number] for number in cycle]
        first, *others = _steps(graph, relations)
        if first.atom.span.start not in told and frozenset(relations) not in wrong:
            told |= {use.atom.span.start for use in (first, *others)}
            yield _cycle_of_names(first, others)


def _steps(graph: RelationGraph, cycle: Sequence[Signature]) -> list[Use]:
    """Return one condition for each step of *cycle*, of which the first is negative."""
    first = next(use for use in graph.uses[cycle[0], cycle[1]] if use.is_negative)
    return [first, *(graph.uses[pair][0] for pair in islice(pairwise(cycle), 1, None))]


def _cycle_of_names(first: Use, others: Sequence[Use]) -> Diagnostic:
    name, negated = signature(first.rule.head.term)[0], signature(first.atom.term)[0]
    back = "" if name == negated else f", and `{negated}` on `{name}`"
    return diagnostic(
        "negative-cycle-of-names",
        first.atom.span,
        f"`{name}` depends on the negation of `{negated}`{back}: only the arguments keep this from being a cycle",
        f"other systems may refuse this: define the part of `{negated}` that is asked here as a relation of its own",
        [_related(use.rule.head.term, use.atom.term, use.is_negative, use.atom.span) for use in others],
    )


def _cycles_of_atoms(clauses: Sequence[Clause]) -> Iterator[list[Clause]]:
    told: set[frozenset[int]] = set()
    cycles = dependencies_of(clauses, _MOST_DEPENDENCIES).negative_cycles()
    for cycle in islice(cycles, _MOST_CHAINS):
        if frozenset(cycle) not in told:
            told.add(frozenset(cycle))
            yield [clauses[i] for i in cycle]


def _cycle_of_atoms(cycle: Sequence[Clause]) -> Diagnostic:
    steps = [_between(user, needed, k == 0) for k, (user, needed) in enumerate(pairwise(cycle))]
    needs = [f"needs {'' if literal.is_positive else 'not '}{literal.atom}" for literal in steps]
    if len(needs) > _MOST_STEPS:
        needs[_MOST_STEPS // 2 : -_MOST_STEPS // 2] = ["needs others"]
    related = [
        _related(user.head, literal.atom, not literal.is_positive, literal.span)
        for user, literal in zip(cycle[1:], steps[1:], strict=False)
        if literal.span is not None
    ]
    return diagnostic(
        "negative-cycle",
        steps[0].span or cycle[0].span,
        f"{cycle[0].head} depends on its own negation: it {', which '.join(needs)}",
        f"break the cycle: define {cycle[1].head} without asking for {steps[-1].atom}",
        related,
    )


def _related(user: Term, needed: Term, is_negative: bool, span: Span) -> Related:
    return Related(span, f"{user} needs {'not ' if is_negative else ''}{needed}")


def _between(user: Clause, needed: Clause, is_negative: bool) -> Literal:
    """Return the literal through which one clause needs another."""
    meeting = [literal for literal in user.literals if can_meet(literal.atom, needed.head)]
    return next((literal for literal in meeting if literal.is_positive != is_negative), meeting[0])


_MOST_CHOICES: Final = 50
"""The most choices of branches of one rule that are reported."""


def recursive_arguments(subject: Subject) -> Iterator[Diagnostic]:
    """Yield the arguments of recursive conditions that stand neither in the head nor in another condition."""
    for rule, clause in subject.alternatives.choices:
        yield from _of_clause(subject, rule, clause)
    for rule in subject.alternatives.passing:
        for clause in _unbounded_choices(subject, rule):
            yield from _of_clause(subject, rule, clause)


def _of_clause(subject: Subject, rule: Rule, clause: Clause) -> Iterator[Diagnostic]:
    recursive: list[Literal] = []
    allowed = set(_arguments(clause.head))
    for literal in clause.literals:
        if subject.graph.is_recursive(signature(clause.head), signature(literal.atom)):
            recursive.append(literal)
        elif literal.is_positive:
            allowed.update(_arguments(literal.atom))
    inside = {variable for argument in allowed for variable in variables(argument)}
    found: dict[Term, list[tuple[Literal, Span]]] = defaultdict(list)
    for literal in recursive:
        arguments = enumerate(_arguments(literal.atom), 1)
        unbounded = [(i, argument) for i, argument in arguments if not argument.is_ground and argument not in allowed]
        whole = literal.span or rule.span
        places = parts(whole) if unbounded else ()
        for i, argument in unbounded:
            found[argument].append((literal, places[i] if i < len(places) else whole))
    for argument, uses_of_it in found.items():
        yield _unbounded(rule, uses_of_it, argument, inside)


def _unbounded_choices(subject: Subject, rule: Rule) -> Iterator[Clause]:
    """Yield choices of branches of *rule*, which has too many for all to be looked at, that leave an argument open."""
    head = signature(rule.head.term)

    def is_recursive(part: Part) -> bool:
        return isinstance(part, Literal) and subject.graph.is_recursive(head, signature(part.atom))

    def allows(part: Part) -> tuple[Term, ...]:
        if not isinstance(part, Literal) or not part.is_positive or is_recursive(part):
            return ()
        return _arguments(part.atom)

    def needs(part: Part) -> Iterator[Term]:
        arguments = _arguments(part.atom) if isinstance(part, Literal) and is_recursive(part) else ()
        return (argument for argument in arguments if not argument.is_ground)

    body = body_of(rule)
    for part, need in islice(uncovered(body, allows, needs, _arguments(rule.head.term)), _MOST_CHOICES):
        parts = alternative(body, allows, need, part)
        if parts is not None:
            literals = tuple(one for one in parts if isinstance(one, Literal))
            yield Clause(rule.head.term, literals, (), rule.span)


def _arguments(atom: Constant | Compound) -> tuple[Term, ...]:
    return atom.arguments if isinstance(atom, Compound) else ()


def _unbounded(rule: Rule, places: Sequence[tuple[Literal, Span]], argument: Term, inside: set[Variable]) -> Diagnostic:
    literal, place = places[0]
    head, name = signature(rule.head.term)[0], signature(literal.atom)[0]
    through = "" if head == name else f" by way of `{name}`"
    where = "the head or of another condition"
    also = "; that it stands inside an argument is not enough" if argument in inside else ""
    related = Related(rule.head.span, f"the head, of which {argument} is no argument")
    return diagnostic(
        "unbounded-recursion",
        place,
        f"`{head}` depends on itself{through}, and {argument} is no argument of {where}: terms might grow without end",
        f"add a condition, not on `{name}`, that lists the values of {argument}{also}",
        [related, *also_here(str(argument), [span for _, span in places])],
    )


def rules_too_large(subject: Subject) -> Iterator[Diagnostic]:
    """Yield the rules that no engine takes, for their size."""
    for rule, error in subject.alternatives.refused:
        message = f"this rule is too large to be run: more than {error.limit:,} {error.what}"
        hint = "define the branches of `or` as relations of their own; let terms nest less"
        yield diagnostic("rule-too-large", rule.span, message, hint)
