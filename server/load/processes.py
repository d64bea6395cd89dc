"""The processes of the benchmark: started, asked where they listen, looked at from outside, ended."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

START_LIMIT_S: Final = 60.0
END_LIMIT_S: Final = 60.0
_ADDRESS: Final = re.compile(r"http://\S+")
_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Child:
    """A process that listens at `url`."""

    url: str
    process: Process

    def memory_bytes(self) -> int:
        """Return how much memory of this machine the process holds (RSS)."""
        found = re.search(
            r"^VmRSS:\s+(\d+) kB", Path(f"/proc/{self.process.pid}/status").read_text("ascii"), re.MULTILINE
        )
        return 0 if found is None else 1024 * int(found[1])

    def work_s(self) -> float:
        """Return how long a core has worked for the process, in seconds."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text("ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S


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
        yield Child(await _address(process, arguments, log), process)
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
