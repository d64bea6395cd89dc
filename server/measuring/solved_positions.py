"""Files of solved positions: what every legal move of a position is worth when all play as well as can be.

A file is JSON, one object a line. The first names the game: `{"format": "ggp-positions-1", "game": "connectfour"}`, or
with `"rules": "NAME.kif"` a rule file beside it. Each other line is a position of it, with the exact value of every
legal move.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Final, Literal, Self, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from gdl.errors import CallerError, KifSyntaxError
from gdl.game import Game, State
from gdl.games.library import GameFile, find_game
from gdl.language.kif import read_term
from gdl.language.terms import Constant, Term
from gdl.violations import first_violation, violation_text
from server.errors import PositionFileError

Half: TypeAlias = Literal["tuning", "test"]
"""Which positions may be looked at when a player is improved, and which only tell how good it has become."""
FORMAT: Final = "ggp-positions-1"
MAX_BYTES: Final = 8_000_000
MAX_POSITIONS: Final = 10_000
_Text = Annotated[str, Field(min_length=1, max_length=200)]
_Goal = Annotated[int, Field(ge=0, le=100)]


class _Line(BaseModel):
    """What a line of a file holds, and nothing else."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


LineKind = TypeVar("LineKind", bound=_Line)


class FileHead(_Line):
    """The first line of a file: the format, and the game by name or by the rule file beside the file."""

    format: Literal["ggp-positions-1"] = FORMAT
    game: _Text | None = None
    rules: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,100}\.kif$")] | None = None

    @model_validator(mode="after")
    def _names_one_game(self) -> Self:
        if (self.game is None) == (self.rules is None):
            raise ValueError("either game or rules has to say which game it is")
        return self


class SolvedPosition(_Line):
    """A position by the moves that lead to it, and what each legal move of the role to move is worth.

    `moves` are joint moves as KIF texts, in the order of the roles; `values` has for every legal move of `role` the
    goal that it ends with when all play as well as can be.
    """

    half: Half
    moves: Annotated[list[Annotated[list[_Text], Field(min_length=1, max_length=50)]], Field(max_length=1_000)]
    role: _Text
    values: Annotated[dict[_Text, _Goal], Field(min_length=1, max_length=10_000)]

    @cached_property
    def terms(self) -> tuple[tuple[Term, ...], ...]:
        """The joint moves that lead here.

        Raises:
            KifSyntaxError: a move is no term.
        """
        return tuple(tuple(map(read_term, step)) for step in self.moves)

    @cached_property
    def worth(self) -> dict[Term, int]:
        """The value of every legal move.

        Raises:
            KifSyntaxError: a move is no term.
        """
        return {read_term(move): value for move, value in self.values.items()}

    @property
    def best(self) -> int:
        """The value of the position for the role to move."""
        return max(self.values.values())

    def keeps_value(self, move: Term) -> bool:
        """Whether *move* is among the best."""
        return self.worth.get(move) == self.best

    def line(self) -> str:
        """Return the position as a line of a file."""
        return self.model_dump_json()


class PositionFile:
    """Positions of a file, each with the number of its line (`numbered`), and their game."""

    def __init__(self, path: Path, game: GameFile, positions: Iterable[tuple[int, SolvedPosition]]) -> None:
        self.path, self.game = path, game
        self.numbered = tuple(positions)

    def of_half(self, half: Half | Literal["all"]) -> PositionFile:
        """Return the positions of one half alone, or all of them."""
        chosen = (pair for pair in self.numbered if half in {"all", pair[1].half})
        return PositionFile(self.path, self.game, chosen)

    def state(self, game: Game, number: int, position: SolvedPosition) -> State:
        """Return the state of *position*, which line *number* holds, after its moves were found legal.

        Raises:
            PositionFileError: they are not, or the values are not those of the legal moves of the role.
        """
        try:
            return _state(game, position)
        except (CallerError, KifSyntaxError, ValueError) as error:
            raise PositionFileError(self.path, str(error), number) from error


def _state(game: Game, position: SolvedPosition) -> State:
    state = game.initial_state
    for moves in position.terms:
        state = state.next_state(moves)
    if state.is_terminal:
        raise ValueError("the moves lead to the end of the play")
    if set(state.legal_moves(Constant(position.role))) != set(position.worth):
        raise ValueError(f"the values are not those of the legal moves of {position.role}")
    return state


def read_positions(path: Path) -> PositionFile:
    """Return the positions that the file at *path* holds.

    Raises:
        PositionFileError: it is too large, or a line is not what it should be; the error names the line.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise PositionFileError(path, f"longer than {MAX_BYTES:,} bytes")
    lines = data.splitlines()
    if not lines:
        raise PositionFileError(path, "empty")
    if len(lines) > MAX_POSITIONS + 1:
        raise PositionFileError(path, f"more than {MAX_POSITIONS:,} positions")
    game = _game(path, _parsed(FileHead, path, 1, lines[0]))
    return PositionFile(path, game, _positions(path, lines[1:]))


def _positions(path: Path, lines: Sequence[bytes]) -> Iterator[tuple[int, SolvedPosition]]:
    for number, line in enumerate(lines, 2):
        yield number, _parsed(SolvedPosition, path, number, line)


def _parsed(kind: type[LineKind], path: Path, number: int, line: bytes) -> LineKind:
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        raise PositionFileError(path, violation_text(first_violation(error)), number) from error


def _game(path: Path, head: FileHead) -> GameFile:
    try:
        return find_game(head.game or path.parent / str(head.rules))
    except CallerError as error:
        raise PositionFileError(path, str(error), 1) from error
