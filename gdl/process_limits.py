"""The limits that a process is held to: memory, processor time, the life of its caller; and in words how one has ended.

No process is started here; `gdl.worker` does that.
"""

import ctypes
import os
import resource
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

MEGABYTE: Final = 1024 * 1024
_CPU_GRACE_S: Final = 2
_PR_SET_PDEATHSIG: Final = 1
_SCORE: Final = 300
_MAX_SCORE: Final = 1000
"""By how much a process comes before its caller where memory runs out, and the most there is: thousandths of memory."""


def die_with(parent: int) -> None:
    """Have the system end this process when its parent ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def end_first(pid: int) -> None:
    """Have a system that runs out of memory end the process of *pid*, and what it starts from now on, before others.

    Its caller outlives it, and says what has happened; else the system takes the one that holds most.
    """
    score = Path(f"/proc/{pid}/oom_score_adj")
    with suppress(OSError):  # it has ended, or the system keeps no scores
        score.write_text(str(min(_MAX_SCORE, int(score.read_text()) + _SCORE)))


def limit_memory(max_memory_mb: int) -> None:
    """Let this process, and each that it starts, have so many megabytes of address space, and write no core file.

    A process that may use less already keeps its own limit.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    n_bytes = max_memory_mb * MEGABYTE
    allowed = n_bytes if hard == resource.RLIM_INFINITY else min(n_bytes, hard)
    resource.setrlimit(resource.RLIMIT_AS, (allowed, allowed))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def limit_cpu(max_cpu_seconds: int) -> None:
    """Have the system end this process by SIGXCPU after so many seconds of processor time.

    A process that may use less already, as one that a limited process has started, keeps within that.
    """
    _, most_s = resource.getrlimit(resource.RLIMIT_CPU)
    if most_s != resource.RLIM_INFINITY:
        max_cpu_seconds = min(max_cpu_seconds, most_s - _CPU_GRACE_S)
    resource.setrlimit(resource.RLIMIT_CPU, (max_cpu_seconds, max_cpu_seconds + _CPU_GRACE_S))


def ending(return_code: int) -> str:
    """Return in words how a process has ended.

    >>> ending(1), ending(-11)
    ('ended with exit code 1', 'was ended by SIGSEGV')
    """
    if return_code == -signal.SIGKILL:
        return "was killed, as by a system that has no memory left: end other programs, or allow less at once"
    # Those of real time have no names.
    is_named = -return_code in {*signal.Signals}
    name = signal.Signals(-return_code).name if is_named else f"signal {-return_code}"
    return f"was ended by {name}" if return_code < 0 else f"ended with exit code {return_code}"
