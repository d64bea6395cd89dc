"""Competitions that are played without games: results from a function of the match."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from server.arena.plan_file import plan_of
from server.tournament.competition import Competition, Schedule, next_matches
from server.tournament.fixtures import Entrant, MatchResult, ScheduledMatch, TournamentGame, derived_seed
from server.tournament.progress import PlayedMatch, Progress
from server.tournament.round_robin import RoundRobin

Play = Callable[[ScheduledMatch], tuple[int, ...]]


def competition_of(n: int, *n_roles: int, seed: int = 0) -> Competition:
    """Return a competition of entrants p1, p2, ... in games g1, g2, ... with so many roles."""
    entrants = tuple(Entrant(f"p{i}") for i in range(1, n + 1))
    games = tuple(TournamentGame(f"g{i}", roles) for i, roles in enumerate(n_roles or (2,), 1))
    return Competition(entrants, games, seed)


def by_rank(match: ScheduledMatch) -> tuple[int, ...]:
    """Return goals with which the smaller number in a name wins."""
    return tuple(100 - int(name[1:]) for name in match.players)


def by_lot(seed: int) -> Play:
    """Return a play with goals of 0, 50 or 100 that *seed* decides."""
    return lambda match: tuple(derived_seed(seed, match.match_id, name) % 3 * 50 for name in match.players)


def result_of(match: ScheduledMatch, goals: Iterable[int]) -> MatchResult:
    return MatchResult(match.game, match.players, tuple(goals), (0,) * len(match.players), match.match_id)


def schedule_next(schedule: Schedule, competition: Competition) -> Competition:
    return replace(competition, scheduled=(*competition.scheduled, *next_matches(schedule, competition)))


def play_open(competition: Competition, play: Play) -> Competition:
    results = tuple(result_of(match, play(match)) for match in competition.open_matches)
    return replace(competition, results=(*competition.results, *results))


def play_all(schedule: Schedule, competition: Competition, play: Play = by_rank) -> Competition:
    """Return the competition when it is over."""
    while matches := next_matches(schedule, competition):
        competition = replace(competition, scheduled=(*competition.scheduled, *matches))
        competition = play_open(competition, play)
    return competition


_LOPSIDED = plan_of(
    {"games": ["tictactoe"], "players": {"=1+1": "random", "<b>": "legal"}, "rounds": 2, "sprt": {}}, Path("plan")
)
_TICTACTOE = (TournamentGame("tictactoe", 2),)


def lopsided_progress() -> Progress:
    """Return a tournament whose first player has won three of four matches and drawn one; the second seat erred."""
    before = Progress(_LOPSIDED, _TICTACTOE, (), ())
    scheduled = next_matches(RoundRobin(2), before.competition)
    goals = [(100, 0) if match.players[0] == "=1+1" else (0, 100) for match in scheduled]
    goals[3] = (50, 50)
    played = tuple(
        PlayedMatch(
            MatchResult(match.game, match.players, found, (0, 1), match.match_id),
            (1000, 2000),
            (2, 2),
            4,
            7,
            0.5 * (n == 0),
        )
        for n, (match, found) in enumerate(zip(scheduled, goals, strict=True))
    )
    return Progress(_LOPSIDED, _TICTACTOE, scheduled, played)
