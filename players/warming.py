"""Warming up while a player waits for its first match: the kernels of the compiled engine are put on disk.

On a new machine this takes some fifteen seconds. A match that begins earlier is not held up: it is interpreted until
its own worker has compiled them.
"""

from __future__ import annotations

import os
import signal
import time
from multiprocessing.context import ForkServerProcess as Process
from typing import Final

from players.worker import CONTEXT, end_with_service

IDLE_S: Final = 3.0
"""A player that is started for a single match has its processor to itself at first."""
_NICENESS: Final = 10


def start_warming(idle_s: float = IDLE_S) -> Process | None:
    """Start the process that puts the kernels on disk; it ends by itself, and with this one.

    None where the system gives no process: then matches do without.
    """
    process = CONTEXT.Process(target=_warm, args=(idle_s,), daemon=True)
    try:
        process.start()
    except OSError:
        return None
    return process


def _warm(idle_s: float) -> None:
    """Be that process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_service()
    os.nice(_NICENESS)
    time.sleep(idle_s)
    from gdl.compiler.kernels import load_kernels  # noqa: PLC0415 -- large libraries, for this process alone

    load_kernels()
