"""How the matches of a tournament are played: by an executor, here that of this machine."""

import re
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from gdl.game import Game, played_roles
from server.arena.player_processes import PlayerProcesses
from server.hosting.cores import CoreBudget
from server.hosting.runner import MatchRunner
from server.match.chance import new_random_token
from server.match.referee import AdaptiveEvaluator, LocalReferee
from server.match.setup import MatchSetup
from server.records.entries import Circumstances
from server.records.journal import FileRecorder
from server.tournament.fixtures import ScheduledMatch
from server.tournament.plan import TournamentPlan

_PRESSURE: Final = Path("/proc/pressure/cpu")
_TOTAL: Final = re.compile(r"^some .*total=([0-9]+)$", re.MULTILINE)


def waited_us() -> int | None:
    """Return for how long at least one process of the machine has waited for a core since its start.

    None where the system does not count it. *Units*: microseconds.

    *Source*: Linux, Documentation/accounting/psi.rst.
    """
    try:
        found = _TOTAL.search(_PRESSURE.read_text("ascii"))
    except OSError:
        return None
    return None if found is None else int(found[1])


class WaitingTime:
    """How long processes waited for a core while a match was played, as a share of the match's time."""

    def __init__(self, now_s: float) -> None:
        self._began_s, self._began_us = now_s, waited_us()

    def share(self, now_s: float) -> float | None:
        """Return the share from the beginning to *now_s*; None where the system does not count it."""
        ended_us, elapsed_s = waited_us(), now_s - self._began_s
        if ended_us is None or self._began_us is None or elapsed_s <= 0:
            return None
        return min(1.0, (ended_us - self._began_us) / 1e6 / elapsed_s)


@dataclass(frozen=True, slots=True)
class PlayedRecord:
    """The record of a match, and the share of its time in which a process waited for a core, where that is known."""

    record: dict[str, Any]
    waited_share: float | None = None


class MatchExecutor(Protocol):
    """Plays matches of one tournament."""

    async def n_at_once(self) -> int:
        """Return how many matches may be begun and not over, at the moment."""

    async def play(self, match: ScheduledMatch) -> PlayedRecord:
        """Play *match*, and return its record; when this is cancelled, the match is given up.

        Raises:
            PlayerStartError: a player's process ended, and did not come up again.
            ClusterError: the match is played on a cluster, which failed.
        """


class LocalExecutor:
    """Plays matches of *plan* on this machine.

    *games* has the games of the plan by name, *n_cores* is on how many cores players of this machine think, and
    *concurrency* how many matches are played at once, whatever players they have.
    """

    def __init__(
        self,
        plan: TournamentPlan,
        games: Mapping[str, Game],
        processes: PlayerProcesses,
        n_cores: int,
        concurrency: int,
    ) -> None:
        self._plan, self._games, self._processes = plan, games, processes
        self._budget, self._concurrency = CoreBudget(n_cores), concurrency
        self._evaluators: defaultdict[str, AdaptiveEvaluator] = defaultdict(AdaptiveEvaluator)

    async def n_at_once(self) -> int:
        """Return how many matches may be begun and not over."""
        return self._concurrency

    async def play(self, match: ScheduledMatch) -> PlayedRecord:
        """Play *match* once it has its cores, and return its record; raises as `MatchExecutor.play`."""
        n_core_slots = min(self._budget.n_slots, self._processes.n_core_slots(match.players))
        self._budget.request(match.match_id, n_core_slots)
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
        players = {role: await self._processes.player(name) for role, name in seats}
        setup = MatchSetup(
            tuple(player.seat(role, plan.profile) for role, player in players.items()),
            plan.start_clock, plan.play_clock,
            match_id=match.match_id, seed=match.seed, scramble_seed=match.scramble_seed, substitute=plan.substitute,
        )  # fmt: skip
        recorder = FileRecorder(Circumstances(match.game, new_random_token()))
        referee = LocalReferee(game, self._evaluators[match.game])
        return await MatchRunner(setup, players, referee, recorder).play()
