"""The fluents of a game as boards read them: the names that can stand as each of their arguments."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, TypeAlias

from gdl.boards.axes import Axis, axis_of, words_of_cells
from gdl.datalog.domains import values_of_relations
from gdl.datalog.translation import clauses_of
from gdl.datalog.values import Values
from gdl.errors import LimitExceeded
from gdl.language.rules import Description
from gdl.language.syntax import And, Atom, Condition, Or, Rule
from gdl.language.terms import Compound, Term, Variable, signature

Path: TypeAlias = tuple[tuple[str, int, int], ...]
"""Where a name stands: name, number of arguments and argument of each term around it, from the outermost."""

MAX_NAMES: Final = 256
"""Of more names than that an argument is taken to have any."""

_MAX_PLACES: Final = 10_000
_MAX_PARTS: Final = 6
"""How deep it is looked into terms for variables."""
_KINDS: Final = ("true", "init", "base")
_HOLDERS: Final = {"init": ("true", "init"), "next": ("true",), "true": ("true",), "base": ("base",)}
"""Which relations hold fluents, and under which kinds these are kept."""


@dataclass(slots=True)
class Domains:
    """What was found: the names at each place, the variables that stand there, and the places where all may stand.

    The first part of a path is `true` for fluents of any state, `init` for the first one's, `base` for those that
    `base` declares.
    """

    names: dict[Path, set[str]] = field(default_factory=lambda: defaultdict(set))
    variables: dict[Path, list[str]] = field(default_factory=lambda: defaultdict(list))
    unbounded: set[Path] = field(default_factory=set)


def domains_of(description: Description) -> Domains:
    """Return which names can stand where in the fluents of *description*; none where an engine refuses its rules."""
    found = Domains()
    try:
        known = values_of_relations(clauses_of(description.rules))
    except LimitExceeded:
        return found
    for kind in _KINDS:
        for values in known.get((kind, 1), ()):
            _note_names(((kind, 0, 0),), values, found)
    for rule in description.rules:
        for path, variable in _variables(rule):
            found.variables[path].append(variable.name)
    return found


def _note_names(start: Path, all_values: Values, found: Domains) -> None:
    """Note what *all_values* has at *start* and inside of it."""
    todo = [(start, all_values)]
    while todo and len(found.names) < _MAX_PLACES:
        path, values = todo.pop()
        if values.is_all or len(values.constants) > MAX_NAMES:
            found.unbounded.add(path)
        if not values.compounds or values.constants:
            found.names[path] = {constant.name for constant in values.constants}
        for (name, n_arguments), arguments in values.compounds.items():
            todo += (((*path, (name, n_arguments, i)), inner) for i, inner in enumerate(arguments))


def _variables(rule: Rule) -> Iterator[tuple[Path, Variable]]:
    """Yield the variables inside the fluents of *rule*, each with where it stands, but for negated conditions."""
    for atom in (*_atoms(rule.body), rule.head):
        name, n_arguments = signature(atom.term)
        if isinstance(atom.term, Compound) and n_arguments == 1:
            for kind in _HOLDERS.get(name, ()):
                yield from _places(kind, atom.term.arguments[0])


def _atoms(body: Iterable[Condition]) -> Iterator[Atom]:
    todo = list(body)
    while todo:
        condition = todo.pop()
        match condition:
            case Atom():
                yield condition
            case And(parts) | Or(parts):
                todo += parts


def _places(kind: str, term: Term) -> Iterator[tuple[Path, Variable]]:
    todo: list[tuple[Path, Term]] = [(((kind, 0, 0),), term)]
    while todo:
        path, top = todo.pop()
        if isinstance(top, Variable):
            yield path, top
        elif isinstance(top, Compound) and len(path) < _MAX_PARTS:
            name, n_arguments = signature(top)
            todo += (((*path, (name, n_arguments, i)), inner) for i, inner in enumerate(top.arguments))


MAX_ARGUMENTS: Final = 8
_MAX_FLUENTS: Final = 200
_MAX_PATHS: Final = 64
_EMPTY_VALUES: Final = frozenset({"b", "blank", "empty", "e"})
_FLUENT_WORDS: Final = re.compile(r"[A-Z]?[a-z]+\d*|[A-Z]+(?![a-z])\d*|\d+")


def name_words(name: str) -> str:
    """Return the name of a relation as words.

    >>> name_words("captureCount"), name_words("in_hand"), name_words("east-speed1"), name_words("+")
    ('capture count', 'in hand', 'east speed1', '+')
    """
    words = " ".join(word if word.isupper() and len(word) > 1 else word.lower() for word in _FLUENT_WORDS.findall(name))
    return words or name


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a fluent: the names that it can have, none if any; and what they are as coordinates.

    `first` are those that it has in the first state.
    """

    path: Path
    names: frozenset[str]
    variables: tuple[str, ...]
    axis: Axis | None
    words: tuple[tuple[str, ...], tuple[str, ...]] | None
    first: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Fluent:
    """A kind of fluent: its name, and its arguments in their order, those inside terms too."""

    name: str
    arguments: tuple[Argument, ...]

    def pattern(self, variables: Mapping[Path, str]) -> str:
        """Return the fluent as a pattern: named arguments as said, the others as variables of their own."""
        names = {argument.path: f"?any{i}" for i, argument in enumerate(self.arguments)} | dict(variables)
        return _written(self.arguments, names, 1) if self.arguments else self.name


def fluents_of(domains: Domains) -> tuple[Fluent, ...]:
    """Return the fluents of a game, ordered by name."""
    ends: dict[tuple[str, int], list[Path]] = defaultdict(list)
    for path in domains.names:
        if path[0][0] == "true" and len(path) > 1:
            ends[path[1][:2]].append(path)
    found: list[Fluent] = []
    for (name, n_arguments), paths in sorted(ends.items())[:_MAX_FLUENTS]:
        found += _fluent(name, n_arguments, paths, domains)
    found += (Fluent(name, ()) for name in sorted(domains.names.get((("true", 0, 0),), ())))
    return tuple(found[:_MAX_FLUENTS])


def _fluent(name: str, n_arguments: int, paths: list[Path], domains: Domains) -> Iterator[Fluent]:
    """Yield the fluent where its arguments are names, or terms of one form."""
    if len(paths) > _MAX_PATHS:
        return
    leaves = sorted(path for path in paths if not any(other[: len(path)] == path != other for other in paths))
    forms = {path[:end]: path[end][:2] for path in leaves for end in range(1, len(path))}
    is_plain = all(forms[path[:end]] == path[end][:2] for path in leaves for end in range(1, len(path)))
    if is_plain and len(leaves) <= MAX_ARGUMENTS and n_arguments == len({path[1] for path in leaves}):
        yield Fluent(name, tuple(_argument(path, leaves, domains) for path in leaves))


def _argument(path: Path, leaves: list[Path], domains: Domains) -> Argument:
    names = frozenset() if path in domains.unbounded else frozenset(domains.names[path])
    if names:
        names = _declared(path, names, leaves, domains)
    variables = tuple(islice(domains.variables.get(path, ()), 200))
    first = frozenset(_in_first_state(path, domains))
    return Argument(path, names, variables, axis_of(names, variables), words_of_cells(names), first)


def _declared(path: Path, names: frozenset[str], leaves: list[Path], domains: Domains) -> frozenset[str]:
    """Return *names* without those that `base` leaves out, or that the first state does not have either.

    The first state says which cells there are where it lists the empty ones.
    """
    base = (("base", 0, 0), *path[1:])
    said = frozenset(_in_first_state(path, domains))
    declared = frozenset(domains.names.get(base, ())) if base not in domains.unbounded else frozenset()
    if declared & names and said <= declared:
        return declared & names
    is_listed = len(said) > 1 and any(_tells_empty_cells(leaf, domains) for leaf in leaves)
    return said & names if is_listed and len(names) > len(said) and axis_of(said, ()) else names


def _in_first_state(path: Path, domains: Domains) -> set[str]:
    return domains.names.get((("init", 0, 0), *path[1:]), set())


def _tells_empty_cells(path: Path, domains: Domains) -> bool:
    """Return whether the first state has a name there for what is empty; `b` may also be a column."""
    names = _in_first_state(path, domains)
    return bool(names & _EMPTY_VALUES) and axis_of(names, ()) is None


def _written(arguments: tuple[Argument, ...], names: Mapping[Path, str], depth: int) -> str:
    """Return the term whose leaves lie on the paths of *arguments*."""
    functor = arguments[0].path[depth][0]
    groups: dict[int, list[Argument]] = defaultdict(list)
    for argument in arguments:
        groups[argument.path[depth][2]].append(argument)
    inner = (
        names[group[0].path] if len(group[0].path) == depth + 1 else _written(tuple(group), names, depth + 1)
        for _, group in sorted(groups.items())
    )
    return f"({functor} {' '.join(inner)})"
