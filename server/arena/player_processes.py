"""The players of a tournament as processes: each is started once, for all of its matches, on cores of its own."""

import asyncio
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from gdl.game import Role
from server.hosting.cores import SLOTS_PER_CORE, n_slots
from server.links import http_player, own_player
from server.links.player_spec import PlayerSpec, open_link, player_spec
from server.match.link import PlayerLink
from server.match.profiles import Profile
from server.match.setup import Seat
from server.storage.rows import SeatKind


@dataclass(frozen=True, slots=True)
class RunningPlayer:
    """A player of a tournament at a seat of a match, called as the tournament calls it."""

    name: str
    spec: PlayerSpec
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
        return seat if self.spec.is_own else open_link(self.spec.text, seat)[1]

    async def open(self, role: Role) -> PlayerLink:
        """Return the way to the player, which runs already."""
        if self.url is not None:
            return http_player.HttpPlayer(self.url, self.name)
        if self.spec.text in own_player.IN_PROCESS:
            return own_player.InProcessPlayer(self.spec.text)
        return open_link(self.spec.text, Seat(role, self.name))[0]


class PlayerProcesses:
    """The players by name, each from its specification; use it as a context, which ends their processes.

    A player's process plays *n_matches* at once at most. Where there are *cores* enough, those that this process may
    run on unless they are given, each player that searches has some for itself.

    Attributes:
        n_searching: how many players search on this machine.

    Raises:
        CallerError: a specification names no player.
    """

    def __init__(self, players: Mapping[str, str], n_matches: int) -> None:
        self._specs = {name: player_spec(text) for name, text in players.items()}
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
