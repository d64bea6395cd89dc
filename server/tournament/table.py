"""The standings of a tournament as people and scripts read them: scores, ratings with intervals, errors, times."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from server.tournament.fixtures import MatchResult
from server.tournament.plan import TournamentFormat
from server.tournament.progress import NOTABLE_SHARE, PlayedMatch, Progress, sprt_counts
from server.tournament.ratings import Ratings
from server.tournament.standings import ScoringRules, Standing, counted_goals, standings
from server.tournament.swiss import byes

_SURE: Final = 0.999


@dataclass(frozen=True, slots=True)
class TableRow:
    """A player in the table of a tournament.

    Attributes:
        score: what counts, by the measure of the plan.
        mean_goal: the mean of its goals.
        elo: its rating, with `elo_low` and `elo_high` the ends of the 95 % interval; None without matches that tell.
        los: the likelihood that it is stronger than the best of the others.
        thinking_s: how long it thought for all its moves.
        decided_by: the tie-break that parts it from the player before it.
    """

    rank: int
    player: str
    matches: int
    score: float
    wins: int
    draws: int
    losses: int
    mean_goal: float
    elo: float | None
    elo_low: float | None
    elo_high: float | None
    los: float | None
    errors: int
    thinking_s: float
    moves: int
    decided_by: str | None

    def as_json(self) -> dict[str, Any]:
        """Return the row as `--json` prints it."""
        return {
            "rank": self.rank, "player": self.player, "matches": self.matches, "score": round(self.score, 4),
            "wins": self.wins, "draws": self.draws, "losses": self.losses, "meanGoal": round(self.mean_goal, 2),
            "elo": _rounded(self.elo), "eloLow": _rounded(self.elo_low), "eloHigh": _rounded(self.elo_high),
            "los": None if self.los is None else round(self.los, 4), "errors": self.errors,
            "thinkingSeconds": round(self.thinking_s, 3), "moves": self.moves, "decidedBy": self.decided_by,
        }  # fmt: skip


def _rounded(elo: float | None) -> float | None:
    return None if elo is None else round(elo, 1)


def table_of(progress: Progress) -> tuple[TableRow, ...]:
    """Return the table of a tournament so far, the best first."""
    plan, results = progress.plan, progress.results
    ratings = progress.ratings
    counts = outcomes(results, plan.scoring)
    spent = _spent(progress.played)
    free_rounds = byes(progress.competition) if plan.format is TournamentFormat.SWISS else ()
    return tuple(
        _row(standing, counts[standing.name], spent[standing.name], results, ratings)
        for standing in standings(progress.competition, plan.scoring, free_rounds)
    )


def _row(
    standing: Standing, counts: Counter[str], spent: Counter[str], results: Iterable[MatchResult], ratings: Ratings
) -> TableRow:
    name = standing.name
    rated = {rating.player: rating for rating in ratings.players}
    rating = rated.get(name)
    goals = [result.goal_of(name) for result in results if name in result.players]
    return TableRow(
        standing.rank, name, standing.n_matches, standing.score, counts["wins"], counts["draws"], counts["losses"],
        sum(goals) / len(goals) if goals else 0.0,
        rating.elo if rating else None, rating.low if rating else None, rating.high if rating else None,
        superiority(name, ratings), spent["errors"], spent["thinking_ms"] / 1000, spent["moves"],
        None if standing.decided_by is None else str(standing.decided_by),
    )  # fmt: skip


def superiority(name: str, ratings: Ratings) -> float | None:
    """Return the likelihood that *name* is stronger than the best of the others; None where there is no rating."""
    others = [rating.player for rating in ratings.players if rating.player != name]
    if not others or len(others) == len(ratings.players):
        return None
    return ratings.superiority(name, others[0])


def outcomes(results: Iterable[MatchResult], rules: ScoringRules) -> defaultdict[str, Counter[str]]:
    """Return how many matches each player won, drew and lost: its goal against the best of the others'."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for result in results:
        goals = counted_goals(result, rules)
        for place, player in enumerate(result.players):
            others = [goal for other, goal in enumerate(goals) if other != place]
            if others:
                best = max(others)
                counts[player]["wins" if goals[place] > best else "draws" if goals[place] == best else "losses"] += 1
    return counts


def _spent(played: Iterable[PlayedMatch]) -> defaultdict[str, Counter[str]]:
    spent: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for match in played:
        for place, player in enumerate(match.result.players):
            spent[player]["errors"] += match.result.errors[place]
            spent[player]["thinking_ms"] += match.thinking_ms[place]
            spent[player]["moves"] += match.n_moves[place]
    return spent


def is_short(played: PlayedMatch) -> bool:
    """Return whether processes waited for a core for a notable share of the time of a match."""
    return (played.waited_share or 0.0) > NOTABLE_SHARE


def summary(progress: Progress) -> dict[str, Any]:
    """Return a tournament as `--json` prints it."""
    return {
        "format": progress.plan.format.value,
        "games": list(progress.plan.games),
        "matches": len(progress.played),
        "scheduled": len(progress.scheduled),
        "matchesShortOfCores": sum(map(is_short, progress.played)),
        "standings": [row.as_json() for row in table_of(progress)],
        "sprt": sprt_summary(progress),
    }


def verdict(progress: Progress) -> str | None:
    """Return in a sentence who of two players is ahead, by how much, and how sure that is; None for other numbers."""
    if len(progress.ratings.players) != 2:
        return None
    first, second = (rating.player for rating in progress.ratings.players)
    elo, low, high = progress.ratings.lead(first, second)
    los = progress.ratings.superiority(first, second)
    if round(elo) == 0:
        return f"{first} and {second} are level so far (95 %: {low:.0f} to {high:.0f} Elo)"
    sureness = "more than 99.9" if los > _SURE else f"{100 * los:.1f}"
    told = f"{first} is ahead of {second} by {elo:.0f} Elo (95 %: {low:.0f} to {high:.0f})"
    return f"{told}, and the stronger one with a likelihood of {sureness} %"


def shortage(progress: Progress) -> str | None:
    """Return in a sentence in how many matches players waited for cores; None where in none."""
    n_short = sum(map(is_short, progress.played))
    if not n_short:
        return None
    told = f"In {n_short} of {len(progress.played)} matches players waited for a core for more than a tenth of the time"
    return f"{told}, so that their results may be the machine's: close other programs, or give longer clocks"


def sprt_summary(progress: Progress) -> dict[str, Any] | None:
    """Return how the sequential test stands; None where the plan has none."""
    sprt = progress.plan.sprt
    if sprt is None:
        return None
    test, counts = sprt.test, sprt_counts(progress)
    return {
        "elo0": sprt.elo0, "elo1": sprt.elo1, "alpha": sprt.alpha, "beta": sprt.beta, "pentanomial": list(counts),
        "llr": round(test.llr(counts), 3), "lower": round(test.lower, 3), "upper": round(test.upper, 3),
        "decision": test.decision(counts).value,
    }  # fmt: skip


def head_to_head(results: Sequence[MatchResult], players: Sequence[str], rules: ScoringRules) -> list[list[str]]:
    """Return the cross table: what each of *players* made against each other, as `points/matches`."""
    points: defaultdict[tuple[str, str], float] = defaultdict(float)
    n_matches: Counter[tuple[str, str]] = Counter()
    for result in results:
        goals = counted_goals(result, rules)
        for i, one in enumerate(result.players):
            for j, other in enumerate(result.players):
                if i != j and one != other:
                    points[one, other] += rules.points(goals[i], goals[j])
                    n_matches[one, other] += 1
    return [
        ["" if not n_matches[one, other] else f"{points[one, other]:g}/{n_matches[one, other]}" for other in players]
        for one in players
    ]
