"""How often a player keeps the value of solved positions: each in a match of its own, by processor time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from random import Random
from typing import Final, Literal, TypeAlias

from gdl.engines import DEFAULT_ENGINE, make_compiled_game
from gdl.game import Game, JointMove, State
from gdl.language.terms import Constant, Term
from gdl.worker import ChildLimits, run_limited
from players.deadline import SearchBudget, by_processor_time
from players.player import Player
from players.registry import PlayerMaker
from server.measuring.solved_positions import Half, PositionFile, SolvedPosition, read_positions

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
