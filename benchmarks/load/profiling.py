"""The server under a profiler: `python -m benchmarks.load.profiling FOLDER serve ...` runs `ggp serve ...`.

Counted is the processor time of all its threads. At each SIGUSR1 what was counted since the last one is written to
FOLDER, as `pstats` reads it: 1.pstats, 2.pstats and so on.
"""

from __future__ import annotations

import cProfile
import marshal
import os
import pstats
import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeAlias

Function: TypeAlias = tuple[str, int, str]
"""A file, a line and a name, as `pstats` has them; functions in C have the file `~`."""
Times: TypeAlias = tuple[int, int, float, float, dict[Function, Any]]
Counted: TypeAlias = dict[Function, Times]

PATIENCE_S: Final = 30.0
_POLL_S: Final = 0.05
_MAX_DEPTH: Final = 6
_PARTS: Final = (
    ("HTTP to players", ("/server/links/",)),
    ("journal and database", ("/server/storage/", "/server/records/", "/sqlalchemy/", "/asyncpg/", "/sqlite3/")),
    ("match and its driver", ("/server/match/",)),
    ("engine", ("/gdl/",)),
    ("spectating and publishing", ("/server/spectating/", "/server/visibility")),
    ("orders, seats and queue", ("/server/hosting/", "/server/registry/")),
    ("HTTP of the API", ("/aiohttp/", "/multidict/", "/yarl/", "/server/api/", "/server/access/", "/operation/")),
    ("asyncio", ("/asyncio/", "/concurrent/futures/", "/threading.py", "/selectors.py")),
)  # fmt: skip
"""What functions belong to, by what is in their path; all others belong where they are called."""


class Profiles:
    """The profiles of all threads of this process; make it in the main thread."""

    def __init__(self) -> None:
        self._main = cProfile.Profile(time.thread_time)
        self._profiles = [self._main]
        self._before: Counted = {}

    @contextmanager
    def thread(self) -> Iterator[None]:
        """Profile this thread while the block runs."""
        profile = cProfile.Profile(time.thread_time)
        self._profiles.append(profile)
        profile.enable()
        try:
            yield
        finally:
            profile.disable()

    def begin(self) -> None:
        """Profile the main thread from now on."""
        self._main.enable()

    def take(self) -> Counted:
        """Return what was counted since the last call, in the main thread; this itself is not counted."""
        self._main.disable()
        now: Counted = {}
        for profile in tuple(self._profiles):
            profile.snapshot_stats()
            stats: Counted = profile.stats  # type: ignore[assignment]  # typeshed has whole numbers for times
            for function, times in stats.items():
                now[function] = _sum(now.get(function), times)
        before, self._before = self._before, now
        return {function: _sum(times, before.get(function), -1) for function, times in now.items()}


def _sum(one: Times | None, other: Times | None, sign: int = 1) -> Times:
    """Return both times together, or *one* without *other* where *sign* is -1."""
    a, b = one or (0, 0, 0.0, 0.0, {}), other or (0, 0, 0.0, 0.0, {})
    callers = dict(a[4])
    for caller, times in b[4].items():
        callers[caller] = tuple(x + sign * y for x, y in zip(callers.get(caller, (0, 0, 0.0, 0.0)), times, strict=True))
    return a[0] + sign * b[0], a[1] + sign * b[1], a[2] + sign * b[2], a[3] + sign * b[3], callers


def serve_profiled(folder: Path) -> None:
    """Run `ggp` with the rest of the command line, profiled."""
    from server.commands.main import main  # noqa: PLC0415 -- the benchmark itself does without the server

    profiles, run_thread = Profiles(), threading.Thread.run

    def run(self: threading.Thread) -> None:
        with profiles.thread():
            run_thread(self)

    def write(*_: object) -> None:
        path = _next_path(folder)
        part = path.with_suffix(".part")
        part.write_bytes(marshal.dumps(profiles.take()))
        part.rename(path)
        profiles.begin()

    threading.Thread.run = run  # type: ignore[method-assign]  # for threads of the server, whatever starts them
    signal.signal(signal.SIGUSR1, write)
    profiles.begin()
    main()


def next_profile(folder: Path, pid: int) -> Counted:
    """Return what the profiled server with *pid* has counted since the last call; waits for it.

    Raises:
        TimeoutError: it does not answer.
    """
    path, until_s = _next_path(folder), time.monotonic() + PATIENCE_S
    os.kill(pid, signal.SIGUSR1)
    while not path.exists():
        if time.monotonic() > until_s:
            raise TimeoutError("the profiled server does not answer")
        time.sleep(_POLL_S)
    counted: Counted = marshal.loads(path.read_bytes())  # noqa: S302 -- what our own process wrote
    return counted


def _next_path(folder: Path) -> Path:
    return folder / f"{1 + len(list(folder.glob('*.pstats')))}.pstats"


def by_part(counted: Counted) -> Mapping[str, float]:
    """Return how many seconds the functions of each part took; what others did for them is theirs."""
    found: defaultdict[str, float] = defaultdict(float)
    for function, times in counted.items():
        _attribute(counted, function, times[2], found, _MAX_DEPTH)
    return found


def _attribute(
    counted: Counted, function: Function, spent_s: float, found: defaultdict[str, float], depth: int
) -> None:
    part = next((name for name, paths in _PARTS if any(path in function[0] for path in paths)), None)
    callers: Mapping[Function, tuple[float, ...]] = counted[function][4] if function in counted else {}
    total_s = sum(times[2] for times in callers.values())
    if part is not None or total_s <= 0 or depth == 0:
        found[part or "other"] += spent_s
        return
    for caller, times in callers.items():
        _attribute(counted, caller, spent_s * times[2] / total_s, found, depth - 1)


def report(counted: Counted, n: int, what: str, n_functions: int = 40) -> str:
    """Return where the time went, for each of *n* of *what*: by part, then the functions that took longest.

    *Units*: milliseconds with the profiler's own work, which makes small functions look larger than they are.
    """
    parts = by_part(counted)
    total_s = sum(parts.values())
    lines = [f"| part | ms a {what} | share |", "| --- | ---: | ---: |"]
    for name, spent_s in sorted(parts.items(), key=lambda item: -item[1]):
        lines.append(f"| {name} | {1000 * spent_s / n:.2f} | {spent_s / total_s:.0%} |")
    lines += [f"| all | {1000 * total_s / n:.2f} | |", "", "```text", f"calls a {what}   own ms   ms   function"]
    for function, times in sorted(counted.items(), key=lambda item: -item[1][2])[:n_functions]:
        place = pstats.func_std_string(function)  # type: ignore[attr-defined]  # typeshed knows no such function
        place = place.rpartition("site-packages/")[2].removeprefix(f"{Path.cwd()}/")
        lines.append(f"{times[1] / n:9.2f} {1000 * times[2] / n:9.4f} {1000 * times[3] / n:8.4f}  {place}")
    return "\n".join([*lines, "```"])


if __name__ == "__main__":
    serve_profiled(Path(sys.argv.pop(1)))
