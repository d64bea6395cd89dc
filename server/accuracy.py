"""How often a player keeps the value of solved positions: each in a match of its own, by processor time.

A file of positions is JSON, one object a line. The first names the game:
`{"format": "ggp-positions-1", "game": "connectfour"}`, or with `"rules": "NAME.kif"` a rule file beside it. Each other
line is a position of it, with the exact value of every legal move.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from pathlib import Path
from random import Random
from typing import Annotated, Final, Literal, Self, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from gdl.engines import DEFAULT_ENGINE, make_compiled_game
from gdl.errors import CallerError, KifSyntaxError
from gdl.game import Game, JointMove, State
from gdl.games.library import GameFile, find_game
from gdl.language.kif import read_term
from gdl.language.terms import Constant, Term
from gdl.violations import first_violation, violation_text
from gdl.worker import ChildLimits, run_limited
from players.deadline import SearchBudget, by_processor_time
from players.player import Player
from players.registry import PlayerMaker
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


Halves: TypeAlias = Half | Literal["all"]

START_S: Final = 1.0
"""The start clock: time for tables and kernels, hardly for thoughts."""
_WARM_UP_S: Final = 0.5
_SET_UP_S: Final = 600.0
PATIENCE: Final = 20
"""How many times its clock or processor time a measurement may take by the time of day: the machine may be busy."""
_SECONDS_EACH: Final = 5.0
"""What a position may cost besides its clocks."""
MAX_MEMORY_MB: Final = 16 * 1024
_Z: Final = 1.959964
"""The quantile of the normal distribution for 95 %."""


@dataclass(frozen=True, slots=True)
class AccuracyOptions:
    """How to measure. *Units*: seconds of processor time a move."""

    seconds: float
    half: Halves = "all"
    engine: str = DEFAULT_ENGINE


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How many of the positions of a file a player kept the value of.

    `missed` are the lines of the others; `mean_used_s` is what a move took. *Units*: seconds of processor time.
    """

    file: str
    game: str
    half: Halves
    seconds: float
    n_positions: int
    n_kept: int
    mean_used_s: float
    missed: tuple[int, ...]

    @property
    def share(self) -> float:
        """The share of positions in which the move kept the value."""
        return self.n_kept / self.n_positions if self.n_positions else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the share."""
        return wilson(self.n_kept, self.n_positions)


def wilson(n_kept: float, n: int) -> tuple[float, float]:
    """Return the 95 % interval of a share of which *n_kept* of *n* are known; a half counts as one half.

    *Source*: Wilson, "Probable inference, the law of succession, and statistical inference", 1927.

    Example:
        >>> tuple(round(bound, 3) for bound in wilson(8, 10))
        (0.49, 0.943)
    """
    if n == 0:
        return 0.0, 1.0
    share, weight = n_kept / n, _Z**2 / n
    middle = (share + weight / 2) / (1 + weight)
    half = _Z * sqrt(share * (1 - share) / n + weight / (4 * n)) / (1 + weight)
    return max(0.0, middle - half), min(1.0, middle + half)


def measure_accuracy(
    file: PositionFile, maker: PlayerMaker, options: AccuracyOptions, on_position: Callable[[], None] = lambda: None
) -> Accuracy:
    """Return how often the player of *maker* keeps the value of the positions of *file*, in a process of its own.

    *on_position* is called after each position.

    Raises:
        PositionFileError: a position is not one of its game.
        LimitExceeded: the player takes far longer than its clock by the time of day, or more memory than there is.
        GdlError: the rules are refused, or the player cannot be made.
    """
    n = len(file.of_half(options.half).numbered)
    each_s = _SECONDS_EACH + PATIENCE * (START_S + options.seconds)
    limits = ChildLimits(_SET_UP_S + n * each_s, MAX_MEMORY_MB)
    return run_limited(accuracy, (file.path, maker, options), limits, lambda _: on_position())


def accuracy(path: Path, maker: PlayerMaker, options: AccuracyOptions, on_position: Callable[[None], None]) -> Accuracy:
    """Return how often the player of *maker* keeps the value of the positions at *path*, played in this process.

    A first move is not counted: what is loaded once is loaded then. Raises: as `measure_accuracy`.
    """
    file = read_positions(path).of_half(options.half)
    game = make_compiled_game(file.game.read(), options.engine)  # waiting for that is no part of any clock
    for number, position in file.numbered:
        file.state(game, number, position)
    maker().warm_up()
    for _, position in file.numbered[:1]:
        _play(game, maker(), position, _WARM_UP_S, seed=0)
    used_s, missed = 0.0, []
    for number, position in file.numbered:
        move, move_s = _play(game, maker(), position, options.seconds, seed=number)
        used_s += move_s
        if not position.keeps_value(move):
            missed.append(number)
        on_position(None)
    n = len(file.numbered)
    return Accuracy(
        file=path.name,
        game=file.game.name,
        half=options.half,
        seconds=options.seconds,
        n_positions=n,
        n_kept=n - len(missed),
        mean_used_s=round(used_s / max(n, 1), 4),
        missed=tuple(missed),
    )


def _play(game: Game, player: Player, position: SolvedPosition, seconds: float, seed: int) -> tuple[Term, float]:
    """Return the move of *player* in *position*, the end of a match that it has followed, and the time that it took."""
    role = Constant(position.role)
    player.join(game, role, Random(seed).getrandbits(32))
    player.start(by_processor_time(START_S))
    for moves in position.terms:
        tell_step(player, player.worlds.state, moves)
    state = player.worlds.state
    player.prepare_move(state.legal_moves(role)[0], lambda _: None)
    begun_s = time.process_time()
    move = player.move(state, role, by_processor_time(seconds))
    used_s = time.process_time() - begun_s
    player.abort()
    return move, used_s


def tell_step(player: Player, state: State, moves: JointMove) -> None:
    """Let *player* take in that the joint move *moves* is made in *state*."""
    own_move, percepts = moves[player.game.roles.index(player.role)], state.percepts(player.role, moves)
    player.worlds.advance(own_move, percepts, SearchBudget())
    player.perceive(own_move, percepts)
