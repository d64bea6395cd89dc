"""Admission of matches from the queue: the oldest are looked at, and where these leave room all, though less often."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from server.clock import now_ms
from server.hosting.cores import processes_for
from server.hosting.supervisor import MatchSupervisor
from server.links.player_spec import HUMAN
from server.registry.queueing import (
    Capacity,
    QueuedMatch,
    WaitReason,
    addresses,
    names_by_address,
    startable,
    wait_reasons,
)
from server.registry.registry import Registry
from server.storage.database import Database
from server.storage.matches import MatchStore
from server.storage.queue import MatchQueue, WaitingMatch
from server.storage.rows import PlayerStatus

N_OLDEST: Final = 2_000
"""How many of the matches that wait are looked at each time, the oldest ones."""
REST_FACTOR: Final = 4
"""How many times as long as a look took the next one waits: one at a long queue or a large tournament takes seconds."""
MAX_REST_S: Final = 10.0
"""How long that is at most."""


def rest_s(look_s: float) -> float:
    """Return how long to rest after a look that took *look_s*. *Units*: seconds."""
    return min(MAX_REST_S, REST_FACTOR * look_s)


class AdmissionControl:
    """Admits matches of the queue of *database* for the players of *registry*, within what *supervisor* leaves free.

    Where the *n_oldest* matches leave room, as those of one player that is away do, all that waits is looked at; so
    much is read less often, by *clock_s*.

    Attributes:
        wait_reasons: what matches of the queue waited for when they were last looked at, by their ids.
    """

    def __init__(
        self,
        database: Database,
        registry: Registry,
        supervisor: MatchSupervisor,
        n_oldest: int = N_OLDEST,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._queue, self._matches = MatchQueue(database), MatchStore(database)
        self._registry, self._supervisor = registry, supervisor
        self._n_oldest, self._clock_s = n_oldest, clock_s
        self._rests_until_s = 0.0
        self.wait_reasons: Mapping[str, WaitReason] = {}

    async def admit(self) -> list[str]:
        """Return the ids of the matches that players, cores and room allow to begin now.

        Raises:
            StorageError: the database failed.
        """
        begun_s = self._clock_s()
        queued = await self._queue.waiting(self._n_oldest)
        chosen, reasons = await self._startable(queued)
        if len(queued) == self._n_oldest:
            if len(chosen) < self._supervisor.n_free and begun_s >= self._rests_until_s:
                chosen, reasons = await self._startable(await self._queue.waiting())
                ended_s = self._clock_s()
                self._rests_until_s = ended_s + rest_s(ended_s - begun_s)
            else:
                looked_at = {match.id for match in queued}
                kept = {match_id: why for match_id, why in self.wait_reasons.items() if match_id not in looked_at}
                reasons = kept | reasons
        self.wait_reasons = reasons
        return chosen

    async def _startable(self, queued: Sequence[WaitingMatch]) -> tuple[list[str], dict[str, WaitReason]]:
        """Return the ids of those of *queued* that may begin now, and what the others wait for."""
        if not queued:
            return [], {}
        at_ms = now_ms()
        registered = await self._registry.store.listed()
        # A player that is paused begins no match by its name; who orders its address need not wait for its owner.
        urls = {row.name: row.url for row in registered if row.url is not None and row.status == PlayerStatus.OK}
        names = names_by_address(urls)
        waiting = await asyncio.to_thread(lambda: [self._in_queue(match, at_ms, names) for match in queued])
        players = {player for match in waiting for player in match.players}
        rows = [row for row in registered if row.name in players]
        limits = {row.name: self._registry.limit(row) for row in rows}
        busy = Counter(await self._matches.busy(limits))
        if any(match.limits for match in waiting) or not players.isdisjoint(urls):
            for address, n_playing in (await self._supervisor.addresses()).items():
                busy[names.get(address, address)] += n_playing
        hindered = {row.name: why for row in rows if (why := self._registry.hindrance(row)) is not None}
        budget = self._supervisor.cores
        capacity = Capacity(self._supervisor.n_free, budget.n_free, budget.n_free_for_people)

        def decided() -> tuple[list[str], dict[str, WaitReason]]:
            chosen = startable(waiting, busy, limits, capacity)
            begun = frozenset(chosen)
            return chosen, wait_reasons(waiting, begun, busy, {**limits, **hindered}, capacity)

        return await asyncio.to_thread(decided)  # there may be thousands

    def _in_queue(self, match: WaitingMatch, at_ms: int, names: Mapping[str, str]) -> QueuedMatch:
        """Return *match* as it waits; *names* are those of the registered players by their addresses."""
        seated = tuple(player for player, _ in match.players)
        called = addresses(match.named)
        players = (*seated, *(names.get(address, address) for address in called))
        limits = {address: limit for address, limit in called.items() if address not in names}
        return QueuedMatch(
            match.id,
            players,
            (at_ms - match.created_ms) / 1000,
            self._supervisor.cores.slots_for(seated),
            limits,
            processes_for(seated),
            HUMAN in seated,
        )
