"""A tournament so far: its plan, what was scheduled and played, what comes next, and its table."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, Final

from server.tournament.competition import Competition, next_matches
from server.tournament.fixtures import Entrant, MatchResult, ScheduledMatch, TournamentGame
from server.tournament.knockout import Knockout
from server.tournament.ladder import NEWCOMER, Estimate, Ladder
from server.tournament.plan import TournamentFormat, TournamentPlan
from server.tournament.ratings import Ratings, fit_ratings
from server.tournament.sprt import Decision, pentanomial
from server.tournament.standings import ScoringRules, Standing, losers, points_between, rated_goals, standings
from server.tournament.swiss import byes

NOTABLE_SHARE: Final = 0.1
"""A match in which processes waited for a core for a larger share of its time is marked."""
NOTABLE_MS: Final = 1_000
"""Where no player thought for so long in all, it did not matter."""


@dataclass(frozen=True, slots=True)
class PlayedMatch:
    """A match that is over: its result, and what else the standings show of it.

    Attributes:
        thinking_ms: how long each player thought, in the order of the roles.
        n_moves: how many moves each made.
        n_steps: how many steps the match had.
        waited_share: the share of the match's time in which a process waited for a core; None if the system tells none.
    """

    result: MatchResult
    thinking_ms: tuple[int, ...] = ()
    n_moves: tuple[int, ...] = ()
    n_steps: int = 0
    ended_ms: int = 0
    waited_share: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Return what `played_match` reads."""
        return asdict(self)


def played_match(fields: Mapping[str, Any]) -> PlayedMatch:
    """Return the match that a line of the results holds.

    Raises:
        LookupError: the line holds something else.
        TypeError: the line holds something else.
        ValueError: the line holds something else.
    """
    return PlayedMatch(**{**_with_tuples(fields), "result": MatchResult(**_with_tuples(fields["result"]))})


def _with_tuples(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}


@dataclass(frozen=True)
class Progress:
    """A tournament so far, as schedules, the live table and the standings read it.

    Attributes:
        games: the games of the plan, as schedules see them.
        scheduled: the matches that were scheduled, in their order.
        ended: the matches that are over, in the order of their ends, also those that do not count.
        playing: the matches that are played now.
        is_decided: whether the sequential test has ended the tournament.
        entered: the entrants, where some came late or have withdrawn; else they are those of the plan.
        annulled: the ids of matches that do not count, and are not played again.
        replayed: the ids of matches that do not count, and are played again.
    """

    plan: TournamentPlan
    games: tuple[TournamentGame, ...]
    scheduled: tuple[ScheduledMatch, ...]
    ended: tuple[PlayedMatch, ...]
    playing: tuple[ScheduledMatch, ...] = ()
    is_decided: bool = False
    entered: tuple[Entrant, ...] | None = None
    annulled: frozenset[str] = frozenset()
    replayed: frozenset[str] = frozenset()

    @cached_property
    def played(self) -> tuple[PlayedMatch, ...]:
        """The matches that are over and count, in the order of their ends."""
        void = self.annulled | self.replayed
        return tuple(played for played in self.ended if played.result.match_id not in void)

    @cached_property
    def results(self) -> tuple[MatchResult, ...]:
        """The results that count, in the order of the ends of their matches."""
        return tuple(played.result for played in self.played)

    @cached_property
    def competition(self) -> Competition:
        """What schedules and standings read."""
        return Competition(
            self.plan.entrants if self.entered is None else self.entered,
            self.games, self.plan.seed, self.scheduled, self.results, self.annulled, self.replayed,
        )  # fmt: skip

    @cached_property
    def rated_results(self) -> tuple[MatchResult, ...]:
        """The results that tell who is stronger, with goals in the order that counts.

        What substitutes won for a player counts for the others. Matches to which a player did not come, and those that
        all have lost, tell nothing.
        """
        rules = self.plan.scoring
        return tuple(
            replace(result, goals=rated_goals(result, rules))
            for result in self.results
            if not (result.forfeited or losers(result, rules).issuperset(result.players))
        )

    @cached_property
    def ratings(self) -> Ratings:
        """The ratings of the players."""
        return fit_ratings(self.rated_results)

    def next_matches(self, busy: Collection[str] = ()) -> tuple[ScheduledMatch, ...]:
        """Return the matches that are scheduled next; in a ladder none for the players that are *busy*."""
        return next_matches(self.plan.schedule() or self._ladder(busy), self.competition)

    def _ladder(self, busy: Collection[str]) -> Ladder:
        """Return the schedule of a ladder after the results so far."""
        estimates = {each.player: Estimate(each.elo, each.deviation) for each in self.ratings.players}
        names = self.competition.names
        left = self.plan.n_rounds - self.competition.last_round
        known = {name: estimates.get(name, NEWCOMER) for name in names}
        return Ladder(known, [name for name in names if name not in busy], min(1, max(0, left)))


def sprt_counts(progress: Progress) -> tuple[int, ...]:
    """Return the counts of pairs of matches between the two players that the sequential test reads."""
    first, second = progress.plan.players
    return pentanomial(_whole_sets(progress), first, second)


def _whole_sets(progress: Progress) -> Iterator[MatchResult]:
    """Yield the rated results of the sets of which both matches are rated, so that those of a set are one pair."""
    by_id = {result.match_id: result for result in progress.rated_results}
    by_set: defaultdict[str, list[MatchResult]] = defaultdict(list)
    for match in progress.scheduled:
        if match.match_id in by_id:
            by_set[match.set_id].append(by_id[match.match_id])
    return chain.from_iterable(results for results in by_set.values() if len(results) == 2)


def is_decided(progress: Progress) -> bool:
    """Return whether the sequential test of the plan, if it has one, has decided."""
    sprt = progress.plan.sprt
    return sprt is not None and sprt.test.decision(sprt_counts(progress)) is not Decision.CONTINUE


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
    return tuple(
        _row(standing, counts[standing.name], spent[standing.name], results, ratings)
        for standing in _standings(progress)
    )


def _standings(progress: Progress) -> tuple[Standing, ...]:
    """Return the standings, by the places of the format where it decides on them, else by the scores."""
    plan, competition = progress.plan, progress.competition
    schedule = plan.schedule()
    groups = schedule.places(competition) if isinstance(schedule, Knockout) else None
    free_rounds = byes(competition) if plan.format is TournamentFormat.SWISS else ()
    return standings(competition, plan.scoring, free_rounds, groups=groups)


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
    """Return how many matches each player won, drew and lost: its goal against the best of the others'.

    A match that all have lost whatever the goals are is a loss of each.
    """
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for result in results:
        goals = rated_goals(result, rules)
        lost = losers(result, rules)
        for place, player in enumerate(result.players):
            others = [goal for other, goal in enumerate(goals) if other != place]
            if others:
                best = max(others)
                is_draw = goals[place] == best and player not in lost
                counts[player]["draws" if is_draw else "wins" if goals[place] > best else "losses"] += 1
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
    """Return whether processes waited for a core for a notable share of a match in which players thought for long."""
    return (played.waited_share or 0.0) > NOTABLE_SHARE and max(played.thinking_ms, default=0) >= NOTABLE_MS


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
    where = f"In {n_short} of {len(progress.played)} matches"
    told = f"{where} processes of this machine waited for a core for more than a tenth of the time"
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
        for two, found in points_between([result], rules).items():
            points[two] += found
            n_matches[two] += 1
    return [
        ["" if not n_matches[one, other] else f"{points[one, other]:g}/{n_matches[one, other]}" for other in players]
        for one in players
    ]
