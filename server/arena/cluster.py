"""Matches of a tournament on the workers of a Dask cluster; the folder of the tournament stays with the caller.

A worker has this package installed and gets with each match the rules and the plan. It starts the players that need a
process on its machine, and keeps them for the next matches: until `Cluster` is left, or the worker ends.

*Source*: distributed, https://distributed.dask.org.
"""

import asyncio
import concurrent.futures
import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Self

from distributed import Client, KilledWorker

from gdl.engines import make_game
from gdl.game import Game
from gdl.language.rules import read_rules
from players.player import PlayerFileError
from players.specs import with_whole_path
from server.arena.execution import LocalExecutor, PlayedRecord
from server.arena.player_processes import PlayerProcesses
from server.errors import ClusterError
from server.hosting.cores import n_cores_here
from server.links.errors import PlayerSpecError
from server.links.player_spec import is_command
from server.match.chance import new_random_token
from server.records.entries import versions
from server.threads import in_own_thread
from server.tournament.fixtures import ScheduledMatch
from server.tournament.plan import TournamentPlan

CONNECTING_S: Final = 10.0
"""How long the scheduler may take to answer."""
FIRST_WORKER_S: Final = 30.0
"""How long the first worker may take to come."""
EXIT_LIMIT_S: Final = 5.0
"""How long the workers may take to end the players."""
MOST_SUBMISSIONS: Final = 5
"""How often a match is submitted; the scheduler tries each submission on several workers, should they die."""
_GONE: Final = "the scheduler is gone; start it and the tournament again, which goes on where it was"
_MATCHES_OF_A_PLAYER: Final = 100
"""How many matches a player's process on a worker plays at once at most; the worker's threads are fewer."""


@dataclass(frozen=True, slots=True)
class MatchOrder:
    """All that a worker needs to play a match; `tournament` tells it from which of its tournaments it is."""

    address: str
    tournament: str
    plan: TournamentPlan
    rules: str
    match: ScheduledMatch
    version: str


class Cluster:
    """Plays matches of *plan* on the Dask cluster whose scheduler is at *address*; use it as a context.

    *games* has the games of the plan by name; no more than *concurrency* matches are played at once.
    """

    def __init__(
        self, address: str, plan: TournamentPlan, games: Mapping[str, Game], concurrency: int | None = None
    ) -> None:
        self._address, self._concurrency = address, concurrency
        self._plan = plan.model_copy(update={"players": {name: located(spec) for name, spec in plan.players.items()}})
        self._rules = {name: game.description.source.text for name, game in games.items()}
        self._tournament = new_random_token()
        self._client: Any = None  # the client of distributed is hardly typed

    async def __aenter__(self) -> Self:
        """Connect, and wait for a worker.

        Raises:
            ClusterError: there is no scheduler at the address, or it has no worker.
        """
        connecting: Any = Client  # typed but for its constructor
        try:
            self._client = await connecting(
                self._address, asynchronous=True, timeout=CONNECTING_S, set_as_default=False
            )
        except (OSError, ValueError) as error:
            raise ClusterError(self._address, f"no scheduler answers ({error})") from error
        try:
            await self._client.wait_for_workers(1, timeout=FIRST_WORKER_S)
        except TimeoutError as error:
            await self._client.close()
            raise ClusterError(self._address, f"no worker has come within {FIRST_WORKER_S:g} s") from error
        return self

    async def __aexit__(self, *_error: object) -> None:
        """End the players of this tournament on all workers, and disconnect."""
        try:
            # Where the scheduler is gone, the client waits for it to come back; the players end with their workers.
            with suppress(OSError, concurrent.futures.CancelledError):  # a TimeoutError is an OSError
                async with asyncio.timeout(EXIT_LIMIT_S):
                    await self._client.run(end_players, self._tournament, on_error="ignore")
        finally:
            await self._client.close()

    async def n_at_once(self) -> int:
        """Return how many threads the workers have, that there are at the moment: each plays a match.

        Raises:
            ClusterError: the scheduler is gone.
        """
        try:
            n_threads: int = sum((await self._client.nthreads()).values())
        except (OSError, concurrent.futures.CancelledError) as error:
            raise ClusterError(self._address, _GONE) from error
        return max(1, n_threads if self._concurrency is None else min(n_threads, self._concurrency))

    async def play(self, match: ScheduledMatch) -> PlayedRecord:
        """Play *match* on a worker, on another if that dies, and return its record; raises as `MatchExecutor.play`."""
        order = MatchOrder(self._address, self._tournament, self._plan, self._rules[match.game], match, _own_version())
        for number in range(1, MOST_SUBMISSIONS + 1):
            key = f"{match.match_id}-{number}-{self._tournament}"
            try:
                played: PlayedRecord = await self._client.submit(play_order, order, key=key, pure=False)
            except KilledWorker:
                continue
            except concurrent.futures.CancelledError as error:
                raise ClusterError(self._address, _GONE) from error
            except (PlayerFileError, PlayerSpecError) as error:
                reason = f"a worker says: {error}. Files and programs of players must be on the machines of all workers"
                raise ClusterError(self._address, f"{reason}, under the same path") from error
            except ImportError as error:
                raise ClusterError(self._address, f"ggp is not installed on a worker ({error})") from error
            else:
                return played
        raise ClusterError(self._address, f"the workers that played match {match.match_id} died, all of them")


def located(spec: str) -> str:
    """Return *spec* with the whole path where it names a file of this folder, as a worker needs it."""
    return spec if is_command(spec) else with_whole_path(spec)


def _own_version() -> str:
    return versions()["ggp"]


@dataclass(frozen=True, slots=True)
class _WorkerTournament:
    """What a worker keeps of a tournament between its matches."""

    processes: PlayerProcesses
    games: dict[str, Game]
    executor: LocalExecutor


_tournaments: Final[dict[str, _WorkerTournament]] = {}
"""The tournaments of which this worker has played matches."""


async def play_order(order: MatchOrder) -> PlayedRecord:
    """Play the match of *order*; a worker does so, in its event loop.

    Raises:
        CallerError: this machine does not have a player.
        PlayerStartError: a player's process did not come up.
        ClusterError: this machine has another version.
    """
    if order.version != _own_version():
        reason = f"{socket.gethostname()} has version {_own_version()} of ggp, and the tournament {order.version}"
        raise ClusterError(order.address, reason)
    kept = _tournaments.get(order.tournament) or _begun(order)
    if order.match.game not in kept.games:
        kept.games[order.match.game] = await in_own_thread(lambda: make_game(read_rules(order.rules)))
    return await kept.executor.play(order.match)


def _begun(order: MatchOrder) -> _WorkerTournament:
    processes, games = PlayerProcesses(order.plan.players, _MATCHES_OF_A_PLAYER), dict[str, Game]()
    executor = LocalExecutor(order.plan, games, processes, n_cores_here(), os.cpu_count() or 1)
    return _tournaments.setdefault(order.tournament, _WorkerTournament(processes, games, executor))


async def end_players(tournament: str) -> None:
    """End the players of *tournament* on this worker."""
    kept = _tournaments.pop(tournament, None)
    if kept is not None:
        await kept.processes.stop()
