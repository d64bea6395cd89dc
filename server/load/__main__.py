"""The load benchmark: `python -m server.load`, or `make load`."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import tempfile
from pathlib import Path
from typing import Final

import click

from server.load.figures import Figure, table, write_figures
from server.load.filling import fill
from server.load.pages import measured, page_figures
from server.load.playing import Playing, Terms, managing
from server.load.processes import child
from server.storage.database import Database

N_WARMING: Final = 60
"""Matches before anything is measured: their rules are compiled meanwhile, once."""
PROMISES_S: Final = {100: (0.005, 0.050)}
"""Median and 99th percentile of the manager's share that are promised, by the number of matches at once."""


async def played(folder: Path, at_once: tuple[int, ...], terms: Terms) -> list[Figure]:
    """Play as many matches at once as *at_once* says, one number after the other, and return the figures."""
    figures: list[Figure] = []
    thinking = ["--shortest", str(terms.shortest_s), "--longest", str(terms.longest_s)]
    async with (
        child(["server.load.players", *thinking], folder / "players.log") as players,
        managing(folder, max((*at_once, N_WARMING))) as manager,
    ):
        playing = Playing(manager, players, terms)
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


async def _benchmark(at_once: tuple[int, ...], n_stored: int, terms: Terms) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="ggp-load-") as name:
        figures = await played(Path(name), at_once, terms)
        return figures + (await paged(Path(name), n_stored) if n_stored else [])


def _machine() -> str:
    return f"{os.cpu_count()} cores, Python {platform.python_version()}"


@click.command()
@click.option("--at-once", type=click.IntRange(1), multiple=True, default=(100, 500), show_default=True,
              help="How many matches at once; may be given several times.")  # fmt: skip
@click.option("--stored", type=click.IntRange(0), default=100_000, show_default=True,
              help="How many matches are in the database when pages are measured; 0 measures none.")  # fmt: skip
@click.option("--clock", type=click.IntRange(1), default=10, show_default=True, help="The play clock, in seconds.")
@click.option("--page", type=click.Path(path_type=Path, dir_okay=False, exists=True), help="Write the table to a page.")
@click.option("--json", "is_json", is_flag=True, help="Print the figures as JSON.")
def command(at_once: tuple[int, ...], stored: int, clock: int, page: Path | None, is_json: bool) -> None:
    """Measure a game manager under load, in processes of its own on this machine, over real sockets.

    Exits with 1 when a promise is not kept.
    """
    figures = asyncio.run(_benchmark(at_once, stored, Terms(play_clock_s=clock)))
    text = f"Measured on {_machine()}.\n\n{table(figures)}"
    if page is not None:
        write_figures(page, text)
    click.echo(json.dumps([figure.as_json() for figure in figures], indent=1) if is_json else text)
    raise SystemExit(0 if all(figure.is_kept for figure in figures) else 1)


if __name__ == "__main__":
    command()
