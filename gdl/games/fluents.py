"""The fluents of a game, each as a pattern: which of its arguments could be coordinates, and what the others name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

from gdl.games.axes import Line, line_of, words_of_cells
from gdl.games.domains import Domains, Path

MAX_ARGUMENTS: Final = 8
_MAX_FLUENTS: Final = 200
_MAX_PATHS: Final = 64
_EMPTY_VALUES: Final = frozenset({"b", "blank", "empty", "e"})


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a fluent: the names that it can have, none if any; and what they are as coordinates."""

    path: Path
    names: frozenset[str]
    variables: tuple[str, ...]
    line: Line | None
    words: tuple[tuple[str, ...], tuple[str, ...]] | None


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
    return Argument(path, names, variables, line_of(names, variables), words_of_cells(names))


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
    return said & names if is_listed and len(names) > len(said) and line_of(said, ()) else names


def _in_first_state(path: Path, domains: Domains) -> set[str]:
    return domains.names.get((("init", 0, 0), *path[1:]), set())


def _tells_empty_cells(path: Path, domains: Domains) -> bool:
    """Return whether the first state has a name there for what is empty; `b` may also be a column."""
    names = _in_first_state(path, domains)
    return bool(names & _EMPTY_VALUES) and line_of(names, ()) is None


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
