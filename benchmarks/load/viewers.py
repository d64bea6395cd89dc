"""Many viewers of one live match, and of the first page, by server-sent events while matches are played.

`python -m benchmarks.load.viewers URL N PATH ...` is the process of the viewers: N read each path. It prints a line
when all are connected, and when a line comes on its standard input what they have seen, as JSON.
"""

from __future__ import annotations

import asyncio
import json
import re
import statistics
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from yarl import URL

from benchmarks.load.figures import Figure, quantile
from benchmarks.load.load_generator import LoadGenerator, MatchSettings, Run
from benchmarks.load.processes import Child, child, managing

N_CONNECTING: Final = 50
"""How many connect at once."""
N_MATCHES: Final = 100
N_WARMING: Final = 60
PROMISED_KB: Final = 100.0
_AT: Final = re.compile(rb'"at": ?([0-9]+)')
_ID: Final = re.compile(rb"^id: ([0-9]+)$", re.MULTILINE)
HOME: Final = "/parts/live/events"


@dataclass(eq=False, slots=True)
class Seen:
    """What the viewers of one path have seen: delays of events in seconds, and places where events were missing."""

    delays_s: list[float] = field(default_factory=list)
    n_gaps: int = 0
    n_lost: int = 0


class Viewer(asyncio.Protocol):
    """One viewer, who reads as cheaply as possible: its process works beside what is measured."""

    def __init__(self, head: bytes, seen: Seen, *, is_numbered: bool) -> None:
        self._head, self._seen, self._is_numbered = head, seen, is_numbered
        self._last = -1
        self._rest = b""
        self.connected: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the stream."""
        assert isinstance(transport, asyncio.Transport)
        transport.write(self._head)

    def data_received(self, data: bytes) -> None:
        """Take events; those of the first answer are old."""
        if not self.connected.done():
            self.connected.set_result(None)
            self._note_numbers(data)
            return
        *whole, self._rest = (self._rest + data).split(b"\n\n")
        for event in whole:
            self._note(event)

    def _note(self, event: bytes) -> None:
        found = _AT.search(event)
        if found is not None:
            self._seen.delays_s.append(time.time() - int(found[1]) / 1000)
        self._note_numbers(event)

    def _note_numbers(self, data: bytes) -> None:
        for number in map(int, _ID.findall(data)) if self._is_numbered else ():
            self._seen.n_gaps += number != self._last + 1
            self._last = number

    def connection_lost(self, error: Exception | None) -> None:
        """Note that the stream has ended; that of a match does so with it."""
        self._seen.n_lost += not self._is_numbered
        if not self.connected.done():
            self.connected.set_exception(error or ConnectionError("there is no stream"))


async def watch(url: URL, n: int, path: str, seen: Seen) -> None:
    """Connect *n* viewers of *path*, and return when all have the beginning of their stream."""
    assert url.host is not None
    assert url.port is not None
    host, port = url.host, url.port
    head = f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nAccept: text/event-stream\r\n\r\n".encode()
    turns = asyncio.Semaphore(N_CONNECTING)

    async def connect() -> None:
        async with turns:
            _, viewer = await asyncio.get_running_loop().create_connection(
                lambda: Viewer(head, seen, is_numbered=path != HOME), host, port
            )
            await viewer.connected

    await asyncio.gather(*(connect() for _ in range(n)))


async def _viewers(url: URL, n: int, paths: Sequence[str]) -> None:
    all_seen = {path: Seen() for path in paths}
    for path, seen in all_seen.items():
        await watch(url, n, path, seen)
    sys.stdout.write("connected\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.readline)
    found = {
        path: {"delaysS": sorted(seen.delays_s), "nGaps": seen.n_gaps, "nLost": seen.n_lost}
        for path, seen in all_seen.items()
    }
    sys.stdout.write(f"{json.dumps(found)}\n")
    sys.stdout.flush()


@asynccontextmanager
async def viewing(url: str, n: int, paths: Sequence[str]) -> AsyncIterator[Process]:
    """Run the process of the viewers while the block runs; they are connected."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", "benchmarks.load.viewers", url, str(n), *paths,
        stdin=PIPE, stdout=PIPE, limit=2**28,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        if not await process.stdout.readline():
            raise ChildProcessError("the viewers were not connected")
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _seen_by(process: Process) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"\n")
    found: dict[str, Any] = json.loads(await process.stdout.readline())
    return found


@dataclass(frozen=True, slots=True)
class Viewing:
    """What came of *run* with viewers beside it, and how much the manager grew by them. *Units*: bytes."""

    n_viewers: int
    run: Run
    grown: int
    seen: dict[str, Any]

    def figures(self) -> list[Figure]:
        """Return the figures."""
        what = f"{self.n_viewers:,} viewers of a match and {self.n_viewers:,} of the first page"
        n_all, shares_ms = 2 * self.n_viewers, [1000 * share_s for share_s in self.run.shares_s]
        found = [
            Figure(f"{what}: matches played meanwhile", self.run.n_matches, ""),
            Figure(f"{what}: not completed", self.run.n_matches - self.run.n_completed, "", 0),
            Figure(f"{what}: missed deadlines and other errors", self.run.n_errors, "", 0),
            Figure(f"{what}: memory for each viewer", self.grown / n_all / 1000, "kB", PROMISED_KB),
            Figure(f"{what}: the manager's share of a step, median", statistics.median(shares_ms), "ms"),
            Figure(f"{what}: the manager's share of a step, 99 %", quantile(shares_ms, 0.99), "ms"),
            Figure(f"{what}: a core busy with the manager", 100 * self.run.work_s / self.run.elapsed_s, "%"),
            Figure(f"{what}: work of the manager meanwhile, matches and viewers", self.run.work_s, "s"),
        ]
        for path, seen in self.seen.items():
            place = "first page" if path == HOME else "match"
            delays_ms = [1000 * delay_s for delay_s in seen["delaysS"]]
            found += [
                Figure(f"{what}: events of the {place} that came", len(delays_ms), ""),
                Figure(f"{what}: delay of an event of the {place}, median", quantile(delays_ms, 0.5), "ms"),
                Figure(f"{what}: delay of an event of the {place}, 99 %", quantile(delays_ms, 0.99), "ms"),
                Figure(f"{what}: gaps in the events of the {place}", seen["nGaps"] + seen["nLost"], "", 0),
            ]
        return found


async def viewed(folder: Path, n_viewers: int, settings: MatchSettings, n_matches: int = N_MATCHES) -> list[Figure]:
    """Play matches while *n_viewers* follow one of them, and as many the first page; return the figures."""
    thinking = ["--shortest", str(settings.shortest_s), "--longest", str(settings.longest_s)]
    async with (
        child(["benchmarks.load.players", *thinking], folder / "players.log") as players,
        managing(folder, n_matches) as manager,
    ):
        generator = LoadGenerator(manager, players, settings)
        await generator.play(N_WARMING)  # the rules are compiled meanwhile
        return (await _viewed(manager, generator, n_viewers, n_matches)).figures()


async def _viewed(manager: Child, generator: LoadGenerator, n_viewers: int, n_matches: int) -> Viewing:
    ordered: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    watched = asyncio.Event()

    async def on_ordered(match_ids: Sequence[str]) -> None:
        ordered.set_result(match_ids[0])
        await watched.wait()

    run = asyncio.create_task(generator.play(n_matches, on_ordered))
    paths = f"/api/v1/matches/{await ordered}/events", HOME
    async with viewing(manager.url, 1, paths):
        pass  # what is loaded and drawn with the first viewer is not another one's
    before = manager.memory_bytes()
    async with viewing(manager.url, n_viewers, paths) as process:
        grown = manager.memory_bytes() - before
        watched.set()
        played = await run
        grown = max(grown, manager.memory_bytes() - before)
        return Viewing(n_viewers, played, grown, await _seen_by(process))


if __name__ == "__main__":
    asyncio.run(_viewers(URL(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
