"""How fast an engine plays a game at random: each game in a fresh process, by processor time, the median of runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from gdl.child_process import ChildLimits, run_limited
from gdl.engines import DEFAULT_ENGINE
from gdl.games.library import GameFile

Note: TypeAlias = Callable[[str], None]

N_RUNS: Final = 3
_SET_UP_S: Final = 600
_PATIENCE: Final = 20
"""How many times as long as its processor time a run may take: the machine may be busy, a single play slow."""
_MAX_MEMORY_MB: Final = 16 * 1024


@dataclass(frozen=True, slots=True)
class Options:
    """How to measure.

    *Units*: seconds of processor time for each run, on each of its threads. `core` is the one on which plays run,
    None for any.
    """

    seconds: float = 2.0
    n_threads: int = 1
    engine: str = DEFAULT_ENGINE
    core: int | None = None


@dataclass(frozen=True, slots=True)
class Figures:
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


def measure(file: GameFile, options: Options, on_note: Note = lambda _: None) -> Figures:
    """Return the figures of a game; *on_note* hears what should be known beside them.

    Raises:
        GdlError: the rules are refused, a play does not end, or time or memory ran out.
        OSError: the file cannot be read.
    """
    limits = ChildLimits(_SET_UP_S + _PATIENCE * N_RUNS * options.seconds * options.n_threads, _MAX_MEMORY_MB)
    for _ in range(2):
        order = (file.name, file.path, options)
        figures, compiled = run_limited(_measured, order, limits, lambda note: on_note(str(note)))
        if not compiled:
            break  # else the kernels are on disk now, and set-up is measured again
    return figures


def _measured(name: str, path: Path, options: Options, on_note: Note) -> tuple[Figures, bool]:
    # What it imports takes a second, and only the fresh process needs it.
    from server.measuring import measured  # noqa: PLC0415 -- see above

    return measured(name, path, options, on_note)
