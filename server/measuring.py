"""What the fresh process of a measurement does; all libraries are imported before the clock starts."""

from __future__ import annotations

import importlib
import math
import os
import resource
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from gdl.best import BestGame
from gdl.compiler.notice import told_of_compilation
from gdl.engines import make_game
from gdl.game import Game
from gdl.rules import read_file
from server.bench import N_RUNS, Figures, Note, Options

_LIBRARIES: Final = ("clingo", "gdl.compiler.compiled", "gdl.compiler.kernels")
"""What engines import when they need it."""
_WARM_UP: Final = 0.4
"""How long the last call of the warm-up takes at least, measured by a run."""
_SMALLEST: Final = 1 / 8
"""What share of a run a call makes at least: a call for a few plays would leave most lanes idle."""
_AMPLE: Final = 1.1
"""By how much the first call is made longer, so that seldom another is needed."""
_NEXT_SEED: Final = 1_000_003


@dataclass(frozen=True, slots=True)
class _Run:
    n_plays: int
    n_steps: int
    elapsed_s: float


def measured(name: str, path: Path, options: Options, on_note: Note) -> tuple[Figures, bool]:
    """Return the figures of the game at *path*, and whether kernels had to be compiled on the way to its first play.

    Raises: as `server.bench.measure`.
    """
    for library in _LIBRARIES:
        importlib.import_module(library)
    notices: list[str] = []

    def tell(notice: str) -> None:
        notices.append(notice)
        on_note(notice)

    with told_of_compilation(tell):
        game, setup_s = _set_up(path, options.engine)
    if isinstance(game, BestGame) and game.note is not None:
        on_note(f"played by the interpreter: {game.note}")
    runs = _runs(game, options)
    figures = Figures(
        game=name,
        engine=game.engine,
        setup_s=round(setup_s, 4),
        playouts_per_s=round(statistics.median(run.n_plays / run.elapsed_s for run in runs), 2),
        states_per_s=round(statistics.median(run.n_steps / run.elapsed_s for run in runs), 2),
        peak_memory_mb=round(_peak_memory_mb(), 1),
    )
    return figures, bool(notices)


def _set_up(path: Path, engine: str) -> tuple[Game, float]:
    begin_s = time.perf_counter()
    game = make_game(read_file(path), engine)
    game.playouts(game.initial_state, 1, 0)
    return game, time.perf_counter() - begin_s


def _runs(game: Game, options: Options) -> list[_Run]:
    if options.core is not None:
        os.sched_setaffinity(0, {options.core})
    speed = _warmed_up(game, _WARM_UP * options.seconds)
    with ThreadPoolExecutor(options.n_threads) as pool:
        return [_run(game, options, speed, number, pool) for number in range(N_RUNS)]


def _warmed_up(game: Game, seconds: float) -> float:
    """Play until a call takes *seconds*; return how many plays a second makes there: few plays leave lanes idle."""
    n_plays, elapsed_s = 1, 0.0
    while elapsed_s < seconds:
        begin_s = time.thread_time()
        game.playouts(game.initial_state, n_plays, 0)
        elapsed_s, n_plays = time.thread_time() - begin_s, 4 * n_plays
    return n_plays / 4 / elapsed_s


def _run(game: Game, options: Options, speed: float, number: int, pool: ThreadPoolExecutor) -> _Run:
    seeds = [1 + number * options.n_threads + thread for thread in range(options.n_threads)]
    begin_s = time.perf_counter()
    parts = list(pool.map(partial(_part, game, options.seconds, speed), seeds))
    # Processor time is steadier on a busy machine, but only the clock tells whether threads run side by side.
    elapsed_s = parts[0].elapsed_s if options.n_threads == 1 else time.perf_counter() - begin_s
    return _Run(sum(part.n_plays for part in parts), sum(part.n_steps for part in parts), elapsed_s)


def _part(game: Game, seconds: float, speed: float, seed: int) -> _Run:
    """Play on this thread until *seconds* of its time are over."""
    n_plays = n_steps = 0
    begin_s = time.thread_time()
    while (left_s := seconds - (time.thread_time() - begin_s)) > 0:
        done = game.playouts(game.initial_state, math.ceil(speed * max(_AMPLE * left_s, seconds * _SMALLEST)), seed)
        n_plays, n_steps, seed = n_plays + done.n_plays, n_steps + done.n_steps, seed + _NEXT_SEED
    return _Run(n_plays, n_steps, time.thread_time() - begin_s)


def _peak_memory_mb() -> float:
    own = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:"))
    own_kb, child_kb = int(own.split()[1]), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return max(own_kb, child_kb) / 1024
