"""Processes that listen, seen from outside: the manager, the players and the viewers of a run."""

from __future__ import annotations

import asyncio
import math
import os
import re
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

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
