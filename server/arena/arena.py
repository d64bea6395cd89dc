"""Plays a tournament: the matches that its schedule gives, as many at once as cores allow, until there is no other.

Where the matches are played, and by whom, is for a venue; here, on this machine.
"""

import asyncio
import json
import os
import re
import time
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Protocol, Self, TypeAlias

from gdl.game import Game, Role, played_roles
from gdl.replacement import replacing
from server.arena.folder import TournamentFolder
from server.hosting.cores import LIGHT, SLOTS_PER_CORE, CoreBudget
from server.hosting.runner import MatchRunner
from server.links import http_player, own_player, seating
from server.match.link import PlayerLink, now_ms
from server.match.referee import LocalReferee, PromptEvaluator
from server.match.setup import MatchSetup, Profile, Seat, new_random_token
from server.records.entries import Circumstances
from server.records.journal import FileRecorder
from server.records.record import n_errors, played_places
from server.storage.rows import SeatKind
from server.tournament.fixtures import MatchResult, ScheduledMatch, TournamentGame
from server.tournament.plan import TournamentPlan
from server.tournament.progress import PlayedMatch, Progress, is_decided

PRESSURE: Final = Path("/proc/pressure/cpu")
_TOTAL: Final = re.compile(r"^some .*total=([0-9]+)$", re.MULTILINE)
OnProgress: TypeAlias = Callable[[Progress], None]


def waited_us(path: Path = PRESSURE) -> int | None:
    """Return for how long at least one process of the machine has waited for a core since its start.

    None where the system does not count it. *Units*: microseconds.

    *Source*: Linux, Documentation/accounting/psi.rst.
    """
    try:
        found = _TOTAL.search(path.read_text("ascii"))
    except OSError:
        return None
    return None if found is None else int(found[1])


class WaitingTime:
    """How long processes waited for a core while a match was played, as a share of the match's time."""

    def __init__(self, now_s: float, path: Path = PRESSURE) -> None:
        self._began_s, self._path = now_s, path
        self._began_us = waited_us(path)

    def share(self, now_s: float) -> float | None:
        """Return the share from the beginning to *now_s*; None where the system does not count it."""
        ended_us, elapsed_s = waited_us(self._path), now_s - self._began_s
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

    def __init__(self, players: Mapping[str, str], n_matches: int, cores: Collection[int] | None = None) -> None:
        self._specs = {name: seating.player_spec(text) for name, text in players.items()}
        self._n_matches = n_matches
        searching = [name for name, spec in self._specs.items() if _n_slots(spec) == SLOTS_PER_CORE]
        self.n_searching = len(searching)
        self._cores = shares(searching, os.sched_getaffinity(0) if cores is None else cores)
        self._running: dict[str, own_player.OwnPlayer] = {}
        self._starting = {name: asyncio.Lock() for name in players}

    async def __aenter__(self) -> Self:
        """Start every player that needs a process, all at once.

        Raises:
            PlayerStartError: one did not come up; the others are stopped.
        """
        try:
            await asyncio.gather(*(self.player(name) for name in self._specs))
        except BaseException:
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
        return sum(_n_slots(self._specs[name]) for name in players)

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


def _n_slots(spec: seating.PlayerSpec) -> int:
    """Return how many slots of a core a player takes: none if it plays elsewhere or needs no process."""
    if spec.text in own_player.IN_PROCESS or not (spec.is_own or seating.is_command(spec.text)):
        return 0
    return 1 if spec.text in LIGHT else SLOTS_PER_CORE


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


def progress_of(plan: TournamentPlan, folder: TournamentFolder, games: tuple[TournamentGame, ...]) -> Progress:
    """Return the tournament as *folder* holds it.

    Raises:
        TournamentFolderError: a file of it cannot be read.
    """
    found = Progress(plan, games, folder.schedule(), folder.results())
    return replace(found, is_decided=is_decided(found))


@dataclass
class Arena:
    """The tournament of *folder*; `play` it once.

    Attributes:
        progress: the tournament up to now.
        venue: where the matches are played.
        on_progress: called with the tournament each time that a match begins or ends.
    """

    progress: Progress
    folder: TournamentFolder
    venue: Venue
    on_progress: OnProgress = lambda _: None
    _tasks: dict[str, asyncio.Task[PlayedMatch]] = field(default_factory=dict, init=False)
    _begun: dict[str, ScheduledMatch] = field(default_factory=dict, init=False)
    _waiting: deque[ScheduledMatch] = field(init=False)

    def __post_init__(self) -> None:
        self._waiting = deque(self.progress.competition.open_matches)

    async def play(self) -> Progress:
        """Play until the schedule gives no other match, or the sequential test has decided; return how it ended.

        When it is cancelled, matches that are not over will be played again from their beginning.

        Raises:
            PlayerStartError: a player's process ended, and did not come up again.
            ClusterError: the matches are played on a cluster, which failed.
            OSError: the folder cannot be written.
        """
        try:
            while not self.progress.is_decided:
                await self._begin()
                if not self._tasks:
                    break
                done, _ = await asyncio.wait(self._tasks.values(), return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    self._take(await task)
        finally:
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        return self.progress

    async def _begin(self) -> None:
        """Begin as many matches as there is room for."""
        room = await self.venue.n_at_once()
        while len(self._tasks) < room:
            match = self._next()
            if match is None:
                return
            self._begun[match.match_id] = match
            self._tasks[match.match_id] = asyncio.create_task(self._play(match), name=f"match {match.match_id}")
            self._tell()

    def _next(self) -> ScheduledMatch | None:
        if not self._waiting:
            self._schedule()
        return self._waiting.popleft() if self._waiting else None

    def _schedule(self) -> None:
        """Schedule the next matches, if there are any."""
        given = self.progress.next_matches({name for match in self._playing() for name in match.players})
        if given:
            self.folder.add_matches(given)
            self.progress = replace(self.progress, scheduled=(*self.progress.scheduled, *given))
            self._waiting.extend(given)

    def _playing(self) -> tuple[ScheduledMatch, ...]:
        return tuple(self._begun[match_id] for match_id in self._tasks)

    def _take(self, played: PlayedMatch) -> None:
        del self._tasks[played.result.match_id], self._begun[played.result.match_id]
        found = replace(self.progress, ended=(*self.progress.ended, played))
        self.progress = replace(found, is_decided=is_decided(found))
        self._tell()

    def _tell(self) -> None:
        self.on_progress(replace(self.progress, playing=self._playing()))

    async def _play(self, match: ScheduledMatch) -> PlayedMatch:
        """Play a match, and keep its record and its result."""
        path = self.folder.record_path(match.match_id)
        if path.is_file():  # its result was not kept before the last end
            found = PlayedRecord(json.loads(path.read_bytes()))
        else:
            found = await self.venue.play(match)
            with replacing(path) as passing:
                passing.write_text(json.dumps(found.record, ensure_ascii=False), "utf-8")
        played = played_of(found.record, match, found.waited_share)
        self.folder.add_result(played)
        return played


def played_of(record: Mapping[str, Any], match: ScheduledMatch, waited_share: float | None) -> PlayedMatch:
    """Return the result of *match* that its *record* tells; in one that failed, all goals are 0."""
    n_roles = len(record["x-roles"])
    seats = played_places(record, n_roles)
    goals = record.get("x-goals") or [0] * n_roles
    errors = [n_errors(record, place) for place in seats]
    thinking = [[step[place] for step in record.get("x-thinking-ms", ()) if step[place] is not None] for place in seats]
    result = MatchResult(
        match.game, match.players, tuple(goals[place] or 0 for place in seats), tuple(errors), match.match_id
    )
    return PlayedMatch(
        result, tuple(map(sum, thinking)), tuple(map(len, thinking)), len(record["moves"]), now_ms(), waited_share
    )
