"""Where the matches of a tournament are played, as the arena asks for it; here: on this machine."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from gdl.game import Game, played_roles
from server.arena.contestants import Contestants
from server.arena.processor_time import WaitingTime
from server.hosting.cores import CoreBudget
from server.hosting.runner import MatchRunner
from server.match.referee import LocalReferee, PromptEvaluator
from server.match.setup import MatchSetup, new_random_token
from server.records.entries import Circumstances
from server.records.journal import FileRecorder
from server.tournament.fixtures import ScheduledMatch
from server.tournament.plan import TournamentPlan


@dataclass(frozen=True, slots=True)
class PlayedRecord:
    """The record of a match, and the share of its time in which a process waited for a core, where that is known."""

    record: dict[str, Any]
    waited_share: float | None = None


class Venue(Protocol):
    """Plays matches of one tournament."""

    async def n_at_once(self) -> int:
        """Return how many matches may be begun and not over, at the moment."""

    async def play(self, match: ScheduledMatch) -> PlayedRecord:
        """Play *match*, and return its record; when this is cancelled, the match is given up.

        Raises:
            PlayerStartError: a player's process ended, and did not come up again.
            ClusterError: the match is played on a cluster, which failed.
        """


class LocalVenue:
    """Plays matches of *plan* on this machine.

    *games* has the games of the plan by name, *n_cores* is on how many cores players of this machine think, and
    *concurrency* how many matches are played at once, whatever players they have.
    """

    def __init__(
        self,
        plan: TournamentPlan,
        games: Mapping[str, Game],
        contestants: Contestants,
        n_cores: int,
        concurrency: int,
    ) -> None:
        self._plan, self._games, self._contestants = plan, games, contestants
        self._budget, self._concurrency = CoreBudget(n_cores), concurrency
        self._evaluators: defaultdict[str, PromptEvaluator] = defaultdict(PromptEvaluator)

    async def n_at_once(self) -> int:
        """Return how many matches may be begun and not over."""
        return self._concurrency

    async def play(self, match: ScheduledMatch) -> PlayedRecord:
        """Play *match* once it has its cores, and return its record; raises as `Venue.play`."""
        n_slots = min(self._budget.n_slots, self._contestants.n_core_slots(match.players))
        self._budget.request(match.match_id, n_slots)
        try:
            await self._budget.granted(match.match_id)
            waiting = WaitingTime(time.monotonic())
            record = await self._record(match)
            return PlayedRecord(record, waiting.share(time.monotonic()))
        finally:
            self._budget.release(match.match_id)

    async def _record(self, match: ScheduledMatch) -> dict[str, Any]:
        plan, game = self._plan, self._games[match.game]
        seats = zip(played_roles(game), match.players, strict=True)
        players = {role: await self._contestants.player(name) for role, name in seats}
        setup = MatchSetup(
            tuple(player.seat(role, plan.profile) for role, player in players.items()),
            plan.start_clock, plan.play_clock,
            match_id=match.match_id, seed=match.seed, scramble_seed=match.scramble_seed, substitute=plan.substitute,
        )  # fmt: skip
        recorder = FileRecorder(Circumstances(match.game, new_random_token()))
        referee = LocalReferee(game, self._evaluators[match.game])
        return await MatchRunner(setup, players, referee, recorder).play()
