"""The load benchmark: `python -m benchmarks.load`, or `make load`."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from benchmarks.load.figures import Figure, table, write_figures
from benchmarks.load.filling import fill
from benchmarks.load.interference import interfered
from benchmarks.load.pages import measured, page_figures
from benchmarks.load.playing import MatchSettings, Playing, child, managing
from server.storage.database import Database

N_WARMING: Final = 60
"""The number of matches before the measurement, during which the rules are compiled once."""
PROMISES_S: Final = {100: (0.005, 0.050)}
"""The promised median and 99th percentile of the manager's share, by the number of matches at once."""


async def played(folder: Path, at_once: tuple[int, ...], settings: MatchSettings) -> list[Figure]:
    """Play as many matches at once as *at_once* says, one number after the other, and return the figures."""
    figures: list[Figure] = []
    thinking = ["--shortest", str(settings.shortest_s), "--longest", str(settings.longest_s)]
    async with (
        child(["benchmarks.load.players", *thinking], folder / "players.log") as players,
        managing(folder, max((*at_once, N_WARMING))) as manager,
    ):
        playing = Playing(manager, players, settings)
        await playing.play(N_WARMING)
        for n_matches in at_once:
            figures += (await playing.play(n_matches)).figures(PROMISES_S.get(n_matches))
    return figures


async def paged(folder: Path, n_matches: int) -> list[Figure]:
    """Fill the database in *folder* with *n_matches* more, and return how long its pages take."""
    database = await Database.open(f"sqlite:///{folder / 'ggp.sqlite'}")
    try:
        await fill(database, n_matches)
    finally:
        await database.close()
    async with managing(folder, 1) as manager:
        times_ms = await measured(manager.url, n_matches)
    (folder / "pages.json").write_text(json.dumps(times_ms, indent=1), "utf-8")
    return page_figures(n_matches, times_ms)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured: matches at once, pages over stored ones, good matches beside hostile players.

    *Units*: seconds for the play clock.
    """

    at_once: tuple[int, ...]
    stored: int
    hostile: int
    clock: int


async def _benchmark(plan: Plan) -> list[Figure]:
    """Return the figures of everything that *plan* has."""
    settings, figures = MatchSettings(play_clock_s=plan.clock), list[Figure]()
    with tempfile.TemporaryDirectory(prefix="ggp-load-") as name:
        if plan.at_once or plan.stored:
            figures += await played(Path(name), tuple(filter(None, plan.at_once)), settings)
        if plan.hostile:
            figures += await interfered(Path(name), plan.hostile, settings)
        if plan.stored:
            figures += await paged(Path(name), plan.stored)
    return figures


def _machine() -> str:
    return f"{os.cpu_count()} cores, Python {platform.python_version()}"


@click.command()
@click.option("--at-once", type=click.IntRange(0), multiple=True, default=(100, 500), show_default=True,
              help="How many matches at once; may be given several times. 0 plays none.")  # fmt: skip
@click.option("--stored", type=click.IntRange(0), default=100_000, show_default=True,
              help="How many matches are in the database when pages are measured; 0 measures none.")  # fmt: skip
@click.option("--hostile", type=click.IntRange(0), default=20, show_default=True,
              help="How many hostile players other matches are measured beside; 0 measures none.")  # fmt: skip
@click.option("--clock", type=click.IntRange(1), default=10, show_default=True, help="The play clock, in seconds.")
@click.option("--page", type=click.Path(path_type=Path, dir_okay=False, exists=True), help="Write the table to a page.")
@click.option("--json", "is_json", is_flag=True, help="Print the figures as JSON.")
def command(page: Path | None, is_json: bool, **plan: Any) -> None:
    """Measure a game manager under load, in processes of its own on this machine, over real sockets.

    Exits with 1 when a promise is not kept.
    """
    figures = asyncio.run(_benchmark(Plan(**plan)))
    text = f"Measured on {_machine()}.\n\n{table(figures)}"
    if page is not None:
        write_figures(page, text)
    click.echo(json.dumps([figure.as_json() for figure in figures], indent=1) if is_json else text)
    raise SystemExit(0 if all(figure.is_kept for figure in figures) else 1)


if __name__ == "__main__":
    command()
