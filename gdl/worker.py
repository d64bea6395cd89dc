"""Work under limits, in a child process: whatever a rule file costs, the caller gets an answer in time.

`run_limited` calls a function in a new interpreter under limits of time and memory. It is the only place of this
package that starts a process; who imports the rest of it starts none.
"""

from __future__ import annotations

import ctypes
import math
import os
import pickle
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, BinaryIO, Final, TypeAlias, TypeVar, cast

from gdl.errors import ChildProcessDiedError, GdlError, LimitExceeded

Result = TypeVar("Result")
Report: TypeAlias = Callable[[object], None]

MEGABYTE: Final = 1024 * 1024
_CPU_GRACE_S: Final = 2
_OUT_OF_MEMORY: Final = 86
"""The exit code of a child that had no memory left even to say so."""
_PR_SET_PDEATHSIG: Final = 1
_ASKING_S: Final = 0.25
"""How often it is asked whether an answer is still wanted."""
_SERVE: Final = "from gdl.worker import serve; serve()"


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """What one call may cost. *Units*: seconds, megabytes of address space and of answers.

    `max_seconds` are by the clock. With `max_cpu_seconds` it is the child's processor time that counts, whatever else
    the machine does, and `max_seconds` are for a child that waits without working.
    """

    max_seconds: float = 60.0
    max_memory_mb: int = 2048
    max_answer_mb: int = 64
    max_cpu_seconds: float | None = None

    @property
    def seconds(self) -> float:
        """The limit that messages name, in seconds: of processor time, where that counts."""
        return self.max_seconds if self.max_cpu_seconds is None else self.max_cpu_seconds


class NotWanted(Exception):  # noqa: N818 -- no error: the caller has gone
    """The answer is not wanted any more, and the child was ended."""


@dataclass(frozen=True, slots=True)
class _Call:
    function: Callable[..., object]
    arguments: tuple[object, ...]
    is_reporting: bool


@dataclass(frozen=True, slots=True)
class _Reply:
    """What a child says: a report on the way, its result, or the error that ended it."""

    kind: str
    value: Any


def run_limited(
    function: Callable[..., Result],
    arguments: tuple[object, ...],
    limits: ChildLimits,
    on_report: Report | None = None,
    is_wanted: Callable[[], bool] = lambda: True,
) -> Result:
    """Return what *function* returns for *arguments*, called in a child process under *limits*.

    Function, arguments and result are pickled: the function is one of a module, the data is plain. With *on_report*
    the function gets a last argument, a callable; what it is called with in the child is handed to *on_report* here.
    Where *is_wanted* says no, which is asked several times a second, the child is ended.

    Raises:
        NotWanted: *is_wanted* said no.
        LimitExceeded: time or memory ran out.
        ChildProcessDiedError: the child ended without an answer for another reason.
        GdlError: or whatever else the function raised, as it raised it.

    The child is gone when this returns or raises, and dies with the thread that called.
    """
    end_s = time.monotonic() + limits.max_seconds
    with _started(_Call(function, arguments, on_report is not None), limits) as child:
        for reply in _replies_of(child, end_s, limits, is_wanted):
            if reply.kind == "result":
                return cast(Result, reply.value)
            if reply.kind == "error":
                raise reply.value
            if on_report is not None:
                on_report(reply.value)
    raise _death(child.returncode, limits)


@contextmanager
def _started(call: _Call, limits: ChildLimits) -> Iterator[subprocess.Popen[bytes]]:
    with tempfile.TemporaryFile() as request:
        pickle.dump((os.getpid(), limits, sys.path), request)
        pickle.dump(call, request)
        request.seek(0)
        child = subprocess.Popen(  # noqa: S603 -- our own interpreter, and nothing from outside among its words
            [sys.executable, "-P", "-c", _SERVE],
            stdin=request,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            start_new_session=True,
        )
    with child:
        try:
            yield child
        finally:
            # The group holds whatever the child has started.
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)


def _replies_of(
    child: subprocess.Popen[bytes], end_s: float, limits: ChildLimits, is_wanted: Callable[[], bool]
) -> Iterator[_Reply]:
    assert child.stdout is not None
    pipe = child.stdout.fileno()
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    buffer = bytearray()
    while True:
        left_s = end_s - time.monotonic()
        if left_s <= 0:
            raise LimitExceeded("seconds", limits.seconds)
        if not is_wanted():
            raise NotWanted
        if not poll.poll(min(left_s, _ASKING_S) * 1000):
            continue
        piece = os.read(pipe, MEGABYTE)
        if not piece:
            break
        buffer += piece
        if len(buffer) > limits.max_answer_mb * MEGABYTE:
            raise LimitExceeded("megabytes of answer", limits.max_answer_mb)
        yield from _complete(buffer)
    # The child is left a zombie, so that its number stays its own until its group is ended.
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)


def _complete(buffer: bytearray) -> Iterator[_Reply]:
    """Take the complete messages out of *buffer*: eight bytes of length, and a pickle."""
    while len(buffer) >= 8 and len(buffer) >= 8 + (length := int.from_bytes(buffer[:8], "big")):
        reply = pickle.loads(buffer[8 : 8 + length])  # noqa: S301 -- written by our own code in the child
        del buffer[: 8 + length]
        yield reply


def _death(return_code: int, limits: ChildLimits) -> GdlError:
    if return_code == -signal.SIGXCPU:
        return LimitExceeded("seconds", limits.seconds)
    # Where memory ends outside Python, libraries abort.
    if return_code in (_OUT_OF_MEMORY, -signal.SIGABRT):
        return LimitExceeded("megabytes of memory", limits.max_memory_mb)
    return ChildProcessDiedError(f"it ended with exit code {return_code}")


def serve() -> None:
    """Be the child: read the call from standard input, limit this process, make the call, and tell what came of it."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    parent, limits, paths = pickle.load(sys.stdin.buffer)  # noqa: S301 -- written by our own code in the parent
    sys.path[:] = paths
    _die_with(parent)
    _limit(limits)
    try:
        _answer(replies, _outcome(replies, limits))
    except MemoryError:
        os._exit(_OUT_OF_MEMORY)
    os._exit(0)


def _answer(replies: BinaryIO, reply: _Reply) -> None:
    try:
        _send(replies, reply)
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError) as error:
        _send(replies, _Reply("error", ChildProcessDiedError(f"its result cannot be sent: {error}")))


def _outcome(replies: BinaryIO, limits: ChildLimits) -> _Reply:
    try:
        call: _Call = pickle.load(sys.stdin.buffer)  # noqa: S301 -- written by our own code in the parent
        report = (lambda value: _send(replies, _Reply("report", value)),) if call.is_reporting else ()
        return _Reply("result", call.function(*call.arguments, *report))
    except MemoryError:
        return _Reply("error", LimitExceeded("megabytes of memory", limits.max_memory_mb))
    except Exception as error:  # every error belongs to the caller, who gets it
        return _Reply("error", _plain(error))


def _plain(error: Exception) -> Exception:
    """Return *error* as it can be sent: without its frames, and described where it cannot be pickled."""
    try:
        return cast(Exception, pickle.loads(pickle.dumps(error)))  # noqa: S301 -- pickled in this line
    except Exception:  # whatever hinders it, the description is what is left
        return ChildProcessDiedError(f"{type(error).__name__}: {str(error)[:1000]}")


def _send(replies: BinaryIO, reply: _Reply) -> None:
    body = pickle.dumps(reply)
    replies.write(len(body).to_bytes(8, "big") + body)
    replies.flush()


def _die_with(parent: int) -> None:
    """Have the system end this process when its parent ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def _limit(limits: ChildLimits) -> None:
    cpu_s = int(limits.max_seconds) + _CPU_GRACE_S
    if limits.max_cpu_seconds is not None:
        cpu_s = min(cpu_s, math.ceil(limits.max_cpu_seconds))
    _, most_s = resource.getrlimit(resource.RLIMIT_CPU)  # of a child that starts another: it cannot allow more
    if most_s != resource.RLIM_INFINITY:
        cpu_s = min(cpu_s, most_s - _CPU_GRACE_S)
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + _CPU_GRACE_S))
    resource.setrlimit(resource.RLIMIT_AS, (_allowed(limits.max_memory_mb * MEGABYTE),) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _allowed(n_bytes: int) -> int:
    """Return *n_bytes*, or what the parent may use if that is less: a limit of its own holds for what it starts."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    return n_bytes if hard == resource.RLIM_INFINITY else min(n_bytes, hard)
