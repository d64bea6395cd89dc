"""Many matches of tictactoe at once, ordered over HTTP from a game manager in a process of its own."""

from __future__ import annotations

import asyncio
import math
import os
import re
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

import aiohttp

from benchmarks.load.figures import Figure, quantile
from benchmarks.load.players import ROLES
from benchmarks.load.profiling import Counted, next_profile

START_LIMIT_S: Final = 60.0
END_LIMIT_S: Final = 60.0
N_RESTING: Final = 60
"""For how many seconds at most a process is waited for that does not come to rest."""
AT_REST: Final = 0.05
"""How much of a core a process at rest may use."""
_ADDRESS: Final = re.compile(r"http://\S+")
_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Listener:
    """What listens at `url`; its process on this machine is `pid`, None where that is not known."""

    url: str
    pid: int | None = None

    def memory_bytes(self) -> int:
        """Return how much memory of this machine the process holds (RSS); 0 where it is not known."""
        if self.pid is None:
            return 0
        found = re.search(r"^VmRSS:\s+(\d+) kB", Path(f"/proc/{self.pid}/status").read_text("ascii"), re.MULTILINE)
        return 0 if found is None else 1024 * int(found[1])

    def work_s(self) -> float:
        """Return how long a core has worked for the process, in seconds; not a number where it is not known."""
        if self.pid is None:
            return math.nan
        fields = Path(f"/proc/{self.pid}/stat").read_text("ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S

    def exact_work_s(self) -> float:
        """Return the same to the microsecond, without what threads did that have ended."""
        tasks = Path(f"/proc/{self.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text("ascii").split()[0]) for task in tasks) / 1e9

    async def until_at_rest(self) -> None:
        """Return when the process has hardly worked for a second, as when what it does after its start is done."""
        for _ in range(N_RESTING if self.pid is not None else 0):
            worked_s = self.work_s()
            await asyncio.sleep(1)
            if self.work_s() - worked_s < AT_REST:
                return


@dataclass(frozen=True, slots=True)
class Child(Listener):
    """A process of ours that listens at `url`."""

    process: Process = field(kw_only=True)


@asynccontextmanager
async def child(
    arguments: Sequence[str], log: Path, environment: Mapping[str, str] | None = None
) -> AsyncIterator[Child]:
    """Run `python -m *arguments*` while the block runs; what it logs goes to the file *log*.

    Raises:
        ChildProcessError: it ended before it listened, or did not listen in time.
    """
    with log.open("ab") as errors:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            *arguments,
            stdout=PIPE,
            stderr=errors,
            env={**os.environ, **(environment or {})},
        )
    try:
        yield Child(await _address(process, arguments, log), process.pid, process=process)
    finally:
        await _end(process)


async def _address(process: Process, arguments: Sequence[str], log: Path) -> str:
    assert process.stdout is not None
    with suppress(TimeoutError):
        async with asyncio.timeout(START_LIMIT_S):
            while line := await process.stdout.readline():
                found = _ADDRESS.search(line.decode("utf-8", "replace"))
                if found is not None:
                    return found[0]
    raise _silence(arguments, log)


def _silence(arguments: Sequence[str], log: Path) -> ChildProcessError:
    return ChildProcessError(f"{' '.join(arguments)} does not listen: {log.read_text('utf-8', 'replace')[-2_000:]}")


async def _end(process: Process) -> None:
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(END_LIMIT_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


POLL_S: Final = 0.5
PATIENCE_S: Final = 240.0
N_ORDERING: Final = 8
"""How many orders are on their way at once."""
_MEGABYTE: Final = 1_000_000


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
class Run:
    """The results of many matches at once. *Units*: seconds, bytes.

    All matches play from the same moment, when all have been ordered; `elapsed_s` and `work_s` count from there.
    `ordering_work_s` is what all orders cost until their players have START.
    """

    n_matches: int
    n_completed: int
    n_errors: int
    n_steps: int
    ordering_s: float
    elapsed_s: float
    ordering_work_s: float
    work_s: float
    shares_s: Sequence[float]
    longest_answer_s: float
    longest_lag_s: float
    memory_before: int
    memory_most: int
    ordering_profile: Counted | None = None
    playing_profile: Counted | None = None

    def figures(self, promised_s: tuple[float, float] | None) -> list[Figure]:
        """Return the figures of the run; *promised_s* bounds the median and the 99th percentile of the shares."""
        median_ms, late_ms = (None, None) if promised_s is None else (1000 * promised_s[0], 1000 * promised_s[1])
        at_once = f"{self.n_matches} matches at once"
        return [
            Figure(f"{at_once}: not completed", self.n_matches - self.n_completed, "", 0),
            Figure(f"{at_once}: missed deadlines and other errors", self.n_errors, "", 0),
            Figure(f"{at_once}: steps", self.n_steps, ""),
            Figure(f"{at_once}: until all were ordered", self.ordering_s, "s"),
            Figure(
                f"{at_once}: the manager's share of a step, median",
                1000 * quantile(self.shares_s, 0.5),
                "ms",
                median_ms,
            ),
            Figure(
                f"{at_once}: the manager's share of a step, 99 %", 1000 * quantile(self.shares_s, 0.99), "ms", late_ms
            ),
            Figure(f"{at_once}: longest answer of a player", self.longest_answer_s, "s"),
            Figure(f"{at_once}: longest delay of the players' process", 1000 * self.longest_lag_s, "ms"),
            Figure(
                f"{at_once}: work of the manager for each order", 1000 * self.ordering_work_s / self.n_matches, "ms"
            ),
            Figure(f"{at_once}: work of the manager for each step", 1000 * self.work_s / max(1, self.n_steps), "ms"),
            Figure(f"{at_once}: a core busy with the manager", 100 * self.work_s / self.elapsed_s, "%"),
            Figure(f"{at_once}: memory for each match", self._memory_of_one(), "MB", 1),
        ]

    def _memory_of_one(self) -> float:
        return (self.memory_most - self.memory_before) / _MEGABYTE / self.n_matches


@asynccontextmanager
async def managing(
    folder: Path, n_matches: int, options: Sequence[str] = (), *, database: str = "", profiles: Path | None = None
) -> AsyncIterator[Child]:
    """Run a game manager with a database in *folder*, or at *database*, which takes *n_matches* at once.

    With *profiles* it runs under a profiler, which writes to this folder.
    """
    program = ["server"] if profiles is None else ["benchmarks.load.profiling", str(profiles)]
    arguments = [
        *program, "serve", "--port", "0", "--shutdown", "abort",
        "--max-matches", str(n_matches), "--log-format", "json", "--log-level", "warning", *options,
    ]  # fmt: skip
    variables = {"GGP_DATABASE": database or f"sqlite:///{folder / 'ggp.sqlite'}"}
    async with child(arguments, folder / "manager.log", variables) as manager:
        yield manager


OnOrdered: TypeAlias = Callable[[Sequence[str]], Awaitable[None]]


class Playing:
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
        """Play *n_matches* at once, and return the results; *on_ordered* gets the ids before any of them is played.

        Raises:
            TimeoutError: they were not over after four minutes.
            aiohttp.ClientError: the manager refused an order, or is gone.
        """
        async with AsyncExitStack() as stack:
            sessions = [
                await stack.enter_async_context(aiohttp.ClientSession(manager.url, raise_for_status=True))
                for manager in self._managers
            ]
            session = sessions[0]
            await self._ask_players("hold")
            await self._profile()
            before, work_s, started_s = self._memory_bytes(), self._work_s(), time.perf_counter()
            ids = await self._order(sessions, n_matches)
            ordering_s = time.perf_counter() - started_s
            await self._all_asked(n_matches)
            if on_ordered is not None:
                await on_ordered(ids)
            burst = await self._ask_players("figures")
            ordering_work_s = self._work_s() - work_s
            ordering_profile = await self._profile()
            work_s, started_s = self._work_s(), time.perf_counter()
            await self._ask_players("release")
            most = await self._over(n_matches)
            elapsed_s, work_s = time.perf_counter() - started_s, self._work_s() - work_s
            playing_profile = await self._profile()
            figures = await self._ask_players("figures")
            records = [await self._record(session, match_id) for match_id in ids]
        return Run(
            n_matches,
            n_completed=sum(bool(record["isCompleted"]) for record in records),
            n_errors=sum(_n_errors(record) for record in records),
            n_steps=sum(len(record["moves"]) for record in records),
            ordering_s=ordering_s,
            elapsed_s=elapsed_s,
            ordering_work_s=ordering_work_s,
            work_s=work_s,
            shares_s=figures["shares_s"],
            longest_answer_s=max(burst["longest_answer_s"], figures["longest_answer_s"]),
            longest_lag_s=max(burst["longest_lag_s"], figures["longest_lag_s"]),
            memory_before=before,
            memory_most=most,
            ordering_profile=ordering_profile,
            playing_profile=playing_profile,
        )

    async def _profile(self) -> Counted | None:
        """Return what the first manager's profiler has counted since the last call."""
        pid = self._managers[0].pid
        if self._profiles is None or pid is None:
            return None
        return await asyncio.to_thread(next_profile, self._profiles, pid)

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
        """Wait until all players have been told the end, and return the most memory that the manager held meanwhile.

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

    async def _record(self, session: aiohttp.ClientSession, match_id: str) -> dict[str, Any]:
        async with session.get(f"/api/v1/matches/{match_id}") as response:
            found: dict[str, Any] = await response.json()
            return found

    async def _ask_players(self, path: str) -> Any:
        """Make the players `hold` their replies to START or `release` them, or ask for `ended` and `figures`."""
        async with aiohttp.ClientSession() as session, session.get(f"{self._players.url}/{path}") as response:
            return await response.json(content_type=None)


def _n_errors(record: dict[str, Any]) -> int:
    return sum(error != "" for step in record["errors"] for error in step)
