"""Two players compared in this process, match by match, until a sequential test is sure: what `ggp train` ends with."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar, Final

from gdl.errors import CallerError
from gdl.game import Game, played_roles
from players.kit.local_match import LocalMatch
from players.player import MakePlayer
from server.measuring.accuracy import wilson
from server.tournament.fixtures import MatchResult
from server.tournament.sprt import Decision, SprtTest, pentanomial

TEST: Final = SprtTest(0.0, 50.0)
"""Whether the first player is stronger at all, or by 50 points of normalised Elo."""
_NAMES: Final = ("first", "second")
_GAME: Final = "game"
_WARM_STEPS: Final = 2
_START_CLOCK_S: Final = 5.0
"""How long both may prepare: what loads kernels or a network in a thread is ready by then."""


class TwoRolesError(CallerError):
    """Two players cannot be compared by a game that has not two roles."""

    template: ClassVar[str] = "players are compared by games of two roles, and these are {roles}"
    roles: Sequence[str]


@dataclass(frozen=True)
class Comparison:
    """The matches so far between two players, of which the first is judged."""

    results: tuple[MatchResult, ...] = ()
    test: SprtTest = TEST

    @cached_property
    def by_points(self) -> Counter[float]:
        """How many matches brought the first player 1, 1/2 and 0 points."""
        seats = ((result, result.players.index(_NAMES[0])) for result in self.results)
        return Counter(result.points(seat, 1 - seat) for result, seat in seats)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the first player's share of the points."""
        return wilson(self.by_points[1.0] + self.by_points[0.5] / 2, len(self.results))

    @property
    def llr(self) -> float:
        """The log-likelihood ratio of the test, over pairs of matches with roles exchanged."""
        return self.test.llr(pentanomial(self.results, *_NAMES))

    @property
    def decision(self) -> Decision:
        """What the test says."""
        return self.test.decision(pentanomial(self.results, *_NAMES))

    def as_json(self) -> dict[str, Any]:
        """Return the figures for a script."""
        points, n = self.by_points, len(self.results)
        low, high = self.interval
        return {
            "matches": n,
            "won": points[1.0],
            "drawn": points[0.5],
            "lost": points[0.0],
            "share": round((points[1.0] + points[0.5] / 2) / n, 4) if n else None,
            "low": round(low, 4),
            "high": round(high, 4),
            "llr": round(self.llr, 3),
            "decision": str(self.decision),
        }


def check_comparable(game: Game) -> None:
    """Raise TwoRolesError where the game has not two roles beside chance."""
    roles = played_roles(game)
    if len(roles) != len(_NAMES):
        raise TwoRolesError([role.name for role in roles])


def compare(
    game: Game, makers: Sequence[MakePlayer], play_clock_s: float, n_matches: int, *, seed: int = 1
) -> Iterator[Comparison]:
    """Play pairs of matches with roles exchanged, yielding how it stands after each match.

    They end after *n_matches*, which is made even, or when the test has decided. Clocks go by the processor time of
    this process. A pair before the first, which does not count, loads what is slow at first.

    Raises:
        TwoRolesError: the game has not two roles beside chance.
    """
    check_comparable(game)
    roles = played_roles(game)
    results: list[MatchResult] = []
    for number in range(-2, n_matches + n_matches % 2):
        order = _NAMES if number % 2 == 0 else _NAMES[::-1]
        players = {role: makers[_NAMES.index(name)]() for role, name in zip(roles, order, strict=True)}
        match = LocalMatch(
            game,
            players,
            seed + number // 2,
            play_clock_s,
            time.process_time,
            start_clock_s=max(play_clock_s, _START_CLOCK_S),
        )
        if number < 0:
            _warm_up(match)
            continue
        for _ in match.play():
            pass
        results.append(MatchResult(_GAME, order, tuple(match.state.goal(role) or 0 for role in roles)))
        now = Comparison(tuple(results))
        yield now
        if number % 2 and now.decision is not Decision.CONTINUE:
            return


def _warm_up(match: LocalMatch) -> None:
    for _ in islice(match.play(), _WARM_STEPS):
        pass
    for player in match.players.values():
        player.abort()
