"""Where the matches of a tournament are played, and by whom: on this machine, or elsewhere with the same interface."""

import asyncio
import os
import re
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, Self

from gdl.game import Game, Role, played_roles
from server.hosting.cores import SLOTS_PER_CORE, CoreBudget, n_slots
from server.hosting.runner import MatchRunner
from server.links import http_player, own_player, seating
from server.match.link import PlayerLink
from server.match.referee import LocalReferee, PromptEvaluator
from server.match.setup import MatchSetup, Profile, Seat, new_random_token
from server.records.entries import Circumstances
from server.records.journal import FileRecorder
from server.storage.rows import SeatKind
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
class RunningPlayer:
    """A player of a tournament at a seat of a match, called as the tournament calls it."""

    name: str
    spec: seating.PlayerSpec
    url: str | None = None

    @property
    def text(self) -> str:
        """How the player was named."""
        return self.spec.text

    @property
    def kind(self) -> SeatKind:
        """Which way leads to the player."""
        return self.spec.kind

    def seat(self, role: Role, profile: Profile) -> Seat:
        """Return the player's seat at *role*, spoken to as *profile* and the specification say."""
        seat = Seat(role, self.name, profile)
        return seat if self.spec.is_own else seating.open_link(self.spec.text, seat)[1]

    async def open(self, role: Role) -> PlayerLink:
        """Return the way to the player, which runs already."""
        if self.url is not None:
            return http_player.HttpPlayer(self.url, self.name)
        if self.spec.text in own_player.IN_PROCESS:
            return own_player.InProcessPlayer(self.spec.text)
        return seating.open_link(self.spec.text, Seat(role, self.name))[0]


class Contestants:
    """The players by name, each from its specification; use it as a context, which ends their processes.

    A player's process plays *n_matches* at once at most. Where there are *cores* enough, those that this process may
    run on unless they are given, each player that searches has some for itself.

    Attributes:
        n_searching: how many players search on this machine.

    Raises:
        CallerError: a specification names no player.
    """

    def __init__(self, players: Mapping[str, str], n_matches: int) -> None:
        self._specs = {name: seating.player_spec(text) for name, text in players.items()}
        self._n_matches = n_matches
        searching = [name for name in players if self.n_core_slots((name,)) >= SLOTS_PER_CORE]
        self.n_searching = len(searching)
        self._cores = shares(searching, os.sched_getaffinity(0))
        self._running: dict[str, own_player.OwnPlayer] = {}
        self._starting = {name: asyncio.Lock() for name in players}

    async def __aenter__(self) -> Self:
        """Start every player that needs a process, all at once.

        Raises:
            PlayerStartError: one did not come up; the others are stopped.
        """
        starting = [asyncio.create_task(self.player(name)) for name in self._specs]
        try:
            await asyncio.gather(*starting)
        except BaseException:
            for task in starting:
                task.cancel()
            await asyncio.gather(*starting, return_exceptions=True)
            await self.stop()
            raise
        return self

    async def __aexit__(self, *_error: object) -> None:
        """End the processes."""
        await self.stop()

    async def player(self, name: str) -> RunningPlayer:
        """Return the player called *name*; a process of it that has ended is replaced.

        Raises:
            PlayerStartError: it did not come up.
        """
        spec = self._specs[name]
        if not spec.is_own or spec.text in own_player.IN_PROCESS:
            return RunningPlayer(name, spec)
        async with self._starting[name]:
            running = self._running.get(name)
            if running is not None and not running.has_ended:
                return RunningPlayer(name, spec, running.url)
            if running is not None:
                await running.stop()
            self._running[name] = started = await own_player.start_own_player(
                spec.text, self._n_matches, self._cores.get(name)
            )
        return RunningPlayer(name, spec, started.url)

    def n_core_slots(self, players: Iterable[str]) -> int:
        """Return how many slots of cores a match between *players* takes; see `server.hosting.cores`."""
        specs = (self._specs[name] for name in players)
        return sum(n_slots(spec.text, needs_process=spec.kind is not SeatKind.HTTP) for spec in specs)

    async def stop(self) -> None:
        """End the processes; a player that is asked for later is started anew."""
        running, self._running = tuple(self._running.values()), {}
        await asyncio.gather(*(player.stop() for player in running))


def shares(players: Sequence[str], cores: Collection[int]) -> dict[str, frozenset[int]]:
    """Return the cores of each of *players*, so that no two share one; none where there are more players than cores."""
    if len(players) > len(cores):
        return {}
    ordered = sorted(cores)
    return {player: frozenset(ordered[place :: len(players)]) for place, player in enumerate(players)}


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
        n_core_slots = min(self._budget.n_slots, self._contestants.n_core_slots(match.players))
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
        players = {role: await self._contestants.player(name) for role, name in seats}
        setup = MatchSetup(
            tuple(player.seat(role, plan.profile) for role, player in players.items()),
            plan.start_clock, plan.play_clock,
            match_id=match.match_id, seed=match.seed, scramble_seed=match.scramble_seed, substitute=plan.substitute,
        )  # fmt: skip
        recorder = FileRecorder(Circumstances(match.game, new_random_token()))
        referee = LocalReferee(game, self._evaluators[match.game])
        return await MatchRunner(setup, players, referee, recorder).play()
