"""Plays a tournament: the matches that its schedule gives, as many at once as cores allow, until there is no other."""

import asyncio
import json
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from gdl.files import replacing
from server.arena.execution import MatchExecutor, PlayedRecord
from server.arena.folder import TournamentFolder
from server.clock import now_ms
from server.records.record import n_errors, played_places
from server.tournament.fixtures import MatchResult, ScheduledMatch, TournamentGame
from server.tournament.plan import TournamentPlan
from server.tournament.progress import PlayedMatch, Progress, is_decided

OnProgress: TypeAlias = Callable[[Progress], None]


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
        executor: plays the matches.
        on_progress: called with the tournament each time that a match begins or ends.
    """

    progress: Progress
    folder: TournamentFolder
    executor: MatchExecutor
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
        room = await self.executor.n_at_once()
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
            found = await self.executor.play(match)
            with replacing(path) as temporary:
                temporary.write_text(json.dumps(found.record, ensure_ascii=False), "utf-8")
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
