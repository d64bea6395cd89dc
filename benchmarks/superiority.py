"""A search against the one before it: many matches by processor time, in games of all kinds, with a sequential test.

Each set of matches has one opening, drawn at random, and one match for each role: there the player has that role, and
the other player all others. With `--opening 0` each match begins as the game does, and differs by what players draw.
With `--revision` the other player is as a commit of this repository has it. Results are kept in a file, from which a
run that was broken off goes on. Run as `python -m benchmarks.superiority`; `docs/strength.md` keeps the figures.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Final

import click
from rich.console import Console
from rich.table import Table

from benchmarks.yardsticks.matches import JointMoves, draw_opening, warm_up
from benchmarks.yardsticks.revision import RevisionPlayer, check_out, commit_of, revision_child
from gdl.engines import make_game
from gdl.errors import CallerError
from gdl.game import Game, Role, State, played_roles
from gdl.games.library import GameFile, find_game
from gdl.language.terms import Term
from players.deadline import Deadline, SearchBudget, by_processor_time
from players.kit.worker import end_with_service
from players.player import MakePlayer, Player
from players.registry import find_player
from players.search.evaluator import wait_for_compilation
from players.search.positions import points
from server.measuring.accuracy import wilson
from server.terminal.progress import progress
from server.tournament.sprt import SprtTest

TWO_ROLES: Final = ("connectfour", "breakthrough", "reversi", "hex", "amazons_8x8", "chess_200", "checkers", "pentago")
SIMULTANEOUS: Final = ("biddingTicTacToe", "tron_10x10", "chinook", "blockerParallel")
MORE_ROLES: Final = ("chineseCheckers3", "pacman3p", "3pConnectFour")
GAMES: Final = (*TWO_ROLES, *SIMULTANEOUS, *MORE_ROLES)
FAULTY: Final = frozenset({"pentago"})
"""Games of the library that are played instead of a public rule file in which `ggp validate --simulate` finds errors.

That of pentago gives black two goals where it wins before the board is full.
"""
TEST: Final = SprtTest(elo0=0.0, elo1=50.0)
_COMPILATION_S: Final = 300.0
_MOST_STEPS: Final = 600


@dataclass(frozen=True, slots=True)
class PlayedMatch:
    """A match of a set: the place of the player among the roles, its points (1, 1/2 or 0 in the mean), the steps."""

    game: str
    number: int
    place: int
    points: float
    n_steps: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two players and how they are compared: the other one is as *commit* of this repository has it, if that is given.

    *Units*: seconds of processor time for each move, and at the start; joint moves of an opening.
    """

    player: str
    other: str
    seconds: float
    seed: int
    start_s: float
    n_opening: int
    commit: str | None = None

    def play(self, name: str, number: int) -> list[PlayedMatch]:
        """Play the set of that *number* at the game of that *name*: a match for each role.

        Raises:
            CallerError: there is no such game, or the commit has no such player.
            ValueError: the game hardly ever lasts for the steps of an opening.
        """
        game = _game(name, *((self.player, self.other) if self.commit is None else (self.player,)))
        opening = draw_opening(game, self.n_opening, Random(f"{name} {self.seed} {number}"))
        return [self._match(game, name, number, place, opening) for place in range(len(played_roles(game)))]

    def _match(self, game: Game, name: str, number: int, place: int, opening: JointMoves) -> PlayedMatch:
        roles, random = played_roles(game), Random(f"{self.seed} {number}")
        make_player, make_other = find_player(self.player), self._other_maker(game)
        seated = {role: (make_player if seat == place else make_other)() for seat, role in enumerate(roles)}
        for role, player in seated.items():
            player.join(game, role, random.getrandbits(32))
            player.start(by_processor_time(self.start_s))
        state, n_steps = game.initial_state, 0
        while not state.is_terminal and n_steps < _MOST_STEPS:
            state = self._step(game, state, seated, opening[n_steps] if n_steps < len(opening) else None, random)
            n_steps += 1
        for player in seated.values():
            player.stop()
        return PlayedMatch(name, number, place, points([state.goal(role) or 0 for role in roles], place), n_steps)

    def _other_maker(self, game: Game) -> MakePlayer:
        if self.commit is None:
            return find_player(self.other)
        return partial(
            RevisionPlayer,
            revision_child(self.commit, self.other, game.description.source.text, str(played_roles(game)[0])),
        )

    def _step(
        self, game: Game, before: State, seated: dict[Role, Player], drawn: tuple[Term, ...] | None, random: Random
    ) -> State:
        moves = drawn or tuple(self._move(before, role, seated.get(role), random) for role in game.roles)
        state = before.next_state(moves)
        for role, player in seated.items():
            percepts, own_move = before.percepts(role, moves), moves[game.roles.index(role)]
            if not state.is_terminal:
                player.worlds.advance(own_move, percepts, SearchBudget())
            player.perceive(own_move, percepts)
        return state

    def _move(self, state: State, role: Role, player: Player | None, random: Random) -> Term:
        legal = state.legal_moves(role)
        if player is None:
            return random.choice(legal)
        player.prepare_move(legal[0], lambda _: None)
        return player.move(state, role, by_processor_time(self.seconds))


@cache
def _game(name: str, *specs: str) -> Game:
    """Return the game of that name, compiled, after the players of *specs* have loaded what they load once."""
    game = make_game(file_of(name).read())
    wait_for_compilation(game, Deadline.after(_COMPILATION_S))
    for spec in specs:
        warm_up(game, find_player(spec))
    return game


def file_of(name: str) -> GameFile:
    """Return the rule file of that name in GGP_SHARED, unless that is faulty, else in the library.

    Raises:
        CallerError: there is neither.
    """
    path = Path(os.environ.get("GGP_SHARED", "../shared")) / "conformance" / "rules" / f"{name}.kif"
    return find_game(str(path) if path.is_file() and name not in FAULTY else name)


@dataclass(frozen=True, slots=True)
class GameFigures:
    """What the matches at one game came to, by their points."""

    game: str
    points: tuple[float, ...]
    pairs: tuple[float, ...]
    n_steps: float

    @property
    def share(self) -> float:
        """The points for each match."""
        return fmean(self.points)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the share, as if matches were independent: draws and sets make it wide rather."""
        return wilson(sum(self.points), len(self.points))

    @property
    def llr(self) -> float | None:
        """The log-likelihood ratio of 50 points of normalised Elo against none; None without pairs of two roles."""
        if not self.pairs:
            return None
        return TEST.llr([self.pairs.count(worth / 2) for worth in range(5)])

    def figures(self) -> dict[str, object]:
        """Return the figures as JSON has them."""
        won, lost = (sum(worth == bound for worth in self.points) for bound in (1.0, 0.0))
        return {
            "game": self.game, "matches": len(self.points), "won": won, "lost": lost,
            "drawn": len(self.points) - won - lost, "share": round(self.share, 4),
            "interval": [round(bound, 4) for bound in self.interval],
            "llr": None if self.llr is None else round(self.llr, 2), "steps": round(self.n_steps, 1),
        }  # fmt: skip


def figures_of(played: Iterable[PlayedMatch]) -> list[GameFigures]:
    """Return the figures of each game, in the order in which games come; a set that is not whole does not count."""
    sets: dict[tuple[str, int], list[PlayedMatch]] = defaultdict(list)
    for match in played:
        sets[match.game, match.number].append(match)
    games = dict.fromkeys(game for game, _ in sets)
    return [_figures(game, [matches for (name, _), matches in sets.items() if name == game]) for game in games]


def _figures(game: str, sets: Sequence[Sequence[PlayedMatch]]) -> GameFigures:
    matches = [match for each in sets for match in each]
    pairs = tuple(sum(match.points for match in each) for each in sets if len(each) == 2)
    return GameFigures(game, tuple(match.points for match in matches), pairs, fmean(match.n_steps for match in matches))


@dataclass(frozen=True, slots=True)
class ResultsFile:
    """A file of results: the comparison in its first line, then a match a line; it may be missing."""

    path: Path
    comparison: Comparison

    def read(self) -> list[PlayedMatch]:
        """Return the matches of the file.

        Raises:
            click.UsageError: the file is of another comparison.
        """
        if not self.path.exists():
            self.path.write_text(json.dumps(asdict(self.comparison)) + "\n")
            return []
        first, *lines = self.path.read_text().splitlines()
        if json.loads(first) != asdict(self.comparison):
            raise click.UsageError(f"{self.path} has results of another comparison: {first}")
        return [PlayedMatch(**json.loads(line)) for line in lines]

    def add(self, matches: Sequence[PlayedMatch]) -> None:
        """Add a whole set of *matches*."""
        with self.path.open("a") as file:
            file.write("".join(json.dumps(asdict(match)) + "\n" for match in matches))


def play_sets(
    comparison: Comparison, wanted: Sequence[tuple[str, int]], n_processes: int
) -> Iterator[list[PlayedMatch]]:
    """Yield the sets that are *wanted*, by game and number, as they end; several processes play them.

    Raises: as `Comparison.play`.
    """
    with ProcessPoolExecutor(n_processes, get_context("spawn"), initializer=end_with_service) as pool:
        running = [pool.submit(comparison.play, game, number) for game, number in wanted]
        for future in as_completed(running):
            yield future.result()


def table(found: Sequence[GameFigures]) -> Table:
    """Return the figures as a table, with a last row for all games, each as much as the others."""
    rows = Table("game", "matches", "won", "drawn", "lost", "points", "95 %", "LLR", "steps")
    for each in found:
        figures = each.figures()
        low, high = each.interval
        rows.add_row(
            each.game, *(str(figures[name]) for name in ("matches", "won", "drawn", "lost")), f"{each.share:.1%}",
            f"{low:.0%} to {high:.0%}", "" if each.llr is None else f"{each.llr:.1f}", f"{each.n_steps:.0f}",
        )  # fmt: skip
    rows.add_row("all", str(sum(len(each.points) for each in found)), "", "", "", f"{mean_share(found):.1%}")
    return rows


def mean_share(found: Sequence[GameFigures]) -> float:
    """Return the mean of the games' points for each match."""
    return fmean(each.share for each in found)


@click.command()
@click.argument("games", nargs=-1, metavar="[GAME]...")
@click.option("--player", default="mcts", show_default=True, metavar="SPEC", help="The player measured.")
@click.option("--against", "other", default="mcts:engine=python", show_default=True, metavar="SPEC")
@click.option("--revision", metavar="COMMIT", help="The commit of this repository that has the other player.")
@click.option("--seconds", type=click.FloatRange(0, min_open=True), default=0.1, show_default=True,
              help="Processor time a move.")  # fmt: skip
@click.option("--start", "start_s", type=click.FloatRange(0), default=10.0, show_default=True,
              help="Processor time before the first move.")  # fmt: skip
@click.option("--matches", "n_matches", type=click.IntRange(1), default=100, show_default=True,
              help="At each game; whole sets, so a few more.")  # fmt: skip
@click.option("--opening", "n_opening", type=click.IntRange(0), default=2, show_default=True,
              help="How many joint moves of each match are drawn at random.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--results", "path", type=click.Path(dir_okay=False, path_type=Path), default="superiority.jsonl",
              show_default=True, help="The file of results, from which a run goes on.")  # fmt: skip
@click.option("--processes", type=click.IntRange(1), default=os.cpu_count() or 1, show_default="one a core")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def main(  # noqa: PLR0913, PLR0917 -- click hands every option to it
    games: Sequence[str],
    player: str,
    other: str,
    revision: str | None,
    seconds: float,
    start_s: float,
    n_matches: int,
    n_opening: int,
    seed: int,
    path: Path,
    processes: int,
    as_json: bool,
) -> None:
    """Let a search meet the one before it at GAMEs, by default fifteen, and say how many points it makes."""
    names = games or GAMES
    try:
        commit = None if revision is None else commit_of(revision)
        if commit is not None:
            check_out(commit)  # once, before several processes ask for it
        comparison = Comparison(player, other, seconds, seed, start_s, n_opening, commit)
        file = ResultsFile(path, comparison)
        played = file.read()
        n_roles = {name: len(played_roles(make_game(file_of(name).read(), "interpreter"))) for name in names}
        done = {(match.game, match.number) for match in played}
        sets = ((name, number) for number in range(n_matches) for name in names if number * n_roles[name] < n_matches)
        wanted = [each for each in sets if each not in done]
        with progress("playing", len(wanted)) as advance:
            for matches in play_sets(comparison, wanted, processes):
                file.add(matches)
                played += matches
                advance()
    except CallerError as error:
        raise click.UsageError(str(error)) from error
    found = figures_of(match for match in played if match.game in names)
    if as_json:
        click.echo(json.dumps([each.figures() for each in found], indent=2))
    else:
        Console(width=120).print(table(found))


if __name__ == "__main__":
    main()
