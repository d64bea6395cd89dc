"""The leaderboard that follows from results: players by their ratings, what each role is worth, and earlier ratings."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from server.storage.results import rated_results
from server.storage.rows import RatedResult
from server.tournament.ratings import Rating, RoleEffect, fit_ratings, rating_history
from server.tournament.table import outcomes

_N_FITS: Final = 20
_MOST_NEW: Final = 10
"""The curves are worked out anew when more than one in so many results is new."""


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """A player on a leaderboard: its rating, what it won, drew and lost, its errors, and when it last played.

    An older version is a player of its own; `name` is that of the player without it. `n_forfeits` are the matches that
    its errors lost it, in tournaments where so many lose one.
    """

    rank: int
    rating: Rating
    name: str
    outcomes: Mapping[str, int]
    n_errors: int
    n_forfeits: int
    last_ms: int

    @property
    def n_matches(self) -> int:
        """How many matches it played against others, also those that all have lost, which its rating leaves out."""
        return sum(self.outcomes.values())


@dataclass(frozen=True, slots=True)
class RatingCurves:
    """The ratings of all players at several times, the first ones first, and from how many results up to when."""

    n_results: int
    last_ms: int
    points: tuple[tuple[int, Mapping[str, Rating]], ...]

    def hold_for(self, found: Sequence[RatedResult]) -> bool:
        """Return whether few of the results *found* are new: many fits of many results take long."""
        return _MOST_NEW * sum(each.ended_ms > self.last_ms for each in found) <= self.n_results


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The players of a game, or of all games, the best first; what each role is worth; and earlier ratings.

    Attributes:
        last_ms: when the last match ended, 0 without any. *Units*: milliseconds since 1970.
    """

    rows: tuple[LeaderboardRow, ...]
    roles: tuple[RoleEffect, ...]
    n_matches: int
    curves: RatingCurves
    last_ms: int

    def row_of(self, player: str) -> LeaderboardRow | None:
        """Return the row of *player*; None where it has none."""
        return next((row for row in self.rows if row.rating.player == player), None)


def leaderboard_of(found: Sequence[RatedResult], kept: RatingCurves | None = None) -> Leaderboard:
    """Return the leaderboard of the results, which are in the order of time.

    The curves *kept* from an earlier time are good enough until a tenth of the results is new.
    """
    fitted = fit_ratings(rated_results(found))
    curves = kept if kept is not None and kept.hold_for(found) else _curves(found)
    rows = tuple(_rows(found, fitted.players))
    return Leaderboard(rows, fitted.roles, fitted.n_matches, curves, found[-1].ended_ms if found else 0)


def _rows(found: Sequence[RatedResult], ratings: Sequence[Rating]) -> Iterator[LeaderboardRow]:
    names = {one: name for each in found for one, name in zip(each.result.players, each.names, strict=False)}
    last_ms = {player: each.ended_ms for each in found for player in each.result.players}
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    n_errors: Counter[str] = Counter()
    n_forfeits: Counter[str] = Counter()
    for each in found:
        for player, errors in zip(each.result.players, each.result.errors, strict=True):
            n_errors[player] += errors
        for player, made in outcomes([each.result], each.rules).items():
            counts[player].update(made)
        n_forfeits.update(each.lost)
    for rank, rating in enumerate(ratings, 1):
        player = rating.player
        name = names.get(player, player)
        spoilt = n_errors[player], n_forfeits[player]
        yield LeaderboardRow(rank, rating, name, counts[player], *spoilt, last_ms[player])


def _curves(found: Sequence[RatedResult]) -> RatingCurves:
    telling = [each for each in found if each.rated is not None]
    history = rating_history(rated_results(telling), _N_FITS)
    points = tuple((telling[each.n_results - 1].ended_ms, each.ratings) for each in history)
    return RatingCurves(len(found), found[-1].ended_ms if found else 0, points)
