"""How fast our search is beside OpenSpiel's: leaves and simulations a second of processor time, in the same run."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from benchmarks.yardsticks.child import ROOT
from benchmarks.yardsticks.games import AbsentError, YardstickGame
from players.registry import PlayerMaker
from server.measuring.search_speed import measure_search

OPENSPIEL = "benchmarks.yardsticks.engines.openspiel"


@dataclass(frozen=True, slots=True)
class Runs:
    """How many runs, how long, and the Python that has OpenSpiel. *Units*: seconds of processor time each."""

    n: int
    seconds: float
    python: str


@dataclass(frozen=True, slots=True)
class SpeedFigures:
    """The speeds of both at the first position of a game. *Units*: per second of processor time."""

    game: str
    player: str
    leaves_per_s: float
    simulations_per_s: float

    @property
    def ratio(self) -> float:
        """How many times as fast ours is."""
        return self.leaves_per_s / self.simulations_per_s

    def figures(self) -> dict[str, Any]:
        """Return the figures as JSON has them."""
        return {**asdict(self), "ratio": round(self.ratio, 2)}


def check_openspiel(python: str) -> None:
    """Find out whether *python* has OpenSpiel.

    Raises:
        AbsentError: it has not.
    """
    try:
        subprocess.run([python, "-c", "import pyspiel"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise AbsentError("OpenSpiel", "install the extra `yardsticks`, or name a Python that has it") from error


def compare_speed(
    game: YardstickGame, maker: PlayerMaker, runs: Runs, on_run: Callable[[], None] = lambda: None
) -> SpeedFigures:
    """Return the medians of the runs of both, which take turns, each in a process of its own.

    Raises:
        AbsentError: the rule file is not at hand, or the player does not say how fast it is.
        GdlError: the rules are refused, or the player cannot be made.
    """
    leaves, simulations = list[float](), list[float]()
    for _ in range(runs.n):
        found = measure_search(game.file, maker, runs.seconds)
        if found.leaves_per_s is None:
            raise AbsentError(f"the number of leaves of {maker.spec}", "take a player that tells it, such as mcts")
        leaves.append(found.leaves_per_s)
        simulations.append(_simulations_per_s(game, runs))
        on_run()
    return SpeedFigures(game.name, maker.spec, median(leaves), median(simulations))


def _simulations_per_s(game: YardstickGame, runs: Runs) -> float:
    assert game.openspiel is not None
    done = subprocess.run(
        [runs.python, "-m", OPENSPIEL, game.openspiel, "--speed", "--seconds", str(runs.seconds)],
        check=True, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    return float(json.loads(done.stdout)["simulations_per_s"])
