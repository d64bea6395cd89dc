"""The TOML description of a game: title, authors, roles, how unclear sentences were decided, layout, known counts."""

import difflib
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Final, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, ValidationError, model_validator

from gdl.boards.layout import MAX_ENTRIES, Layout, Line, Name, Table
from gdl.diagnostics import Diagnostic, Source, Span, diagnostic, in_order
from gdl.errors import UNKNOWN_KEY, AboutFileError, validation_message

MAX_BYTES: Final = 200_000
"""The longest TOML description that is read."""


MAX_PROBLEMS: Final = 10
"""The most problems of one file that are reported."""

KeyPath: TypeAlias = tuple[int | str, ...]
"""The way to a key of TOML through tables and, by number from 0, lists."""
_NAMED_LINE: Final = re.compile(r"\(at line (\d{1,9}), column \d{1,9}\)$")
_AT_END: Final = "(at end of document)"
_HEADER: Final = re.compile(r"\s*(\[\[?)([^\[\]]+)\]")
_GIVEN: Final = re.compile(r"\s*([^\s=#\[{][^=#]*)=")


def _prose(value: str) -> str:
    if not value.replace("\n", " ").isprintable():
        raise ValueError("the text holds characters that cannot be printed")
    return " ".join(value.split())


Prose = Annotated[str, Field(min_length=1, max_length=5000), AfterValidator(_prose)]
Count = Annotated[int, Field(ge=0)]


def _free(value: str) -> str:
    if value in ("q", "c") or value.isdecimal():
        raise ValueError(f"the key {value!r} is taken: q quits, c lets the computer choose, a number picks from a list")
    return value


Key = Annotated[str, Field(max_length=20), AfterValidator(_free)]


class Clarification(Table):
    """A sentence of the source that leaves something open, and what the rules do about it."""

    unclear: Prose
    decided: Prose


class Counts(Table):
    """What is known of the game; tests hold the rules against it.

    `perft` has the sequences of joint moves of length 1, 2, ... from the first position, `plays` all plays to the
    end, `states` all reachable states, `legal` the moves of each role in the first position. *Units*: steps for the
    shortest and the longest play.
    """

    perft: Annotated[tuple[Count, ...], Field(max_length=MAX_ENTRIES)] = ()
    plays: Count | None = None
    states: Count | None = None
    shortest_play: Count | None = None
    longest_play: Count | None = None
    legal: Annotated[dict[str, Count], Field(max_length=MAX_ENTRIES)] = Field(default_factory=dict)


class About(Table):
    """What a TOML description says about its game; `players` counts the roles but `random`.

    `tags` are words by which lists find it, `keys` what a person types for a move in the terminal, each with the text
    of its move. `information` is "perfect" where each role knows the state although the rules are in GDL-II, as in
    games of dice.
    """

    title: Annotated[Line, Field(max_length=80)]
    authors: Annotated[tuple[Line, ...], Field(min_length=1, max_length=MAX_ENTRIES)]
    roles: Annotated[tuple[Name, ...], Field(min_length=1, max_length=MAX_ENTRIES)]
    players: Count
    summary: Prose
    source: Line | None = None
    information: Literal["perfect", "imperfect"] | None = None
    tags: Annotated[tuple[Name, ...], Field(max_length=20)] = ()
    decisions: Annotated[tuple[Clarification, ...], Field(max_length=MAX_ENTRIES)] = ()
    board: Layout = Layout()
    keys: Annotated[dict[Key, Line], Field(max_length=MAX_ENTRIES)] = Field(default_factory=dict)
    counts: Counts = Counts()

    @model_validator(mode="after")
    def _players_are_counted(self) -> Self:
        n_players = sum(role != "random" for role in self.roles)
        if self.players != n_players:
            raise ValueError(f"`players` is {self.players}, but `roles` names {n_players} that players play")
        return self


def read_about(path: Path) -> About:
    """Return what the TOML file at *path* says.

    Raises:
        OSError: the file cannot be read.
        AboutFileError: it is no TOML, too large, or says something that a description may not say.
    """
    return about_of(_read(path), str(path))


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        raw = file.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise AboutFileError(str(path), [f"the file has more than {MAX_BYTES:,} bytes"])
    return raw


def about_of(raw: bytes, name: str = "<about>") -> About:
    """Return what the TOML text *raw* says; *name* is what errors call it.

    Raises:
        AboutFileError: as `read_about`.
    """
    try:
        return About.model_validate(tomllib.loads(raw.decode("utf-8")))
    except UnicodeDecodeError as error:
        raise AboutFileError(name, [f"not UTF-8: {error.reason} at byte {error.start}"]) from error
    except tomllib.TOMLDecodeError as error:
        raise AboutFileError(name, [str(error)]) from error
    except RecursionError as error:
        raise AboutFileError(name, ["tables or lists nest too deep"]) from error
    except ValidationError as error:
        found = error.errors()[:MAX_PROBLEMS]
        problems = [_problem(at["loc"], validation_message(at)) for at in found]
        raise AboutFileError(name, problems, [at["loc"] for at in found]) from error
    except ValueError as error:  # a number of more digits than Python reads
        raise AboutFileError(name, [str(error)]) from error


def about_findings(path: Path) -> list[Diagnostic]:
    """Return what is wrong with the TOML description at *path*, each problem where its key is.

    Raises:
        OSError: the file cannot be read.
    """
    raw = b""
    try:
        raw = _read(path)
        about_of(raw, str(path))
    except AboutFileError as error:
        source = Source(str(path), raw.decode("utf-8", "replace"))
        keys = error.keys or [()] * len(error.problems)
        found = (
            diagnostic("wrong-description", _span(source, key, problem), problem, _hint(key, problem))
            for key, problem in zip(keys, error.problems, strict=True)
        )
        return list(in_order(found))
    return []


def _hint(key: KeyPath, problem: str) -> str:
    if not problem.endswith(UNKNOWN_KEY):
        return "docs/games.md shows what a description says, and how"
    known = {name for table in _tables(Table) for name in table.model_fields}
    near = difflib.get_close_matches(str(key[-1])[:100], sorted(known), n=1)
    return f"did you mean {near[0]}?" if near else "remove it; docs/games.md shows the keys that there are"


def _tables(table: type[Table]) -> Iterator[type[Table]]:
    for inner in table.__subclasses__():
        yield inner
        yield from _tables(inner)


def _span(source: Source, key: KeyPath, problem: str) -> Span:
    """Return the line that gives *key*, else that of the table which should; or the line that *problem* names."""
    if not key and problem.endswith(_AT_END):
        line = max(1, source.text.rstrip().count("\n") + 1)
    elif not key and (named := _NAMED_LINE.search(problem)) is not None:
        line = int(named[1])
    else:
        around = [(len(path), line) for line, path in _key_lines(source.text) if path == key[: len(path)]]
        line = max(around, key=itemgetter(0), default=(0, 1))[1]
    text = source.line_text(line)
    start = source.line_starts[line - 1] + len(text) - len(text.lstrip())
    return Span(source, start, start + len(text.strip()))


def _key_lines(text: str) -> Iterator[tuple[int, KeyPath]]:
    """Yield the number of each line that begins a table or gives a key, with the key's path.

    It does not tell lines within a text of several lines, or keys of inline tables, apart: places are for readers.
    """
    table: KeyPath = ()
    n_tables: Counter[KeyPath] = Counter()
    for number, line in enumerate(text.split("\n"), 1):
        if (header := _HEADER.match(line)) is not None:
            table = _parts(header[2])
            if header[1] == "[[":
                n_tables[table] += 1
                table = (*table, n_tables[table] - 1)
            yield number, table
        elif (given := _GIVEN.match(line)) is not None:
            yield number, (*table, *_parts(given[1]))


def _parts(dotted: str) -> KeyPath:
    return tuple(part.strip(" \t\"'") for part in dotted.split("."))


def _problem(place: tuple[str | int, ...], what: str) -> str:
    where = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in place).lstrip(".")
    if not where:
        return what
    return f"{where if where.isprintable() else repr(where):.200}: {what}"
