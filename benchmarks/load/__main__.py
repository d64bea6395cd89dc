"""The load benchmark: `python -m benchmarks.load`, or `make load`."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import click

from benchmarks.load.figures import Figure, table, write_figures
from benchmarks.load.interference import interfered
from benchmarks.load.load_generator import LoadGenerator, MatchSettings, Run
from benchmarks.load.old_matches import fill
from benchmarks.load.pages import measured, page_figures
from benchmarks.load.processes import Listener, child, managing
from benchmarks.load.profiling import report
from benchmarks.load.shared_database import new_database, play_on_shared_database
from benchmarks.load.viewers import viewed
from server.operation.warm_up import fill_cache
from server.storage.database import Database

N_WARMING: Final = 200
"""The number of matches before the measurement, during which the rules are compiled once."""
PROMISES_S: Final = {100: (0.005, 0.050)}
"""The promised median and 99th percentile of the manager's share, by the number of matches at once."""


async def played(folder: Path, plan: Plan, settings: MatchSettings) -> list[Figure]:
    """Play as many matches at once as *plan* says, one number after the other, and return the figures.

    Where they are profiled, print where the time of each run went.
    """
    figures, profiles = list[Figure](), folder if plan.profile else None
    at_once = tuple(filter(None, plan.at_once))
    thinking = ["--shortest", str(settings.shortest_s), "--longest", str(settings.longest_s)]
    async with (
        child(["benchmarks.load.players", *thinking], folder / "players.log") as players,
        _manager(folder, plan, max((*at_once, N_WARMING)), profiles) as manager,
    ):
        generator = LoadGenerator(manager, players, settings, profiles)
        await generator.play(N_WARMING)
        for n_matches in at_once:
            await manager.until_at_rest()
            run = await (generator.play_as_ordered(n_matches) if plan.as_ordered else generator.play(n_matches))
            figures += run.figures(PROMISES_S.get(n_matches))
            _print_profiles(run)
    return figures


def _print_profiles(run: Run) -> None:
    """Print where the time of *run* went, if it was profiled; steps have orders among them that come meanwhile."""
    if run.ordering is not None and run.ordering.profile is not None:
        click.echo(f"## An order, of {run.n_matches}\n\n{report(run.ordering.profile, run.n_matches, 'order')}\n")
    if run.profile is not None:
        click.echo(f"## A step, of {run.n_matches} matches\n\n{report(run.profile, run.n_steps, 'step')}\n")


@asynccontextmanager
async def _manager(folder: Path, plan: Plan, n_matches: int, profiles: Path | None) -> AsyncIterator[Listener]:
    """Yield the manager that *plan* names, else a new one."""
    if plan.manager:
        yield Listener(plan.manager, plan.manager_pid)
        return
    async with managing(folder, n_matches, database=plan.database, profiles=profiles) as manager:
        yield manager


async def paged(folder: Path, n_matches: int) -> list[Figure]:
    """Fill the database in *folder* with *n_matches* more, and return how long its pages take."""
    database = await Database.open(f"sqlite:///{folder / 'ggp.sqlite'}")
    try:
        await fill(database, n_matches)
    finally:
        await database.close()
    async with managing(folder, 1) as manager:
        answers = await measured(manager, n_matches)
    return page_figures(n_matches, answers)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured: matches at once, pages over stored ones, good matches beside hostile players, viewers.

    `database` is that of the manager, a new file where it is empty; `manager` is the address of one that runs already.
    *Units*: seconds for the play clock.
    """

    at_once: tuple[int, ...]
    stored: int
    hostile: int
    viewers: int
    managers: tuple[int, ...]
    postgresql: str | None
    clock: int
    as_ordered: bool = False
    profile: bool = False
    database: str = ""
    manager: str = ""
    manager_pid: int | None = None


async def _benchmark(plan: Plan) -> list[Figure]:
    """Return the figures of everything that *plan* has."""
    settings, figures = MatchSettings(play_clock_s=plan.clock), list[Figure]()
    if not plan.manager:
        await fill_cache()  # a server whose kernels are not on disk compiles them while it is measured
    with tempfile.TemporaryDirectory(prefix="ggp-load-") as name:
        if plan.postgresql is not None:
            async with new_database(plan.postgresql) as database:
                figures += await played(Path(name), replace(plan, database=database), settings)
            for n_managers in plan.managers:
                figures += await play_on_shared_database(Path(name), plan.postgresql, n_managers, settings)
        if plan.stored or (plan.at_once and plan.postgresql is None):
            unplayed = plan if plan.postgresql is None else replace(plan, at_once=())
            figures += await played(Path(name), unplayed, settings)
        if plan.hostile:
            figures += await interfered(Path(name), plan.hostile, settings)
        if plan.viewers:
            figures += await viewed(Path(name), plan.viewers, settings)
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
@click.option("--viewers", type=click.IntRange(0), default=2_000, show_default=True,
              help="How many follow one live match, and as many the first page; 0 measures none.")  # fmt: skip
@click.option("--postgresql", metavar="ADDRESS",
              help="Play the matches at once in a new database on this PostgreSQL server.")  # fmt: skip
@click.option("--managers", type=click.IntRange(1), multiple=True,
              help="Measure the steps a second of so many managers on one database there.")  # fmt: skip
@click.option("--clock", type=click.IntRange(1), default=10, show_default=True, help="The play clock, in seconds.")
@click.option("--as-ordered", is_flag=True,
              help="Let each match begin as soon as it is ordered, instead of all at the same moment.")  # fmt: skip
@click.option("--profile", is_flag=True, help="Run the manager under a profiler, and print where its time goes.")
@click.option(
    "--database", default="", help="The manager's database, as `ggp serve --database` has it; else a new file."
)
@click.option(
    "--manager", default="", help="The address of a manager that runs already; nothing else is measured then."
)
@click.option("--manager-pid", type=click.IntRange(1), help="Its process on this machine, to measure work and memory.")
@click.option("--page", type=click.Path(path_type=Path, dir_okay=False, exists=True), help="Write the table to a page.")
@click.option("--json", "is_json", is_flag=True, help="Print the figures as JSON.")
def command(page: Path | None, is_json: bool, **plan: Any) -> None:
    """Measure a game manager under load, in processes of its own on this machine, over real sockets.

    Exits with 1 when a promise is not kept.
    """
    chosen = Plan(**plan)
    if chosen.manager:
        chosen = replace(chosen, stored=0, hostile=0, profile=False)
    figures = asyncio.run(_benchmark(chosen))
    text = f"Measured on {_machine()}.\n\n{table(figures)}"
    if page is not None:
        write_figures(page, text)
    click.echo(json.dumps([figure.as_json() for figure in figures], indent=1) if is_json else text)
    raise SystemExit(0 if all(figure.is_kept for figure in figures) else 1)


if __name__ == "__main__":
    command()
