"""The benchmark of plans: a player at games of one role, with a start clock, then with short clocks to the end.

Run as `python -m benchmarks.plans`; without files it takes those of one role among the public rule files, which
GGP_SHARED leads to. `docs/plans.md` keeps the figures.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from gdl.engines import make_game
from gdl.errors import CallerError, GdlError
from gdl.game import Game, Role
from gdl.games.library import find_game
from gdl.language.terms import Term
from players.deadline import Deadline, SearchBudget
from players.player import Player
from players.registry import find_player
from players.search.evaluator import wait_for_compilation

PUBLIC: Final = "conformance/rules"
MAX_STEPS: Final = 1_000
COMPILATION_S: Final = 120.0
_ROLE: Final = re.compile(r"\(\s*role\s+[^)\s]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Result:
    """What a player came to at a game. *Units*: seconds of thinking in the start clock, and of the longest move."""

    game: str
    goal: int | None
    n_steps: int
    start_s: float
    slowest_s: float
    note: str = ""

    @property
    def line(self) -> str:
        """The result as a row of a table."""
        goal = "none" if self.goal is None else str(self.goal)
        return f"| {self.game} | {goal} | {self.start_s:.1f} | {self.slowest_s:.2f} | {self.n_steps} | {self.note} |"


HEAD: Final = (
    "| game | goal | seconds of the start clock | of the slowest move | moves | |",
    "| --- | --: | --: | --: | --: | --- |",
)


def play(file: str, spec: str, seconds: float, move_s: float) -> Result:
    """Return what the player *spec* comes to at the game of *file*."""
    name = Path(file).stem
    try:
        game = make_game(find_game(file).read())
    except GdlError as error:
        return Result(name, None, 0, 0.0, 0.0, str(error)[:100])
    if len(game.roles) != 1:
        raise click.UsageError(f"{file} is no game of one role")
    (role,) = game.roles
    player = find_player(spec)()
    player.join(game, role, 1)
    began_s = time.monotonic()
    player.start(Deadline.after(seconds))
    start_s = time.monotonic() - began_s
    goal, n_steps, slowest_s = _moves(player, game, role, move_s)
    player.stop()
    wait_for_compilation(game, Deadline.after(COMPILATION_S))  # else the next game would have to wait for its turn
    return Result(name, goal, n_steps, start_s, slowest_s, getattr(getattr(game, "note", None), "reason", ""))


def _moves(player: Player, game: Game, role: Role, move_s: float) -> tuple[int | None, int, float]:
    """Return the goal at the end, the number of moves, and the seconds of the slowest."""
    state, slowest_s, n_steps = game.initial_state, 0.0, 0
    while not state.is_terminal and n_steps < MAX_STEPS:
        legal = state.legal_moves(role)
        if not legal:
            break
        player.prepare_move(legal[0], _ignore)
        began_s = time.monotonic()
        move = player.move(state, role, Deadline.after(move_s))
        slowest_s = max(slowest_s, time.monotonic() - began_s)
        state = state.next_state((move,))
        n_steps += 1
        if not state.is_terminal:
            player.worlds.advance(move, (move,), SearchBudget())
        player.perceive(move, (move,))
    return state.goal(role), n_steps, slowest_s


def _ignore(_move: Term) -> None:
    pass


def public_files() -> Iterator[str]:
    """Yield the public rule files with one role, by name.

    Raises:
        click.UsageError: GGP_SHARED does not say where they are.
    """
    shared = os.environ.get("GGP_SHARED")
    if not shared:
        raise click.UsageError("name files, or let GGP_SHARED be the folder with conformance/rules")
    for path in sorted((Path(shared) / PUBLIC).glob("*.kif")):
        text = "\n".join(line.partition(";")[0] for line in path.read_text("utf-8").splitlines())
        if len(set(_ROLE.findall(text))) == 1:
            yield str(path)


@click.command()
@click.argument("files", nargs=-1)
@click.option("--seconds", type=click.FloatRange(0), default=30.0, show_default=True, help="The start clock.")
@click.option("--move-seconds", type=click.FloatRange(0), default=0.2, show_default=True, help="The play clock.")
@click.option("--player", "spec", default="planner", show_default=True, metavar="SPEC", help="The player.")
def main(files: Sequence[str], seconds: float, move_seconds: float, spec: str) -> None:
    """Let a player play games of one role, and say what goal it reaches in each."""
    click.echo("\n".join(HEAD))
    results = []
    try:
        for file in files or public_files():
            results.append(play(file, spec, seconds, move_seconds))
            click.echo(results[-1].line)
    except CallerError as error:
        raise click.UsageError(str(error)) from error
    click.echo(f"\n{sum(result.goal == 100 for result in results)} of {len(results)} brought to goal 100 by {spec}")


if __name__ == "__main__":
    main()
