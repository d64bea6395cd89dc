"""The load generator: many matches of tictactoe at once, ordered over HTTP from a game manager in its own process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import aiohttp

from benchmarks.load.figures import Figure, quantile
from benchmarks.load.players import ROLES
from benchmarks.load.processes import Child, Listener
from benchmarks.load.profiling import Counted, next_profile

POLL_S: Final = 0.5
PATIENCE_S: Final = 240.0
N_ORDERING: Final = 8
"""How many orders are on their way at once."""
_MEGABYTE: Final = 1_000_000
_Measured: TypeAlias = tuple[str, float, str, float | None]
"""A figure's name, value, unit, and bound."""


@dataclass(frozen=True, slots=True)
class MatchSettings:
    """The clocks and thinking times of the matches of a run. *Units*: seconds, whole ones for the clocks.

    The start clock is long, since no match begins to play before all have been ordered.
    """

    start_clock_s: int = 60
    play_clock_s: int = 10
    shortest_s: float = 0.5
    longest_s: float = 1.5


@dataclass(frozen=True, slots=True)
class Ordering:
    """What all orders of a run took until their players have START, before any match was played. *Units*: seconds."""

    work_s: float
    longest_answer_s: float
    longest_lag_s: float
    profile: Counted | None


@dataclass(frozen=True, slots=True)
class Run:
    """The results of many matches at once. *Units*: seconds, bytes.

    Where `ordering` is known, all matches play from the same moment, when all have been ordered, and `elapsed_s` and
    `work_s` count from there; else each plays as soon as it is ordered, and both count from the first order.
    """

    n_matches: int
    n_completed: int
    n_errors: int
    n_steps: int
    n_most_at_once: int
    ordering_s: float
    elapsed_s: float
    work_s: float
    shares_s: Sequence[float]
    longest_answer_s: float
    longest_lag_s: float
    memory_before: int
    memory_most: int
    ordering: Ordering | None = None
    profile: Counted | None = None

    def figures(self, promised_s: tuple[float, float] | None) -> list[Figure]:
        """Return the figures of the run; *promised_s* bounds the median and the 99th percentile of the shares."""
        at_once = f"{self.n_matches} matches at once"
        if self.ordering is None:
            at_once = f"{self.n_matches} matches that begin as they are ordered"
        return [
            Figure(f"{at_once}: {name}", value, unit, at_most)
            for name, value, unit, at_most in (*self._outcomes(), *self._times(promised_s), *self._work())
        ]

    def _outcomes(self) -> Iterator[_Measured]:
        yield "not completed", self.n_matches - self.n_completed, "", 0
        yield "missed deadlines and other errors", self.n_errors, "", 0
        yield "steps", self.n_steps, "", None
        yield "most of them at once", self.n_most_at_once, "", None
        yield "until all were ordered", self.ordering_s, "s", None

    def _times(self, promised_s: tuple[float, float] | None) -> Iterator[_Measured]:
        median_ms, late_ms = (None, None) if promised_s is None else (1000 * promised_s[0], 1000 * promised_s[1])
        yield "the manager's share of a step, median", 1000 * quantile(self.shares_s, 0.5), "ms", median_ms
        yield "the manager's share of a step, 99 %", 1000 * quantile(self.shares_s, 0.99), "ms", late_ms
        yield "longest answer of a player", self.longest_answer_s, "s", None
        yield "longest delay of the players' process", 1000 * self.longest_lag_s, "ms", None

    def _work(self) -> Iterator[_Measured]:
        if self.ordering is None:
            yield "work of the manager for each match", 1000 * self.work_s / self.n_matches, "ms", None
        else:
            yield "work of the manager for each order", 1000 * self.ordering.work_s / self.n_matches, "ms", None
            yield "work of the manager for each step", 1000 * self.work_s / max(1, self.n_steps), "ms", None
        yield "a core busy with the manager", 100 * self.work_s / self.elapsed_s, "%", None
        yield "memory for each match", self._memory_of_one(), "MB", 1

    def _memory_of_one(self) -> float:
        return (self.memory_most - self.memory_before) / _MEGABYTE / self.n_matches


OnOrdered: TypeAlias = Callable[[Sequence[str]], Awaitable[None]]


class _Start(NamedTuple):
    """The managers at the begin of a measurement. *Units*: bytes, seconds."""

    memory_bytes: int
    work_s: float
    at_s: float


async def record_of(session: aiohttp.ClientSession, match_id: str) -> dict[str, Any]:
    """Return the record of a match, as far as it is played."""
    async with session.get(f"/api/v1/matches/{match_id}") as response:
        found: dict[str, Any] = await response.json()
        return found


class LoadGenerator:
    """Plays matches between the players of the process *players* at *manager*, and at *others* on its database.

    The manager writes *profiles*, if any.
    """

    def __init__(
        self,
        manager: Listener,
        players: Child,
        settings: MatchSettings,
        profiles: Path | None = None,
        *,
        others: Sequence[Listener] = (),
    ) -> None:
        self._managers, self._players, self._settings = (manager, *others), players, settings
        self._profiles = profiles
        self._n_ordered = 0

    async def play(self, n_matches: int, on_ordered: OnOrdered | None = None) -> Run:
        """Play *n_matches* from one moment on, and return the results.

        *on_ordered* gets the ids before any of them is played.

        Raises:
            TimeoutError: they were not over after four minutes.
            aiohttp.ClientError: the manager refused an order, or is gone.
        """
        async with self._sessions() as sessions:
            await self._ask_players("hold")
            await self._profile()
            begun = self._measured()
            ids = await self._order(sessions, n_matches)
            ordering_s = time.perf_counter() - begun.at_s
            await self._all_asked(n_matches)
            if on_ordered is not None:
                await on_ordered(ids)
            told = await self._ask_players("figures")
            ordering = Ordering(
                self._work_s() - begun.work_s, told["longest_answer_s"], told["longest_lag_s"], await self._profile()
            )
            started = self._measured()._replace(memory_bytes=begun.memory_bytes)
            await self._ask_players("release")
            return await self._to_the_end(sessions, ids, started, ordering_s, ordering)

    async def play_as_ordered(self, n_matches: int) -> Run:
        """Play *n_matches*, each as soon as it is ordered, and return the results.

        Raises:
            TimeoutError: they were not over after four minutes.
            aiohttp.ClientError: the manager refused an order, or is gone.
        """
        async with self._sessions() as sessions:
            await self._ask_players("figures")
            await self._profile()
            started = self._measured()
            ids = await self._order(sessions, n_matches)
            return await self._to_the_end(sessions, ids, started, time.perf_counter() - started.at_s)

    @asynccontextmanager
    async def _sessions(self) -> AsyncIterator[list[aiohttp.ClientSession]]:
        async with AsyncExitStack() as stack:
            yield [
                await stack.enter_async_context(aiohttp.ClientSession(manager.url, raise_for_status=True))
                for manager in self._managers
            ]

    async def _to_the_end(
        self,
        sessions: Sequence[aiohttp.ClientSession],
        ids: Sequence[str],
        started: _Start,
        ordering_s: float,
        ordering: Ordering | None = None,
    ) -> Run:
        """Wait until the matches *ids* are over, and return what was measured since *started*."""
        most = await self._over(len(ids))
        elapsed_s, work_s = time.perf_counter() - started.at_s, self._work_s() - started.work_s
        profile = await self._profile()
        told = await self._ask_players("figures")
        records = [await record_of(sessions[0], match_id) for match_id in ids]
        return Run(
            len(ids),
            n_completed=sum(bool(record["isCompleted"]) for record in records),
            n_errors=sum(_n_errors(record) for record in records),
            n_steps=sum(len(record["moves"]) for record in records),
            n_most_at_once=told["most_seats"] // len(ROLES),
            ordering_s=ordering_s,
            elapsed_s=elapsed_s,
            work_s=work_s,
            shares_s=told["shares_s"],
            longest_answer_s=max(ordering.longest_answer_s if ordering else 0.0, told["longest_answer_s"]),
            longest_lag_s=max(ordering.longest_lag_s if ordering else 0.0, told["longest_lag_s"]),
            memory_before=started.memory_bytes,
            memory_most=most,
            ordering=ordering,
            profile=profile,
        )

    async def _profile(self) -> Counted | None:
        """Return what the first manager's profiler has counted since the last call."""
        pid = self._managers[0].pid
        if self._profiles is None or pid is None:
            return None
        return await asyncio.to_thread(next_profile, self._profiles, pid)

    def _measured(self) -> _Start:
        return _Start(self._memory_bytes(), self._work_s(), time.perf_counter())

    def _memory_bytes(self) -> int:
        return sum(manager.memory_bytes() for manager in self._managers)

    def _work_s(self) -> float:
        return sum(manager.work_s() for manager in self._managers)

    async def _order(self, sessions: Sequence[aiohttp.ClientSession], n_matches: int) -> list[str]:
        """Order *n_matches*, a few at a time, at each of the managers in turn, and return their ids."""
        turns = asyncio.Semaphore(N_ORDERING)

        async def order(number: int) -> str:
            session = sessions[number % len(sessions)]
            async with turns, session.post("/api/v1/matches", json=self._body(number)) as response:
                match_id: str = (await response.json())["id"]
                return match_id

        first = self._n_ordered
        self._n_ordered += n_matches
        return await asyncio.gather(*(order(first + i) for i in range(n_matches)))

    def _body(self, number: int) -> dict[str, Any]:
        players = {role: f"{self._players.url}/{number}/{role}" for role in ROLES}
        clocks = {"startClock": self._settings.start_clock_s, "playClock": self._settings.play_clock_s}
        return {"game": "tictactoe", "players": players} | clocks

    async def _all_asked(self, n_matches: int) -> None:
        """Wait until the players of all matches have their START."""
        async with asyncio.timeout(PATIENCE_S):
            n_waiting = 0
            while n_waiting < n_matches * len(ROLES):
                await asyncio.sleep(POLL_S)
                n_waiting = await self._ask_players("hold")

    async def _over(self, n_matches: int) -> int:
        """Wait until all players know of the end, and return the most memory that the manager held meanwhile.

        The players are asked: a record, or a list of all matches, would cost the manager work that is not measured.
        """
        most, n_ended = 0, 0
        async with asyncio.timeout(PATIENCE_S):
            while n_ended < n_matches * len(ROLES):
                most = max(most, self._memory_bytes())
                await asyncio.sleep(POLL_S)
                n_ended = await self._ask_players("ended")
        await asyncio.sleep(POLL_S)  # for the last records
        return most

    async def _ask_players(self, path: str) -> Any:
        """Make the players `hold` their replies to START or `release` them, or ask for `ended` and `figures`."""
        async with aiohttp.ClientSession() as session, session.get(f"{self._players.url}/{path}") as response:
            return await response.json(content_type=None)


def _n_errors(record: dict[str, Any]) -> int:
    return sum(error != "" for step in record["errors"] for error in step)
