"""The strength benchmark: one player against another, many matches, each role in turn, all repeatable.

Run as `python -m benchmarks.strength`; `docs/strength.md` keeps the figures.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from statistics import fmean
from typing import ClassVar, Final

import click
from rich.console import Console
from rich.progress import track

from gdl.engines import make_game
from gdl.errors import CallerError
from gdl.game import RANDOM, Game
from gdl.games.library import find_game
from players.deadline import Deadline
from players.kit.local_match import LocalMatch
from players.registry import find_player
from players.search.evaluator import wait_for_compilation

FIRST: Final = "mcts:playouts=200"
SECOND: Final = "random"
COMPILATION_S: Final = 120.0
"""How long a match waits for its game to be compiled before its clocks run."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two players, named as for `ggp player`, at a game of two roles.

    *Units*: seconds for each move; None where the players have budgets of their own.
    """

    game: str
    first: str
    second: str
    clock_s: float | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a match ended for the first player of its pairing. *Units*: goals of 0 to 100, steps, seconds."""

    seed: int
    role: str
    own_goal: int
    other_goal: int
    n_steps: int
    elapsed_s: float

    @property
    def is_win(self) -> bool:
        """Whether the first player had the higher goal."""
        return self.own_goal > self.other_goal


class RolesError(CallerError):
    """The game is not one of two roles."""

    template: ClassVar[str] = "{game} is no game of two players; its roles are {roles}"
    game: str
    roles: Sequence[str]


def play_match(pairing: Pairing, seed: int) -> Outcome:
    """Play one match; the first player has the first role where *seed* is even.

    Raises:
        RolesError: the game has not two roles beside chance.
    """
    began_s = time.monotonic()
    game = _game(pairing.game)
    roles = [role for role in game.roles if role != RANDOM]
    if len(roles) != 2:
        raise RolesError(pairing.game, [role.name for role in roles])
    own, other = roles if seed % 2 == 0 else roles[::-1]
    players = {own: find_player(pairing.first)(), other: find_player(pairing.second)()}
    match = LocalMatch(game, players, seed, pairing.clock_s)
    n_steps = sum(1 for _ in match.play())
    own_goal, other_goal = (match.state.goal(role) or 0 for role in (own, other))
    return Outcome(seed, own.name, own_goal, other_goal, n_steps, time.monotonic() - began_s)


@cache
def _game(name: str) -> Game:
    """Return the game of that name, compiled before the clocks of its matches run."""
    game = make_game(find_game(name).read())
    wait_for_compilation(game, Deadline.after(COMPILATION_S))
    return game


def play_matches(pairing: Pairing, seeds: Iterable[int], n_processes: int) -> Iterator[Outcome]:
    """Yield the outcome of a match for each of *seeds*, in their order, several at a time."""
    with ProcessPoolExecutor(n_processes) as pool:
        yield from pool.map(partial(play_match, pairing), seeds)


def lines(pairing: Pairing, outcomes: Sequence[Outcome]) -> list[str]:
    """Return the figures as text, as the page of the benchmark has them."""
    wins = [outcome for outcome in outcomes if outcome.is_win]
    n_draws = sum(outcome.own_goal == outcome.other_goal for outcome in outcomes)
    own_goal, other_goal, n_steps, elapsed_s = (
        fmean(values)
        for values in zip(
            *((each.own_goal, each.other_goal, each.n_steps, each.elapsed_s) for each in outcomes), strict=True
        )
    )
    by_role = {role: sum(win.role == role for win in wins) for role in sorted({each.role for each in outcomes})}
    clock = "" if pairing.clock_s is None else f", {pairing.clock_s:g} s a move"
    seeds = f"seeds {outcomes[0].seed} to {outcomes[-1].seed}"
    return [
        f"{pairing.first} against {pairing.second} at {pairing.game}{clock}, {seeds}:",
        f"{len(outcomes)} matches: {len(wins)} won, {n_draws} drawn, {len(outcomes) - len(wins) - n_draws} lost"
        f" (won as {', as '.join(f'{role} {n}' for role, n in by_role.items())})",
        f"mean goals {own_goal:.1f} and {other_goal:.1f}; {n_steps:.1f} steps and {elapsed_s:.1f} s a match",
    ]


@click.command()
@click.option("--game", default="connectfour", show_default=True, help="A game of two roles.")
@click.option("--first", default=FIRST, show_default=True, metavar="SPEC", help="The player that is measured.")
@click.option("--second", default=SECOND, show_default=True, metavar="SPEC", help="The player that it meets.")
@click.option("--seconds", type=click.FloatRange(0, min_open=True), help="A clock for each move; without, none.")
@click.option("--matches", "n_matches", type=click.IntRange(1), default=100, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the first match; then counted.")
@click.option("--at-least", type=click.IntRange(0), help="Wins below which the exit code is 1; by default 9 in 10.")
@click.option("--processes", type=click.IntRange(1), default=os.cpu_count() or 1, show_default="one a core")
def main(  # noqa: PLR0913, PLR0917 -- click hands every option to it
    game: str,
    first: str,
    second: str,
    seconds: float | None,
    n_matches: int,
    seed: int,
    at_least: int | None,
    processes: int,
) -> None:
    """Let two players meet many times and say how often the first one won."""
    pairing = Pairing(game, first, second, seconds)
    played = play_matches(pairing, range(seed, seed + n_matches), processes)
    try:
        outcomes = list(track(played, "playing", n_matches, console=Console(stderr=True), transient=True))
    except CallerError as error:
        raise click.UsageError(str(error)) from error
    click.echo("\n".join(lines(pairing, outcomes)))
    n_wins = sum(outcome.is_win for outcome in outcomes)
    bar = -(-n_matches * 9 // 10) if at_least is None else at_least
    if n_wins < bar:
        click.echo(f"fewer than {bar} wins", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
