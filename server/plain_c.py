"""Plain C written by hand for three games, as a measure of how fast a machine is here and now."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

MEASURED_THERE: Final = {"tictactoe": 12.5e6, "connectfour": 2.6e6, "breakthrough": 0.83e6}
"""Its plays per second where others were measured: the head of `peers.tsv` has them."""

# Others were measured by processor time, too: what waits for a busy core is no slower for it.
_BY_PROCESSOR_TIME: Final = """\
#include <time.h>
#undef CLOCK_MONOTONIC
#define CLOCK_MONOTONIC CLOCK_PROCESS_CPUTIME_ID
#include "limit.c"
"""


@contextmanager
def plain_c(source: Path) -> Iterator[Path]:
    """Yield the program that gcc makes of `limit.c`, which is gone afterwards.

    Raises:
        FileNotFoundError: there is no gcc.
        CalledProcessError: it refuses.
    """
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "limit"
        subprocess.run(  # noqa: S603 -- it compiles the file that the caller names, on purpose
            ["gcc", "-O3", "-march=native", "-I", str(source.parent), "-x", "c", "-", "-o", str(program)],  # noqa: S607 -- the gcc that is there
            input=_BY_PROCESSOR_TIME, check=True, text=True,
        )  # fmt: skip
        yield program


def speeds_of_c(program: Path, core: int) -> dict[str, float]:
    """Return the plays per second of processor time that *program* makes on a core, by game."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        done = subprocess.run([program], check=True, text=True, capture_output=True)  # noqa: S603 -- compiled above
    finally:
        os.sched_setaffinity(0, cores)
    return {line.split()[0]: float(line.split()[1]) for line in done.stdout.splitlines()}
