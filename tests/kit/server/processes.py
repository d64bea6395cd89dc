"""Child processes in tests: `ggp` in a process of its own, and who is still there afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gdl.compiler.cache import VARIABLE

GGP = (sys.executable, "-P", "-m", "server")
ROOT = Path(__file__).resolve().parent.parent.parent.parent


@contextmanager
def running(*words: object, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Run `ggp` with *words* in *folder*; it is killed in the end if it is still there."""
    with subprocess.Popen(
        [*GGP, *map(str, words)],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", VARIABLE: os.environ[VARIABLE]},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        try:
            yield child
        finally:
            child.kill()


def children_of(process_id: int) -> set[int]:
    """Return the processes that *process_id* has started and that still run."""
    found = set()
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[1]) == process_id and fields[0] != "Z":
            found.add(int(status.parent.name))
    return found


def is_running(process_id: int) -> bool:
    """Return whether the process is there, and no zombie."""
    try:
        return Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def oom_score_of(process_id: int) -> int:
    """Return by how many thousandths of memory a system without memory ends a process before others."""
    return int(Path(f"/proc/{process_id}/oom_score_adj").read_text())


@contextmanager
def player(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `ggp player` in a session of its own; yield the process and its address."""
    process = subprocess.Popen(
        [*GGP, "player", *arguments, "--port", "0"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        try:
            yield process, process.stdout.readline().removeprefix("listening on ").strip()
        finally:
            process.kill()
