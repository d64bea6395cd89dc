"""A tournament so far: its plan, what was scheduled and played, and what comes next."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Final

from server.errors import ScheduleError
from server.tournament.competition import Competition, next_matches
from server.tournament.fixtures import Entrant, MatchResult, ScheduledMatch, TournamentGame
from server.tournament.ladder import Estimate, Ladder
from server.tournament.plan import TournamentPlan
from server.tournament.ratings import Ratings, fit_ratings
from server.tournament.scoring import rated_result
from server.tournament.sprt import Decision, pentanomial


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
        """The results that tell who is stronger, as `rated_result` gives them."""
        found = (rated_result(result, self.plan.scoring) for result in self.results)
        return tuple(result for result in found if result is not None)

    @cached_property
    def ratings(self) -> Ratings:
        """The ratings of the players."""
        return fit_ratings(self.rated_results)

    def next_matches(self, busy: Collection[str] = ()) -> tuple[ScheduledMatch, ...]:
        """Return the matches that are scheduled next; in a ladder none for the players that are *busy*.

        Raises:
            ScheduleError: the format has no schedule for the games and entrants, or the sequential test no game of two
                roles, so that it would never decide.
        """
        if self.plan.sprt is not None and all(game.n_roles != 2 for game in self.games):
            raise ScheduleError("a sequential test is of matches of two roles, which none of its games has")
        return next_matches(self.plan.schedule() or self._ladder(busy), self.competition)

    @property
    def is_over(self) -> bool:
        """Whether no match is left to play.

        Raises: as `next_matches`.
        """
        return self.is_decided or not (self.competition.open_matches or self.next_matches())

    def _ladder(self, busy: Collection[str]) -> Ladder:
        """Return the schedule of a ladder after the results so far."""
        estimates = {each.player: Estimate(each.elo, each.deviation) for each in self.ratings.players}
        free = [name for name in self.competition.names if name not in busy]
        left = self.plan.n_rounds - self.competition.last_round
        return Ladder(estimates, free, min(1, left))


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


N_ABSENCES: Final = 4
"""After how many matches without a move of its own a player of a sequential test is taken to be absent."""


def absent_players(progress: Progress) -> tuple[str, ...]:
    """Return the players who came to no match so far, or made no move of their own, where they had matches enough."""
    places = ((played, place) for played in progress.played for place in range(len(played.result.players)))
    came: defaultdict[str, list[bool]] = defaultdict(list)
    for played, place in places:
        came[played.result.players[place]].append(_came(played, place))
    return tuple(name for name in progress.plan.players if len(came[name]) >= N_ABSENCES and not any(came[name]))


def _came(played: PlayedMatch, place: int) -> bool:
    result = played.result
    n_errors = result.errors[place] if result.errors else 0
    return result.players[place] not in result.forfeited and not 0 < played.n_steps <= n_errors


def is_decided(progress: Progress) -> bool:
    """Return whether the sequential test of the plan, if it has one, has decided, or never will: a player is absent."""
    sprt = progress.plan.sprt
    if sprt is None:
        return False
    return sprt.test.decision(sprt_counts(progress)) is not Decision.CONTINUE or bool(absent_players(progress))
