"""The strength benchmark: one player against another, many matches, each role in turn, all repeatable.

It is a round robin of `server.arena` whose matches are played in this process and its children: without messages, with
seeded players, and a clock of any length for a move. Run as `python -m benchmarks.strength`; `docs/strength.md` keeps
the figures.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar, Final

import click
from rich.console import Console
from rich.progress import Progress as ProgressBar

from gdl.engines import make_game
from gdl.errors import CallerError
from gdl.game import Game, played_roles
from gdl.games.library import find_game
from players.deadline import Deadline
from players.kit.local_match import LocalMatch
from players.kit.worker import end_with_service
from players.registry import find_player
from players.search.evaluator import wait_for_compilation
from server.arena.arena import Arena, OnProgress
from server.arena.execution import PlayedRecord
from server.arena.folder import TournamentFolder
from server.tournament.fixtures import ScheduledMatch, TournamentGame
from server.tournament.plan import SprtPlan, TournamentPlan
from server.tournament.progress import Progress
from server.tournament.summary import sprt_line
from server.tournament.table import table_of

FIRST: Final = "mcts:playouts=200"
SECOND: Final = "random"
COMPILATION_S: Final = 120.0
"""How long a match waits for its game to be compiled before its clocks run."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two players, named as for `ggp player`, at a game of two roles.

    *Units*: seconds for each move; None where the players have budgets of their own. Normalised Elo for `elo1`, the
    hypothesis against 0 of a sequential test that ends the matches.
    """

    game: str
    first: str
    second: str
    clock_s: float | None = None
    elo1: float | None = None

    @property
    def specs(self) -> dict[str, str]:
        """The specifications of the players by their names, which differ even where the players do not."""
        return {self.first: self.first, self.second + ("" if self.first != self.second else " again"): self.second}

    def plan(self, n_matches: int, seed: int) -> TournamentPlan:
        """Return the tournament of at least *n_matches*; in each set the players change roles, with equal seeds."""
        sprt = None if self.elo1 is None else SprtPlan(elo1=self.elo1)
        return TournamentPlan(games=(self.game,), players=self.specs, rounds=-(-n_matches // 2), seed=seed, sprt=sprt)


class RolesError(CallerError):
    """The game is not one of two roles."""

    template: ClassVar[str] = "{game} is no game of two players; its roles are {roles}"
    game: str
    roles: Sequence[str]


def play_match(pairing: Pairing, players: Sequence[str], seed: int) -> dict[str, Any]:
    """Play one match between *players*, named in the order of the roles; return what its record has of the result."""
    game = _game(pairing.game)
    roles = played_roles(game)
    seated = {role: find_player(pairing.specs[name])() for role, name in zip(roles, players, strict=True)}
    match = LocalMatch(game, seated, seed, pairing.clock_s)
    n_steps = sum(1 for _ in match.play())
    goals = [match.state.goal(role) or 0 for role in roles]
    return {"x-roles": list(map(str, roles)), "x-goals": goals, "errors": [], "moves": [[]] * n_steps}


@cache
def _game(name: str) -> Game:
    """Return the game of that name, compiled before the clocks of its matches run."""
    game = make_game(find_game(name).read())
    wait_for_compilation(game, Deadline.after(COMPILATION_S))
    return game


@dataclass
class RepeatableExecutor:
    """Plays the matches of a pairing in child processes, several at a time.

    Attributes:
        lengths_s: how long each match took, in seconds.
    """

    pairing: Pairing
    pool: ProcessPoolExecutor
    n_processes: int
    lengths_s: list[float] = field(default_factory=list)

    async def n_at_once(self) -> int:
        """Return the number of the child processes."""
        return self.n_processes

    async def play(self, match: ScheduledMatch) -> PlayedRecord:
        """Play *match* in one of the child processes."""
        began_s = time.monotonic()
        loop = asyncio.get_running_loop()
        record = await loop.run_in_executor(self.pool, play_match, self.pairing, match.players, match.seed)
        self.lengths_s.append(time.monotonic() - began_s)
        return PlayedRecord(record)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the matches of a pairing came to. *Units*: seconds for the mean length of a match."""

    pairing: Pairing
    progress: Progress
    length_s: float

    @property
    def n_wins(self) -> int:
        """How many matches the first player won."""
        return self.wins_by_role().total()

    def wins_by_role(self) -> Counter[int]:
        """Return how many matches the first player won in each role."""
        results = self.progress.results
        places = ((result, result.players.index(self.pairing.first)) for result in results)
        return Counter(place for result, place in places if result.goals[place] > result.goals[1 - place])

    def lines(self, roles: Sequence[str]) -> list[str]:
        """Return the figures as text, as the page of the benchmark has them; *roles* are those of the game."""
        rows = {row.player: row for row in table_of(self.progress)}
        one, other = (rows[name] for name in self.pairing.specs)
        clock = "" if self.pairing.clock_s is None else f", {self.pairing.clock_s:g} s a move"
        wins = self.wins_by_role()
        by_role = ", ".join(f"{role} {wins[place]}" for place, role in enumerate(roles))
        n_steps = fmean(played.n_steps for played in self.progress.played)
        title = f"{self.pairing.first} against {self.pairing.second} at {self.pairing.game}{clock}"
        found = [
            f"{title}, seed {self.progress.plan.seed}:",
            f"{one.matches} matches: {one.wins} won, {one.draws} drawn, {one.losses} lost (won as {by_role})",
            f"mean goals {one.mean_goal:.1f} and {other.mean_goal:.1f}; {n_steps:.1f} steps and "
            f"{self.length_s:.1f} s a match",
        ]
        if one.rating is not None and other.rating is not None:
            interval = f"{one.rating.low:.0f} to {one.rating.high:.0f}"
            found.append(f"Elo {one.rating.elo:.0f} ({interval}) and {other.rating.elo:.0f}")
        test = sprt_line(self.progress)
        return [*found, test] if test else found


def play_matches(
    pairing: Pairing, n_matches: int, seed: int, n_processes: int, on_progress: OnProgress = lambda _: None
) -> Outcome:
    """Play a round robin of at least *n_matches*, an even number of them, several at a time.

    Raises:
        RolesError: the game has not two roles beside chance.
    """
    plan = pairing.plan(n_matches, seed)
    workers = ProcessPoolExecutor(n_processes, get_context("spawn"), initializer=end_with_service)
    with tempfile.TemporaryDirectory() as path, workers as pool:
        folder, executor = TournamentFolder(Path(path)), RepeatableExecutor(pairing, pool, n_processes)
        with folder.held():
            before = Progress(plan, (TournamentGame(pairing.game, len(two_roles(pairing.game))),), (), ())
            progress = asyncio.run(Arena(before, folder, executor, on_progress).play())
    return Outcome(pairing, progress, fmean(executor.lengths_s))


def two_roles(game: str) -> list[str]:
    """Return the names of the two roles of *game*.

    Raises:
        RolesError: it has not two beside chance.
    """
    roles = [role.name for role in played_roles(make_game(find_game(game).read()))]
    if len(roles) != 2:
        raise RolesError(game, roles)
    return roles


@click.command()
@click.option("--game", default="connectfour", show_default=True, help="A game of two roles.")
@click.option("--first", default=FIRST, show_default=True, metavar="SPEC", help="The player that is measured.")
@click.option("--second", default=SECOND, show_default=True, metavar="SPEC", help="The player that it meets.")
@click.option("--seconds", type=click.FloatRange(0, min_open=True), help="A clock for each move; without, none.")
@click.option("--matches", "n_matches", type=click.IntRange(1), default=100, show_default=True,
              help="An odd number is one more.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Decides those of all matches.")
@click.option("--sprt", "elo1", type=click.FloatRange(0, min_open=True), metavar="ELO",
              help="End when a sequential test of 0 against ELO points of normalised Elo has decided.")  # fmt: skip
@click.option("--at-least", type=click.IntRange(0), help="Wins below which the exit code is 1; by default 9 in 10.")
@click.option("--processes", type=click.IntRange(1), default=os.cpu_count() or 1, show_default="one a core")
def main(  # noqa: PLR0913, PLR0917 -- click hands every option to it
    game: str,
    first: str,
    second: str,
    seconds: float | None,
    n_matches: int,
    seed: int,
    elo1: float | None,
    at_least: int | None,
    processes: int,
) -> None:
    """Let two players meet many times and say how often the first one won."""
    pairing = Pairing(game, first, second, seconds, elo1)
    try:
        roles = two_roles(game)
        with ProgressBar(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("playing", total=n_matches)
            outcome = play_matches(
                pairing, n_matches, seed, processes, lambda now: bar.update(task, completed=len(now.played))
            )
    except CallerError as error:
        raise click.UsageError(str(error)) from error
    click.echo("\n".join(outcome.lines(roles)))
    n_played = len(outcome.progress.played)
    least = -(-n_played * 9 // 10) if at_least is None else at_least
    if outcome.n_wins < least:
        click.echo(f"fewer than {least} wins", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
