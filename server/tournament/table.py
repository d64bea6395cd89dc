"""The table of a tournament: places, what each player won, drew and lost, ratings, and players head to head."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from gdl.quantities import quantity
from server.tournament.fixtures import MatchResult
from server.tournament.knockout import Knockout
from server.tournament.plan import TournamentFormat
from server.tournament.progress import PlayedMatch, Progress
from server.tournament.ratings import Rating, Ratings
from server.tournament.scoring import ScoringRules, losers, mean_goals, points_between, rated_goals
from server.tournament.standings import Standing, standings
from server.tournament.swiss import byes


@dataclass(frozen=True, slots=True)
class TableRow:
    """A player in the table of a tournament.

    Attributes:
        score: what counts, by the measure of the plan.
        byes: how many rounds without opponents count in the score.
        mean_goal: the mean of its goals that count.
        rating: None without matches that tell.
        los: the likelihood that it is stronger than the best of the others.
        thinking_s: how long it thought for all its moves.
        decided_by: the tie-break that parts it from the player before it, in a knockout from the one that put it out.
        forfeits: how many matches it has lost whatever the goals are, by its absence or its errors.
    """

    rank: int
    player: str
    matches: int
    score: float
    wins: int
    draws: int
    losses: int
    byes: int
    mean_goal: float
    rating: Rating | None
    los: float | None
    errors: int
    thinking_s: float
    moves: int
    decided_by: str | None
    forfeits: int = 0

    @property
    def won_drawn_lost(self) -> str:
        """What it won, drew and lost, and its byes where it has some: `3-0-1, 1 bye`."""
        made = f"{self.wins}-{self.draws}-{self.losses}"
        return f"{made}, {quantity(self.byes, 'bye')}" if self.byes else made

    def as_json(self) -> dict[str, Any]:
        """Return the row as `--json` prints it."""
        rating = self.rating
        points = (None, None, None) if rating is None else (rating.elo, rating.low, rating.high)
        elo, elo_low, elo_high = (None if each is None else round(each, 1) for each in points)
        return {
            "rank": self.rank, "player": self.player, "matches": self.matches, "score": round(self.score, 4),
            "wins": self.wins, "draws": self.draws, "losses": self.losses, "byes": self.byes,
            "meanGoal": round(self.mean_goal, 2), "elo": elo, "eloLow": elo_low, "eloHigh": elo_high,
            "los": None if self.los is None else round(self.los, 4), "errors": self.errors,
            "thinkingSeconds": round(self.thinking_s, 3), "moves": self.moves, "decidedBy": self.decided_by,
            "forfeits": self.forfeits,
        }  # fmt: skip


def table_of(progress: Progress) -> tuple[TableRow, ...]:
    """Return the table of a tournament so far, the best first."""
    plan, results = progress.plan, progress.results
    ratings = progress.ratings
    goals = mean_goals(results, plan.scoring)
    counts = outcomes(results, plan.scoring)
    spent = _spent(progress.played, plan.scoring)
    return tuple(
        _row(standing, goals.get(standing.name, 0.0), counts[standing.name], spent[standing.name], ratings)
        for standing in _standings(progress)
    )


def _standings(progress: Progress) -> tuple[Standing, ...]:
    """Return the standings, by the places of the format where it decides on them, else by the scores."""
    plan, competition = progress.plan, progress.competition
    schedule = plan.schedule()
    if isinstance(schedule, Knockout):
        groups, out_by_rank = schedule.places(competition), schedule.out_by_rank(competition)
        return standings(competition, plan.scoring, groups=groups, out_by_rank=out_by_rank)
    free_rounds = byes(competition) if plan.format is TournamentFormat.SWISS else ()
    return standings(competition, plan.scoring, free_rounds)


def _row(standing: Standing, mean_goal: float, counts: Counter[str], spent: Counter[str], ratings: Ratings) -> TableRow:
    name = standing.name
    rated = {rating.player: rating for rating in ratings.players}
    return TableRow(
        rank=standing.rank,
        player=name,
        matches=standing.n_matches,
        score=standing.score,
        wins=counts["wins"],
        draws=counts["draws"],
        losses=counts["losses"],
        byes=standing.n_byes,
        mean_goal=mean_goal,
        rating=rated.get(name),
        los=superiority(name, ratings),
        errors=spent["errors"],
        thinking_s=spent["thinking_ms"] / 1000,
        moves=spent["moves"],
        decided_by=None if standing.decided_by is None else str(standing.decided_by),
        forfeits=spent["forfeits"],
    )


def superiority(name: str, ratings: Ratings) -> float | None:
    """Return the likelihood that *name* is stronger than the best of the others; None where there is no rating."""
    others = [rating.player for rating in ratings.players if rating.player != name]
    if not others or len(others) == len(ratings.players):
        return None
    return ratings.superiority(name, others[0])


def outcomes(results: Iterable[MatchResult], rules: ScoringRules) -> defaultdict[str, Counter[str]]:
    """Return how many matches each player won, drew and lost: its best goal against the best of the others'.

    A match that all have lost whatever the goals are is a loss of each. One of a player with itself alone is none.
    """
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for result in results:
        lost = losers(result, rules)
        goals: dict[str, int] = {}
        for player, goal in zip(result.players, rated_goals(result, rules), strict=True):
            goals[player] = max(goal, goals.get(player, goal))
        for player, own in goals.items():
            best = max((goal for other, goal in goals.items() if other != player), default=None)
            if best is not None:
                is_draw = own == best and player not in lost
                counts[player]["draws" if is_draw else "wins" if own > best else "losses"] += 1
    return counts


def _spent(played: Iterable[PlayedMatch], rules: ScoringRules) -> defaultdict[str, Counter[str]]:
    spent: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for match in played:
        for player in losers(match.result, rules):
            spent[player]["forfeits"] += 1
        for place, player in enumerate(match.result.players):
            spent[player]["errors"] += match.result.errors[place]
            spent[player]["thinking_ms"] += match.thinking_ms[place]
            spent[player]["moves"] += match.n_moves[place]
    return spent


def head_to_head(
    results: Sequence[MatchResult],
    players: Sequence[str],
    rules: ScoringRules,
    written: Callable[[float], str] = "{:g}".format,
) -> list[list[str]]:
    """Return the cross table: what each of *players* made against each other, as `points/matches`, points *written*."""
    points: defaultdict[tuple[str, str], float] = defaultdict(float)
    n_matches: Counter[tuple[str, str]] = Counter()
    for result in results:
        for two, found in points_between([result], rules).items():
            points[two] += found
            n_matches[two] += 1

    def cell(two: tuple[str, str]) -> str:
        return f"{written(points[two])}/{n_matches[two]}" if n_matches[two] else ""

    return [[cell((one, other)) for other in players] for one in players]
