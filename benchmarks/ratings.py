"""Whether ratings and sequential tests hold what they say, on simulated matches: the figures of `docs/ratings.md`.

Run as `python -m benchmarks.ratings`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Final, TypeAlias

import click
import numpy as np
import scipy  # its packages load when they are first used
from numpy.typing import NDArray

from server.tournament.fixtures import MatchResult
from server.tournament.ratings import ELO_PER_LOGIT, PRIOR_ELO, Ratings, fit_ratings
from server.tournament.sprt import ELO_PER_DEVIATION, SprtTest

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SimulatedGame:
    """A game as the model of ratings has it.

    Attributes:
        name: its name.
        roles: the effect of each role, in points of Elo.
        ties: how often two, three and more roles tie: `delta` of the model.
    """

    name: str
    roles: tuple[float, ...]
    ties: tuple[float, ...] = ()


FAIR: Final = SimulatedGame("fair", (0, 0))
GAMES: Final = (
    FAIR,
    SimulatedGame("lucky", (147, 0), (0.8,)),  # 70 % between equals, but for draws
    SimulatedGame("three", (60, 0, -60), (0.4, 0.1)),
    SimulatedGame("four", (100, 0, 0, -50), (0.3,)),
)


@dataclass(frozen=True, slots=True)
class League:
    """Players with true strengths, in points of Elo, and the matches that they played."""

    strengths: dict[str, float]
    results: list[MatchResult]


def simulated_league(
    rng: np.random.Generator,
    n_players: int,
    n_matches: int,
    games: Sequence[SimulatedGame] = GAMES,
    spread: float = 200,
) -> League:
    """Return a league of players at random seats of random games; *spread* is the deviation of strengths, in Elo."""
    names = [f"player{number}" for number in range(n_players)]
    strengths = dict(zip(names, rng.normal(0, spread, n_players).tolist(), strict=True))
    results = []
    for number in rng.integers(len(games), size=n_matches):
        game = games[number]
        seated = [names[seat] for seat in rng.choice(n_players, len(game.roles), replace=False)]
        results.append(simulated_match(rng, game, seated, [strengths[name] for name in seated]))
    return League(strengths, results)


def simulated_match(
    rng: np.random.Generator, game: SimulatedGame, players: Sequence[str], strengths: Sequence[float]
) -> MatchResult:
    """Return the end of a match of *players* whose *strengths* are in points of Elo."""
    logits = [(one + two) / ELO_PER_LOGIT for one, two in zip(strengths, game.roles, strict=True)]
    weights = (1.0, *game.ties)
    goals, left, goal = [0] * len(logits), set(range(len(logits))), 100
    while left:
        sets = list(
            chain.from_iterable(combinations(sorted(left), size) for size in range(1, min(len(left), len(weights)) + 1))
        )
        odds = [weights[len(tied) - 1] * math.exp(sum(logits[role] for role in tied) / len(tied)) for tied in sets]
        drawn = rng.random() * sum(odds)
        chosen = sets[min(int(np.searchsorted(np.cumsum(odds), drawn)), len(sets) - 1)]
        for role in chosen:
            goals[role] = goal
        left, goal = left - set(chosen), goal - 10
    return MatchResult(game.name, tuple(players), tuple(goals))


@dataclass(slots=True)
class Coverage:
    """How often intervals had the truth in them, and those ahead were ahead.

    Attributes:
        intervals: how many intervals of players there were.
        covered: how many of them had the truth in them.
        roles: how many intervals of roles there were.
        roles_covered: how many of them had the truth in them.
        claimed: the sum of likelihoods of superiority, of whom it calls the better one of each pair.
        superior: how many of those are.
        pairs: how many pairs there were.
    """

    intervals: int = 0
    covered: int = 0
    roles: int = 0
    roles_covered: int = 0
    claimed: float = 0
    superior: int = 0
    pairs: int = 0

    def add(self, league: League, ratings: Ratings, games: Sequence[SimulatedGame] = GAMES) -> None:
        """Count what *ratings* say of *league*."""
        strengths = {rating.player: league.strengths[rating.player] for rating in ratings.players}
        shift = 1500 - sum(strengths.values()) / len(strengths)
        self.intervals += len(ratings.players)
        self.covered += sum(rating.low <= strengths[rating.player] + shift <= rating.high for rating in ratings.players)
        truth = {game.name: game.roles for game in games}
        for role in ratings.roles:
            effects = truth[role.game]
            self.roles += 1
            self.roles_covered += role.low <= effects[role.role] - sum(effects) / len(effects) <= role.high
        for better, other in combinations([rating.player for rating in ratings.players], 2):
            self.pairs += 1
            self.claimed += ratings.superiority(better, other)
            self.superior += strengths[better] > strengths[other]


def measured_coverage(
    rng: np.random.Generator, n_leagues: int, n_players: int, n_matches: int, spread: float
) -> Coverage:
    """Return the coverage over *n_leagues* simulated leagues."""
    coverage = Coverage()
    for _ in range(n_leagues):
        league = simulated_league(rng, n_players, n_matches, spread=spread)
        coverage.add(league, fit_ratings(league.results))
    return coverage


def disagreement_with_choix(rng: np.random.Generator, n_players: int, n_matches: int) -> float:
    """Return how far any rating is from that by `choix`, in points of Elo, in a game without draws and role effects."""
    import choix  # noqa: PLC0415 -- it is slow to load, and nothing else needs it

    results = simulated_league(rng, n_players, n_matches, [FAIR]).results
    ratings = fit_ratings(results, has_role_effects=False)
    numbers = {rating.player: number for number, rating in enumerate(ratings.players)}
    wins = [
        (numbers[result.players[result.goals.index(100)]], numbers[result.players[1 - result.goals.index(100)]])
        for result in results
    ]
    penalty = (ELO_PER_LOGIT / PRIOR_ELO) ** 2 / 2  # choix takes it times the sum of squares
    strengths = ELO_PER_LOGIT * choix.opt_pairwise(len(numbers), wins, alpha=penalty, tol=1e-8)
    ours = np.array([rating.elo for rating in ratings.players])
    return float(np.max(np.abs(ours - ours.mean() - strengths + strengths.mean())))


def pair_chances(elo: float, luck: float, tie: float) -> Floats:
    """Return the chances of 0, 1/2, 1, 3/2 and 2 points from a pair of matches, by the model of ratings.

    Args:
        elo: the normalised Elo that the player is ahead by.
        luck: what the first role is ahead by, in points of Elo.
        tie: how often equals draw: `delta` of the model.
    """

    def chances(lead: float) -> Floats:
        one, two = (_match_chances(lead + seat, tie) for seat in (luck, -luck))
        return np.convolve(one, two)

    lead = scipy.optimize.brentq(lambda lead: normalised_elo(chances(lead)) - elo, -2000, 2000, xtol=1e-10)
    return chances(lead)


def normalised_elo(chances: Floats) -> float:
    """Return the normalised Elo of matches (three *chances*) or pairs of matches (five)."""
    scores = np.linspace(0, 1, len(chances))
    mean = float(chances @ scores)
    deviation = math.sqrt(float(chances @ (scores - mean) ** 2) * (2 if len(chances) == 5 else 1))
    return (mean - 0.5) / deviation * ELO_PER_DEVIATION


def _match_chances(lead: float, tie: float) -> Floats:
    """Return the chances of loss, draw and win of a player that is ahead by *lead* points of Elo (Davidson)."""
    win = math.exp(lead / ELO_PER_LOGIT / 2)
    odds = np.array([1 / win, tie, win])
    chances: Floats = odds / odds.sum()
    return chances


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What many tests said: how many accepted H1, of how many, and after how many observations in the mean."""

    accepted: int
    n_tests: int
    mean_length: float


def simulated_tests(rng: np.random.Generator, test: SprtTest, chances: Floats, n_tests: int) -> Verdicts:
    """Return what *n_tests* runs of *test* said, looking after each observation, where outcomes have *chances*."""
    counts = np.zeros((n_tests, len(chances)), dtype=np.int64)
    running, accepted, length = np.arange(n_tests), 0, 0
    while len(running):
        counts[running, rng.choice(len(chances), len(running), p=chances)] += 1
        ratios = test.llrs(counts[running])
        length += len(running)
        accepted += int(np.sum(ratios >= test.upper))
        running = running[(ratios > test.lower) & (ratios < test.upper)]
    return Verdicts(accepted, n_tests, length / n_tests)


_TESTS: Final = ((0, 100, 150, 0.5), (0, 100, 0, 8), (0, 100, 0, 0), (-30, 30, 150, 0.5), (0, 60, 0, 0.5))
"""Of each kind of tests: the hypotheses, the luck of the first seat in points of Elo, and `delta` of draws."""


def coverage_page(rng: np.random.Generator, n_leagues: int) -> Iterator[str]:
    """Yield the lines of the table of coverage."""
    yield "| players | matches | spread | intervals | cover the truth | roles' do | superiority claimed | true |"
    yield "| --: " * 8 + "|"
    for n_players, n_matches, spread in ((6, 60, 200), (12, 300, 100), (12, 300, 200), (12, 300, 400), (30, 1500, 200)):
        found = measured_coverage(rng, n_leagues, n_players, n_matches, spread)
        cells = (
            n_players, n_matches, f"{spread} Elo", found.intervals, _percent(found.covered, found.intervals),
            _percent(found.roles_covered, found.roles), _percent(found.claimed, found.pairs),
            _percent(found.superior, found.pairs),
        )  # fmt: skip
        yield f"| {' | '.join(map(str, cells))} |"


def sprt_page(rng: np.random.Generator, n_tests: int) -> Iterator[str]:
    """Yield the lines of the table of error rates."""
    yield "| elo0, elo1 | seat | draws | H0 true: accepts H1 | H1 true: accepts H0 | pairs if H0 | pairs if H1 |"
    yield "| --- " + "| --: " * 6 + "|"
    for low, high, luck, tie in _TESTS:
        test = SprtTest(low, high)
        none, some = (simulated_tests(rng, test, pair_chances(elo, luck, tie), n_tests) for elo in (low, high))
        cells = (
            f"{low}, {high}", f"{luck} Elo", f"{tie / (2 + tie):.0%}", _percent(none.accepted, n_tests),
            _percent(n_tests - some.accepted, n_tests), round(none.mean_length), round(some.mean_length),
        )  # fmt: skip
        yield f"| {' | '.join(map(str, cells))} |"


def time_to_fit(rng: np.random.Generator, n_players: int, n_matches: int) -> float:
    """Return how long ratings of so many players and matches take. *Units*: seconds."""
    results = simulated_league(rng, n_players, n_matches).results
    start = time.perf_counter()
    fit_ratings(results)
    return time.perf_counter() - start


def _percent(count: float, total: float) -> str:
    return f"{100 * count / total:.1f} %"


@click.command()
@click.option(
    "--leagues", type=click.IntRange(1), default=500, show_default=True, help="Simulated leagues of each kind."
)
@click.option(
    "--tests", type=click.IntRange(1), default=10_000, show_default=True, help="Simulated tests of each kind."
)
@click.option("--seed", type=int, default=0, show_default=True)
def command(leagues: int, tests: int, seed: int) -> None:
    """Print how often intervals cover the truth, how often tests err, agreement with choix and time, as Markdown."""
    rng = np.random.default_rng(seed)
    for line in coverage_page(rng, leagues):
        click.echo(line)
    click.echo(f"\nAt most {disagreement_with_choix(rng, 100, 5_000):.2g} Elo from choix, without role effects.")
    click.echo(f"1,000 players and 100,000 matches take {time_to_fit(rng, 1_000, 100_000):.1f} s to fit.\n")
    for line in sprt_page(rng, tests):
        click.echo(line)


if __name__ == "__main__":
    command()
