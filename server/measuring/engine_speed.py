"""How fast an engine plays a game at random: in a fresh process, by processor time, the median of runs."""

import importlib
import math
import os
import resource
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final, Protocol, TypeAlias

from gdl.compiler.kernel_loading import announcing_compilation
from gdl.engines import DEFAULT_ENGINE, BestGame, make_compiled_game
from gdl.errors import StuckPlayError
from gdl.game import Game, State
from gdl.games.library import GameFile
from gdl.language.rules import read_file
from gdl.worker import ChildLimits, run_limited
from server.measuring.accuracy import MAX_MEMORY_MB, PATIENCE

_LIBRARIES: Final = ("clingo", "gdl.compiler.compiled", "gdl.compiler.compilation")
"""What engines import when they need it."""
_WARM_UP: Final = 0.4
"""How long the last call of the warm-up takes at least, measured by a run."""
_SMALLEST: Final = 1 / 8
"""What share of a run a call makes at least: a call for a few plays would leave most lanes idle."""
_AMPLE: Final = 1.1
"""By how much the first call is made longer, so that seldom another is needed."""
_NEXT_SEED: Final = 1_000_003
_FIRST_PLAY_S: Final = 20.0
"""How much processor time the interpreter has for the first play."""
_NO_END: Final = "no play came to an end, so plays per second are 0"
Note: TypeAlias = Callable[[str], None]
N_RUNS: Final = 3
SET_UP_S: Final = 600


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """How to measure.

    *Units*: seconds of processor time for each run, on each of its threads. `core` is the one on which plays run,
    None for any.
    """

    seconds: float = 2.0
    n_threads: int = 1
    engine: str = DEFAULT_ENGINE
    core: int | None = None


@dataclass(frozen=True, slots=True)
class EngineFigures:
    """What was measured of a game.

    `setup_s` is from the text of the rules to the end of a first play, by the clock, with the kernels on disk; the
    interpreter has 20 s of processor time for that play. `states_per_s` counts the states in which moves are made.
    Where a run of the interpreter ends amid a play, what was made of it counts for its share of the mean length;
    `playouts_per_s` is 0 as long as no play has ended. *Units*: per second of processor time on one thread,
    per second by the clock on several; megabytes of the larger of two processes, that which plays and its child.
    """

    game: str
    engine: str
    setup_s: float
    playouts_per_s: float
    states_per_s: float
    peak_memory_mb: float


@dataclass(frozen=True, slots=True)
class _Run:
    n_plays: float
    n_steps: int
    elapsed_s: float


class _Player(Protocol):
    """A source of plays on one thread."""

    def play(self, seconds: float) -> _Run:
        """Play for *seconds* of this thread's time."""


@dataclass(slots=True)
class _Batches:
    """Plays of the compiled engine, many in a call; `speed` is how many a second makes."""

    game: Game
    seed: int
    speed: float

    def play(self, seconds: float) -> _Run:
        n_plays = n_steps = 0
        begin_s = time.thread_time()
        while (left_s := seconds - (time.thread_time() - begin_s)) > 0:
            n = math.ceil(self.speed * max(_AMPLE * left_s, seconds * _SMALLEST))
            done = self.game.playouts(self.game.initial_state, n, self.seed)
            n_plays, n_steps, self.seed = n_plays + done.n_plays, n_steps + done.n_steps, self.seed + _NEXT_SEED
        return _Run(n_plays, n_steps, time.thread_time() - begin_s)


@dataclass(slots=True)
class _Steps:
    """Plays of the interpreter, one after the other; the next run goes on where this one stopped."""

    game: Game
    random: Random
    lengths: list[int] = field(default_factory=list)
    _state: State | None = None
    _length: int = 0

    def play(self, seconds: float, max_plays: float = math.inf) -> _Run:
        """Play for *seconds*, or *max_plays*; a part of a play counts for its share of the mean length."""
        n_steps, n_ended = 0, len(self.lengths)
        begin_s = time.thread_time()
        while time.thread_time() - begin_s < seconds and len(self.lengths) - n_ended < max_plays:
            n_steps += self._step()
        elapsed_s = time.thread_time() - begin_s
        n_plays = n_steps / statistics.mean(self.lengths) if any(self.lengths) else len(self.lengths) - n_ended
        return _Run(n_plays, n_steps, elapsed_s)

    def _step(self) -> int:
        """Make a step, or end a play where none is left; return how many steps that was."""
        state = self._state or self.game.initial_state
        if state.is_terminal:
            for role in self.game.roles:
                state.goal(role)
            self.lengths.append(self._length)
            self._state, self._length = None, 0
            return 0
        legal = [state.legal_moves(role) for role in self.game.roles]
        if not all(legal):
            raise StuckPlayError
        self._state, self._length = state.next_state([self.random.choice(moves) for moves in legal]), self._length + 1
        return 1


def measured(name: str, path: Path, options: BenchOptions, on_note: Note) -> tuple[EngineFigures, bool]:
    """Return the figures of the game at *path*, and whether kernels had to be compiled on the way to its first play.

    Raises: as `measure`.
    """
    for library in _LIBRARIES:
        importlib.import_module(library)
    from gdl.compiler.cache import VARIABLE  # noqa: PLC0415 -- large libraries, which only this process needs

    os.environ[VARIABLE] = "off"  # set-up is what compiling takes
    notices: list[str] = []

    def announce(notice: str) -> None:
        notices.append(notice)
        on_note(notice)

    with announcing_compilation(announce):
        game, first, setup_s = _set_up(path, options.engine)
    if isinstance(game, BestGame) and game.note is not None:
        on_note(f"played by the interpreter: {game.note}")
    if options.core is not None:
        os.sched_setaffinity(0, {options.core})
    players = _players(game, first, options)
    with ThreadPoolExecutor(options.n_threads) as pool:
        runs = [_run(players, options.seconds, pool) for _ in range(N_RUNS)]
    if not any(run.n_plays for run in runs):
        on_note(_NO_END)
    return _figures(name, game, setup_s, runs), bool(notices)


def _set_up(path: Path, engine: str) -> tuple[Game, _Steps | None, float]:
    """Return the game after its first play, the interpreter's maker of plays if it was that, and the time it took."""
    begin_s = time.perf_counter()
    game = make_compiled_game(read_file(path), engine)
    first = _Steps(game, Random(0)) if game.engine == "interpreter" else None
    if first is None:
        game.playouts(game.initial_state, 1, 0)
    else:
        first.play(_FIRST_PLAY_S, 1)
    return game, first, time.perf_counter() - begin_s


def _players(game: Game, first: _Steps | None, options: BenchOptions) -> list[_Player]:
    if first is None:
        speed = _warmed_up(game, _WARM_UP * options.seconds)
        return [_Batches(game, 1 + thread, speed) for thread in range(options.n_threads)]
    others = [_Steps(game, Random(thread), first.lengths) for thread in range(1, options.n_threads)]
    return [first, *others]


def _warmed_up(game: Game, seconds: float) -> float:
    """Play until a call takes *seconds*; return how many plays a second makes there: few plays leave lanes idle."""
    n_plays, elapsed_s = 1, 0.0
    while elapsed_s < seconds:
        begin_s = time.thread_time()
        game.playouts(game.initial_state, n_plays, 0)
        elapsed_s, n_plays = time.thread_time() - begin_s, 4 * n_plays
    return n_plays / 4 / elapsed_s


def _run(players: list[_Player], seconds: float, pool: ThreadPoolExecutor) -> _Run:
    begin_s = time.perf_counter()
    parts = list(pool.map(lambda player: player.play(seconds), players))
    # Processor time is steadier on a busy machine, but only the clock tells whether threads run side by side.
    elapsed_s = parts[0].elapsed_s if len(parts) == 1 else time.perf_counter() - begin_s
    return _Run(sum(part.n_plays for part in parts), sum(part.n_steps for part in parts), elapsed_s)


def _figures(name: str, game: Game, setup_s: float, runs: Sequence[_Run]) -> EngineFigures:
    return EngineFigures(
        game=name,
        engine=game.engine,
        setup_s=round(setup_s, 4),
        playouts_per_s=_rounded(statistics.median(run.n_plays / run.elapsed_s for run in runs)),
        states_per_s=_rounded(statistics.median(run.n_steps / run.elapsed_s for run in runs)),
        peak_memory_mb=round(_peak_memory_mb(), 1),
    )


def _rounded(speed: float) -> float:
    return float(f"{speed:.8g}")


def _peak_memory_mb() -> float:
    own = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:"))
    own_kb, child_kb = int(own.split()[1]), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return max(own_kb, child_kb) / 1024


def measure(file: GameFile, options: BenchOptions, on_note: Note = lambda _: None) -> EngineFigures:
    """Return the figures of a game; *on_note* hears what should be known beside them.

    Raises:
        GdlError: the rules are refused, a play does not end, or time or memory ran out.
        OSError: the file cannot be read.
    """
    limits = ChildLimits(SET_UP_S + PATIENCE * N_RUNS * options.seconds * options.n_threads, MAX_MEMORY_MB)
    for _ in range(2):
        order = (file.name, file.path, options)
        figures, compiled = run_limited(measured, order, limits, lambda note: on_note(str(note)))
        if not compiled:
            break  # else the kernels are on disk now, and set-up is measured again
    return figures
