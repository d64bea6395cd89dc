"""The cores that players of ours think on: how many a match takes, and which matches have theirs.

A core has four slots. A search takes all of them for each of its threads (`mcts:threads=2` takes eight), any other
player that needs a process takes one, and players that need no process take none. A match takes at most all slots that
there are; its searches share the cores then. So they do in a match with a person, for whom they wait most of the time:
there a search takes one slot. Such matches and the others do not wait for each other's slots, since a person may think
for hours, and others play for hours: those with people begin while these hold half of the slots at most, and there are
no more processes than slots; the others take what they leave, at least one slot for each process.
"""

import asyncio
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from players.registry import LIGHT
from players.specs import options_of
from server.errors import TooFewCoresError
from server.links.own_player import IN_PROCESS
from server.links.player_spec import HUMAN, OWN_PLAYERS, is_command

SLOTS_PER_CORE: Final = 4


def n_cores_here() -> int:
    """Return on how many cores this process may run."""
    return len(os.sched_getaffinity(0))


@dataclass(slots=True)
class _Request:
    n_slots: int
    n_processes: int = 0
    has_person: bool = False
    is_granted: asyncio.Event = field(default_factory=asyncio.Event)


class CoreBudget:
    """Grants matches the slots of *n_cores* cores, in the order in which they ask.

    However many matches there are, no more than `n_slots` processes of players run at once.
    """

    def __init__(self, n_cores: int) -> None:
        self.n_slots = SLOTS_PER_CORE * n_cores
        self._requests: dict[str, _Request] = {}

    @property
    def n_free(self) -> int:
        """How many slots are neither held nor waited for; less than none where more are waited for than there are."""
        return self.n_slots - sum(request.n_slots for request in self._requests.values())

    @property
    def n_free_for_people(self) -> int:
        """How many slots a match with a person may take now.

        Those that hold none yet may take more than half, so that a match with a person and many players can begin.
        """
        n_held = self._n_slots_of_people()
        n_processes = sum(request.n_processes for request in self._requests.values())
        return min((self.n_slots // 2 if n_held else self.n_slots) - n_held, self.n_slots - n_processes)

    def _n_slots_of_people(self) -> int:
        return sum(request.n_slots for request in self._requests.values() if request.has_person)

    def slots_for(self, players: Iterable[str]) -> int:
        """Return how many slots a match takes now between *players*, each named as often as it has seats."""
        named = tuple(players)
        n_processes = processes_for(named)
        if HUMAN in named:
            return min(self.n_slots, n_processes)
        n_left = self.n_slots - self._n_slots_of_people()
        return min(self.n_slots, max(n_processes, min(n_left, sum(map(_n_slots, named)))))

    def check(self, players: Iterable[str]) -> None:
        """Check that a match between *players* can ever begin.

        Raises:
            TooFewCoresError: it needs more processes than may run at once.
        """
        n_processes = processes_for(players)
        if n_processes > self.n_slots:
            raise TooFewCoresError(n_processes, self.n_slots)

    def request(self, match_id: str, n_slots: int, n_processes: int = 0, *, has_person: bool = False) -> None:
        """Ask for *n_slots* for a match of *n_processes*, which `release` gives back.

        *has_person* says whether a person plays in it.
        """
        if n_slots:
            self._requests[match_id] = _Request(n_slots, n_processes, has_person)
            self._grant()

    async def granted(self, match_id: str) -> None:
        """Return when the match has what was requested for it."""
        if match_id in self._requests:
            await self._requests[match_id].is_granted.wait()

    def waive(self, match_id: str) -> None:
        """Let a match that needs nothing any more, since it is aborted, wait no longer."""
        request = self._requests.get(match_id)
        if request is not None and not request.is_granted.is_set():
            self.release(match_id)
            request.is_granted.set()

    def release(self, match_id: str) -> None:
        """Give back what the match has."""
        if self._requests.pop(match_id, None) is not None:
            self._grant()

    def _grant(self) -> None:
        n_processes = sum(one.n_processes for one in self._requests.values() if one.is_granted.is_set())
        for request in self._requests.values():
            if request.has_person and not request.is_granted.is_set():
                n_processes += request.n_processes
                if n_processes > self.n_slots:
                    break
                request.is_granted.set()
        n_left = self.n_slots - self._n_slots_of_people()
        for request in self._requests.values():
            if request.has_person:
                continue
            if n_left < request.n_slots:
                return  # younger requests do not overtake
            n_left -= request.n_slots
            request.is_granted.set()


def processes_for(players: Iterable[str]) -> int:
    """Return how many processes a match takes between *players*."""
    return sum(_n_slots(player) > 0 for player in players)


def n_slots(player: str, *, needs_process: bool) -> int:
    """Return how many slots *player*, named as a specification, takes; none unless it *needs_process* here.

    Players in this process need none in any case. A program takes a whole core, whatever it does.
    """
    name = player.partition(":")[0]
    if name in IN_PROCESS or not needs_process:
        return 0
    if name in LIGHT:
        return 1
    n_threads = 1 if is_command(player) else options_of(player).get("threads", 1)
    return SLOTS_PER_CORE * max(n_threads, 1) if isinstance(n_threads, int) else SLOTS_PER_CORE


def _n_slots(player: str) -> int:
    return n_slots(player, needs_process=player.partition(":")[0] in OWN_PLAYERS)
