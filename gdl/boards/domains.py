"""Which names the arguments of fluents and moves can have, in any state: a rough answer in bounded time.

Every argument is looked at by itself, and so are arguments of terms inside. The answer may have names that never
occur. It lacks some where a file is too large to be followed to the end; equal files have equal answers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from gdl.language.rules import And, Atom, Condition, Description, Or, Rule
from gdl.language.terms import Compound, Constant, Term, Variable, signature

Path: TypeAlias = tuple[tuple[str, int, int], ...]
"""Where a name stands: name, number of arguments and argument of each term around it, from the outermost."""

MAX_NAMES: Final = 256
"""Of more names than that an argument is taken to have any."""

_MAX_WORK: Final = 1_000_000
_MAX_PATHS: Final = 10_000
_MAX_PARTS: Final = 6
"""How deep it is looked into terms."""
_WRAPPED: Final = {"init": "true", "next": "true", "true": "true", "legal": "does", "does": "does"}
"""What holds fluents or moves, and under which name their arguments are kept; those of `base` are kept apart."""
_ROLE: Final[Path] = (("", 0, 0), ("role", 1, 0))


@dataclass(slots=True)
class Domains:
    """What was found: the names at each place, the variables that stand there, and the places where all may stand.

    The first part of a path is `true` for fluents of any state, `init` for the first one's, `base` for those that
    `base` declares, and `does` for moves.
    """

    names: dict[Path, set[str]] = field(default_factory=lambda: defaultdict(set))
    variables: dict[Path, list[str]] = field(default_factory=lambda: defaultdict(list))
    unbounded: set[Path] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Flow:
    """A rule as what it hands on: names and variables of its head, and where its variables have their names from."""

    constants: tuple[tuple[Path, str], ...]
    given: tuple[tuple[Path, str], ...]
    needed: dict[str, tuple[Path, ...]]
    offered: dict[str, tuple[Path, ...]]


def domains_of(description: Description) -> Domains:
    """Return which names can stand where in the rules of *description*."""
    found = Domains()
    flows = [_flow(head, rule, found) for rule in description.rules for head in _heads(rule)]
    asked: dict[Path, list[int]] = defaultdict(list)
    for number, flow in enumerate(flows):
        for path in {path for paths in (*flow.needed.values(), *flow.offered.values()) for path in paths}:
            asked[path].append(number)
    _follow(flows, asked, found)
    return found


def _follow(flows: list[_Flow], asked: dict[Path, list[int]], found: Domains) -> None:
    """Hand names on until nothing changes, or too much work is done."""
    todo = dict.fromkeys(range(len(flows)))
    inner: dict[Path, dict[Path, None]] = defaultdict(dict)
    work = 0
    while todo and work < _MAX_WORK:
        number = next(iter(todo))
        del todo[number]
        for path, names in _handed_on(flows[number], found, inner):
            work += 1 + len(names or ())
            if work > _MAX_WORK or (path not in found.names and len(found.names) >= _MAX_PATHS):
                break
            if _add(found, path, names):
                for end in range(1, len(path) + 1):
                    inner[path[:end]][path[end:]] = None
                    again = asked.get(path[:end], ())
                    work += len(again)
                    todo |= dict.fromkeys(again)


def _handed_on(
    flow: _Flow, found: Domains, inner: dict[Path, dict[Path, None]]
) -> Iterator[tuple[Path, set[str] | None]]:
    """Yield the names that a rule hands on; a variable that stands for terms hands on what is inside them."""
    for path, name in flow.constants:
        yield path, {name}
    for path, variable in flow.given:
        sources = flow.needed.get(variable, flow.offered.get(variable, ()))
        ends = {end: None for source in sources for end in inner.get(source, {}) if len(path) + len(end) <= _MAX_PARTS}
        for end in ends or ((),):
            yield (*path, *end), _names_of(variable, end, flow, found)


def _names_of(variable: str, end: Path, flow: _Flow, found: Domains) -> set[str] | None:
    """Return the names that a variable can have where the rule applies, or what is inside it; None for any name."""
    needed = [path for source in flow.needed.get(variable, ()) if (path := (*source, *end)) not in found.unbounded]
    if needed:
        return set.intersection(*(found.names.get(path, set()) for path in needed))
    offered = [(*source, *end) for source in flow.offered.get(variable, ())]
    if not offered or any(path in found.unbounded for path in offered):
        return None
    return set().union(*(found.names.get(path, set()) for path in offered))


def _add(found: Domains, path: Path, names: set[str] | None) -> bool:
    if path in found.unbounded or names == set():
        return False
    known = found.names[path]
    before = len(known)
    known |= names or set()
    if names is None or len(known) > MAX_NAMES:
        found.unbounded.add(path)
        return True
    return len(known) > before


def _heads(rule: Rule) -> Iterator[tuple[str, Term]]:
    """Yield under what the head is kept: also apart, where that tells of the first state."""
    kind, term = _inner(rule.head.term)
    yield kind, term
    if signature(rule.head.term) == ("init", 1):
        yield "init", term


def _inner(atom: Constant | Compound) -> tuple[str, Term]:
    name, n_arguments = signature(atom)
    if isinstance(atom, Compound) and n_arguments == (2 if name in ("legal", "does", "input") else 1):
        if name in _WRAPPED:
            return _WRAPPED[name], atom.arguments[-1]
        if name == "base":
            return "base", atom.arguments[0]
    return "", atom


def _roles(atom: Constant | Compound) -> Iterator[tuple[Path, Term]]:
    """Yield the role of a move."""
    if isinstance(atom, Compound) and signature(atom) == ("does", 2):
        yield _ROLE, atom.arguments[0]


def _flow(head: tuple[str, Term], rule: Rule, found: Domains) -> _Flow:
    places = tuple(_places(*head))
    needed: dict[str, list[Path]] = defaultdict(list)
    offered: dict[str, list[Path]] = defaultdict(list)
    for atom, is_needed in _atoms(rule.body):
        for path, term in (*_places(*_inner(atom.term)), *_roles(atom.term)):
            if isinstance(term, Variable):
                (needed if is_needed else offered)[term.name].append(path)
    for sources in (needed, offered):
        for variable, paths in sources.items():
            for path in paths:
                found.variables[path].append(variable)
    for path, term in places:
        if isinstance(term, Variable):
            found.variables[path].append(term.name)
    return _Flow(
        tuple((path, term.name) for path, term in places if isinstance(term, Constant)),
        tuple((path, term.name) for path, term in places if isinstance(term, Variable)),
        {variable: tuple(paths) for variable, paths in needed.items()},
        {variable: tuple(paths) for variable, paths in offered.items()},
    )


def _atoms(body: Iterable[Condition]) -> Iterator[tuple[Atom, bool]]:
    """Yield the atoms of which conditions are made, but for negated ones, each with whether it must hold."""
    todo = [(condition, True) for condition in body]
    while todo:
        condition, is_needed = todo.pop()
        match condition:
            case Atom():
                yield condition, is_needed
            case And(parts):
                todo += ((part, is_needed) for part in parts)
            case Or(parts):
                todo += ((part, False) for part in parts)


def _places(kind: str, term: Term) -> Iterator[tuple[Path, Term]]:
    """Yield the names and variables of a term, each with where it stands."""
    todo: list[tuple[Path, Term]] = [(((kind, 0, 0),), term)]
    while todo:
        path, top = todo.pop()
        if not isinstance(top, Compound):
            yield path, top
        elif len(path) < _MAX_PARTS:
            name, n_arguments = signature(top)
            todo += (((*path, (name, n_arguments, i)), inner) for i, inner in enumerate(top.arguments))
