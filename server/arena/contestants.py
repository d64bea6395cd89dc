"""The players of a tournament: those of ours are processes that last as long as the tournament."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from gdl.game import Role
from server.hosting.cores import LIGHT, SLOTS_PER_CORE
from server.links.http_player import HttpPlayer
from server.links.own_player import STOCK, OwnPlayer, StockPlayer, start_own_player
from server.links.seating import PlayerSpec, is_command, open_link, player_spec
from server.match.link import PlayerLink
from server.match.setup import Profile, Seat
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
            return HttpPlayer(self.url, self.name)
        if self.spec.text in STOCK:
            return StockPlayer(self.spec.text)
        return open_link(self.spec.text, Seat(role, self.name))[0]


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
        self._specs = {name: player_spec(text) for name, text in players.items()}
        self._n_matches = n_matches
        searching = [name for name, spec in self._specs.items() if _n_slots(spec) == SLOTS_PER_CORE]
        self.n_searching = len(searching)
        self._cores = shares(searching, os.sched_getaffinity(0) if cores is None else cores)
        self._running: dict[str, OwnPlayer] = {}
        self._starting = {name: asyncio.Lock() for name in players}

    async def __aenter__(self) -> Contestants:
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
        if not spec.is_own or spec.text in STOCK:
            return RunningPlayer(name, spec)
        async with self._starting[name]:
            running = self._running.get(name)
            if running is not None and not running.has_ended:
                return RunningPlayer(name, spec, running.url)
            if running is not None:
                await running.stop()
            self._running[name] = started = await start_own_player(spec.text, self._n_matches, self._cores.get(name))
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


def _n_slots(spec: PlayerSpec) -> int:
    """Return how many slots of a core a player takes: none if it plays elsewhere or needs no process."""
    if spec.text in STOCK or not (spec.is_own or is_command(spec.text)):
        return 0
    return 1 if spec.text in LIGHT else SLOTS_PER_CORE
