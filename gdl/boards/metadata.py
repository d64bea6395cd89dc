"""The metadata of a game, its TOML description: title, authors, roles, decisions, layout, known counts."""

from pathlib import Path
from typing import Annotated, Final, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, ValidationError, model_validator

from gdl.boards.field_types import MAX_ENTRIES, Line, Name
from gdl.boards.layout import Layout, Table
from gdl.errors import MetadataError
from gdl.toml import toml_of
from gdl.violations import allowed_words, violation_message, violation_place, violations

MAX_BYTES: Final = 200_000
"""The longest TOML description that is read."""


MAX_PROBLEMS: Final = 10
"""The most problems of one file that are reported."""

KeyPath: TypeAlias = tuple[int | str, ...]
"""The way to a key of TOML through tables and, by number from 0, lists."""


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


class GameMetadata(Table):
    """What the TOML description of a game says, which the API calls `about`; `players` counts the roles but `random`.

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


def read_metadata(path: Path) -> GameMetadata:
    """Return what the TOML file at *path* says.

    Raises:
        OSError: the file cannot be read.
        MetadataError: it is no TOML, too large, or says something that a description may not say.
    """
    return metadata_of(read_bytes(path), str(path))


def read_bytes(path: Path) -> bytes:
    """Return what the TOML file at *path* holds, and of one that is too large no more than shows it.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)


def metadata_of(raw: bytes, name: str = "<metadata>") -> GameMetadata:
    """Return what the TOML text *raw* says; *name* is what errors call it.

    Raises:
        MetadataError: as `read_metadata`.
    """
    if len(raw) > MAX_BYTES:
        raise MetadataError(name, [f"the description has more than {MAX_BYTES:,} bytes"])
    try:
        return GameMetadata.model_validate(toml_of(raw.decode("utf-8")))
    except UnicodeDecodeError as error:
        raise MetadataError(name, [f"not UTF-8: {error.reason} at byte {error.start}"]) from error
    except ValidationError as error:
        found = violations(error)[:MAX_PROBLEMS]
        keys, words = [at["loc"] for at in found], [allowed_words(at) for at in found]
        raise MetadataError(
            name, [problem_at(violation_place(at), violation_message(at)) for at in found], keys, words
        ) from error
    except ValueError as error:
        raise MetadataError(name, [str(error)]) from error


def problem_at(place: KeyPath, what: str) -> str:
    """Return a problem as one sentence, which begins with the key at *place*; that is empty for the whole file."""
    where = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in place).lstrip(".")
    if not where:
        return what
    return f"{where if where.isprintable() else repr(where):.200}: {what}"
