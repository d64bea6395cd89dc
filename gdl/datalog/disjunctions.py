"""Rules with many `or`s as few clauses: a relation of its own for what holds up to each `or`.

Written out, a rule has a clause for every way to choose one branch of each `or`: forty of two branches have 10^12.
Here the bindings that the body has so far are passed from one `or` to the next by a relation that is made for that
(a supplementary relation, whose name holds a blank), so that the clauses are as long together as the rule.

Source: Beeri, Ramakrishnan 1991 (supplementary relations); Nonnengart, Weidenbach 2001 (renaming of subformulas).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Final, TypeAlias

from gdl.datalog.clauses import Difference, Literal, Part
from gdl.errors import LimitExceeded
from gdl.language.syntax import And, Atom, Condition, Distinct, Not, Or, Rule
from gdl.language.terms import Compound, Constant, Term, Variable, signature, variables

Head: TypeAlias = Constant | Compound
Gives: TypeAlias = Callable[[Part], Iterable[Hashable]]
Step: TypeAlias = tuple[Head, tuple[Part, ...]]
"""The head of a clause, and what its body is made of."""

MAX_CARRIED: Final = 500_000
"""How many arguments the relations that are made for one rule may have, all together."""
_PASSED: Final = " passes "


@dataclass(frozen=True, eq=False)
class _Several:
    nodes: tuple[Node, ...]

    @cached_property
    def variables(self) -> frozenset[Variable]:
        """The variables that occur in them."""
        return frozenset(chain.from_iterable(map(variables_of, self.nodes)))


class AllOf(_Several):
    """Conditions that must hold together."""


class AnyOf(_Several):
    """Conditions of which one must hold."""


Node: TypeAlias = Literal | Difference | AllOf | AnyOf


def variables_of(node: Node) -> Iterable[Variable]:
    """Return the variables that occur in *node*."""
    match node:
        case Literal(atom):
            return variables(atom)
        case Difference(left, right):
            return variables(left) + variables(right)
    return node.variables


def body_of(rule: Rule) -> AllOf:
    """Return the body of *rule* with every `not` pushed inwards; `and` in `and` and `or` in `or` are one.

    Branches that can never hold, for a `distinct` of equal terms, are left out.
    """
    found = _possible(AllOf(tuple(_flat(rule.body, is_positive=True, kind=And))))
    return found if isinstance(found, AllOf) else AllOf((AnyOf(()),))


def _possible(node: Node) -> Node | None:
    """Return *node* without branches that can never hold; None where there are no others."""
    match node:
        case Difference(left, right):
            return None if left is right and not node.is_equal else node
        case AllOf(nodes):
            inner = tuple(map(_possible, nodes))
            return None if None in inner else AllOf(tuple(one for one in inner if one is not None))
        case AnyOf(nodes):
            branches = tuple(one for one in map(_possible, nodes) if one is not None)
            return AnyOf(branches) if branches else None
    return node


def _flat(parts: Iterable[Condition], *, is_positive: bool, kind: type[And | Or]) -> Iterator[Node]:
    """Yield *parts*, or their negations, as nodes; those that are of *kind* themselves part by part."""
    for part in parts:
        match part:
            case Atom(term, span):
                yield Literal(term, is_positive, span)
            case Distinct(left, right, span):
                yield Difference(left, right, not is_positive, span)
            case Not(inner):
                yield from _flat((inner,), is_positive=not is_positive, kind=kind)
            case And(inner) | Or(inner):
                own: type[And | Or] = And if isinstance(part, And) == is_positive else Or
                if own is kind or len(inner) == 1:
                    yield from _flat(inner, is_positive=is_positive, kind=kind)
                else:
                    nodes = tuple(_flat(inner, is_positive=is_positive, kind=own))
                    yield AllOf(nodes) if own is And else AnyOf(nodes)


class CannotPass(Exception):  # noqa: N818 -- no error: the rule is then written out
    """A variable has a value after some branches of an `or` and none after others, so that none can be passed on."""


def passed_on(rule: Rule) -> list[Step]:
    """Return the clauses for *rule* that pass bindings from one `or` to the next.

    Raises:
        CannotPass: what one `or` binds hangs on the branch.
        LimitExceeded: too much would be passed on.
    """
    work = _Passing(rule)
    work.write(None, body_of(rule).nodes, rule.head.term)
    return work.steps


def is_passing(atom: Term) -> bool:
    """Return whether *atom* is of a relation that `passed_on` has made."""
    return _PASSED in signature(atom)[0]


def own_name(atom: Term) -> str:
    """Return *atom* as text; for a relation that `passed_on` has made, the name of the rule that it was made for."""
    return signature(atom)[0].partition(_PASSED)[0] if is_passing(atom) else str(atom)


@dataclass
class _Passing:
    rule: Rule
    steps: list[Step] = field(default_factory=list)
    _n_carried: int = 0
    _n_made: int = 0

    def write(self, before: Literal | None, nodes: Sequence[Node], head: Head) -> None:
        """Add the clauses by which *head* holds where *before* and all *nodes* do."""
        ors = [node for node in nodes if isinstance(node, AnyOf)]
        parts = [part for node in nodes if not isinstance(node, AnyOf) for part in _parts(node)]
        if not ors:
            self.steps.append((head, (*_given(before), *parts)))
            return
        known = {variable for part in (*_given(before), *parts) for variable in _bound_by(part)}
        first = [part for part in parts if known.issuperset(variables_of(part))]
        last = [part for part in parts if not known.issuperset(variables_of(part))]
        left = Counter(chain.from_iterable(map(frozenset, map(variables_of, (*ors, *last)))))
        left.update(frozenset(variables(head)))
        if first:
            before = self._made((*_given(before), *first), known, left)
        for choice in _in_order(ors, known, left):
            left.subtract(choice.variables)
            after = self._passing(known | _bound_by(choice), left)
            for branch in choice.nodes:
                self.write(before, branch.nodes if isinstance(branch, AllOf) else (branch,), after.atom)
            before, known = after, set(variables(after.atom))
        self.steps.append((head, (*_given(before), *last)))

    def _made(self, parts: tuple[Part, ...], known: set[Variable], left: Counter[Variable]) -> Literal:
        """Return a literal that holds where *parts* do."""
        if len(parts) == 1 and isinstance(parts[0], Literal) and parts[0].is_positive:
            return parts[0]
        found = self._passing(known, left)
        self.steps.append((found.atom, parts))
        return found

    def _passing(self, known: Iterable[Variable], left: Counter[Variable]) -> Literal:
        """Return an atom of a new relation that has the variables that are known and asked for later."""
        carried = tuple(sorted((variable for variable in known if left[variable] > 0), key=str))
        self._n_carried += len(carried)
        if self._n_carried > MAX_CARRIED:
            raise LimitExceeded("variables passed from one `or` of a rule to the next", MAX_CARRIED)
        self._n_made += 1
        name = f"{signature(self.rule.head.term)[0]}{_PASSED}{self.rule.span.start}.{self._n_made}"
        return Literal(Compound(name, carried) if carried else Constant(name), is_positive=True)


def _given(before: Literal | None) -> tuple[Literal, ...]:
    return () if before is None else (before,)


def _parts(node: Node) -> Iterator[Part]:
    if isinstance(node, Literal | Difference):
        yield node


def _bound_by(node: Node) -> frozenset[Variable]:
    """Return the variables that have a value where *node* holds, whichever branches hold."""
    return frozenset(given_by(node, bindings))  # type: ignore[arg-type]  # bindings gives variables


def bindings(part: Part) -> tuple[Variable, ...]:
    """Return the variables to which *part* gives a value."""
    return variables(part.atom) if isinstance(part, Literal) and part.is_positive else ()


def given_by(node: Node, gives: Gives) -> set[Hashable]:
    """Return what *node* gives whichever branches hold, where *gives* says it of its parts."""
    match node:
        case AllOf(nodes):
            return set().union(*(given_by(inner, gives) for inner in nodes))
        case AnyOf(nodes):
            found = [given_by(inner, gives) for inner in nodes]
            return set.intersection(*found) if found else set()
    return set(gives(node))


def _in_order(ors: Sequence[AnyOf], known: Iterable[Variable], left: Counter[Variable]) -> Iterator[AnyOf]:
    """Yield *ors*, each when all its variables are known that matter outside of it, or that it binds itself.

    Raises:
        CannotPass: there is no such order.
    """
    known = set(known)
    missing: list[set[Variable]] = []
    waiting: dict[Variable, list[int]] = defaultdict(list)
    for number, one in enumerate(ors):
        shared = (variable for variable in one.variables if left[variable] > 1)
        missing.append({*shared} - known - _bound_by(one))
        for variable in missing[-1]:
            waiting[variable].append(number)
    ready = [number for number, variables_missing in enumerate(missing) if not variables_missing]
    for number in ready:
        yield ors[number]
        for variable in _bound_by(ors[number]) - known:
            known.add(variable)
            for other in waiting[variable]:
                missing[other].discard(variable)
                if not missing[other]:
                    ready.append(other)
    if len(ready) < len(ors):
        raise CannotPass


def uncovered(body: AllOf, gives: Gives, needs: Gives, always: Iterable[Hashable]) -> Iterator[tuple[Part, Hashable]]:
    """Yield the parts of *body*, each with what it needs that some choice of branches does not give.

    *gives* and *needs* say it of a part; *always* is given by whatever is chosen.
    """
    yield from _uncovered(body, gives, needs, Counter(always))


def _uncovered(node: Node, gives: Gives, needs: Gives, given: Counter[Hashable]) -> Iterator[tuple[Part, Hashable]]:
    match node:
        case AllOf(nodes):
            own = [given_by(inner, gives) for inner in nodes]
            for one in own:
                given.update(one)
            for inner, one in zip(nodes, own, strict=True):
                given.subtract(one)  # what it gives itself hangs on the branch
                yield from _uncovered(inner, gives, needs, given)
                given.update(one)
            for one in own:
                given.subtract(one)
        case AnyOf(nodes):
            for inner in nodes:
                yield from _uncovered(inner, gives, needs, given)
        case _:
            for need in needs(node):
                if given[need] <= 0:
                    yield node, need


def alternative(body: AllOf, gives: Gives, need: Hashable, through: Part | None) -> tuple[Part, ...] | None:
    """Return a choice of branches that has *through*, if that is one, and where no part gives *need*; else None."""
    found = _chosen(body, gives, need, through)
    return None if found is None or (through is not None and not any(part is through for part in found)) else found


def _chosen(node: Node, gives: Gives, need: Hashable, through: Part | None) -> tuple[Part, ...] | None:
    match node:
        case AllOf(nodes):
            chosen = [_chosen(inner, gives, need, through) for inner in nodes]
            whole = [parts for parts in chosen if parts is not None]
            return tuple(chain.from_iterable(whole)) if len(whole) == len(chosen) else None
        case AnyOf(nodes):
            open_ones = [parts for inner in nodes if (parts := _chosen(inner, gives, need, through)) is not None]
            with_it = (parts for parts in open_ones if any(part is through for part in parts))
            return next(with_it, open_ones[0] if open_ones else None)
    return None if need in gives(node) and node is not through else (node,)


def parts_of(node: Node) -> Iterator[Part]:
    """Yield all parts of *node*, whatever the branches."""
    if isinstance(node, AllOf | AnyOf):
        for inner in node.nodes:
            yield from parts_of(inner)
    else:
        yield node
