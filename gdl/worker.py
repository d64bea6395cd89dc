"""Work under limits, in a child process: whatever a rule file costs, the caller gets an answer in time.

A worker is a new interpreter that calls one function under limits of time and memory. `run_limited` has it called once
and waits for the result. Callers that have more questions, or wait for more than one worker at a time, start the same
worker themselves: `COMMAND` and `start_options` say how, `opening` and `call` what it reads, `Replies` what it answers,
and `death` why there is no answer. No other module of this package starts a process.

Frames cross the pipes, both ways: eight bytes of length, and a pickle. A worker reads the opening first, then the
arguments of a call from each frame; it ends with its standard input.
"""

import math
import os
import pickle
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, BinaryIO, Final, Literal, TypeAlias, TypedDict, TypeVar, cast

from gdl.errors import ChildProcessDiedError, GdlError, LimitExceeded
from gdl.process_limits import MEGABYTE, die_with, end_first, ending, limit_cpu, limit_memory

Result = TypeVar("Result")
Report: TypeAlias = Callable[[object], None]

COMMAND: Final = (sys.executable, "-P", "-c", "from gdl.worker import serve; serve()")
"""The words of the command that starts a worker: our own interpreter, and nothing from outside."""
_CPU_GRACE_S: Final = 2
_OUT_OF_MEMORY: Final = 86
"""The exit code of a worker that had no memory left even to say so."""
_ASKING_S: Final = 0.25
"""How often it is asked whether an answer is still wanted."""
_HEAD: Final = 8
"""How many bytes of length a frame begins with."""


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """What a call may cost. *Units*: seconds, megabytes of address space and of answers.

    `max_seconds` are by the clock, which the caller keeps. With `max_cpu_seconds` it is the processor time of a call
    by `run_limited` that counts, whatever else the machine does, and `max_seconds` are for a worker that waits without
    working.
    """

    max_seconds: float = 60.0
    max_memory_mb: int = 2048
    max_answer_mb: float = 64
    max_cpu_seconds: float | None = None

    @property
    def seconds(self) -> float:
        """The limit that messages name, in seconds: of processor time, where that counts."""
        return self.max_seconds if self.max_cpu_seconds is None else self.max_cpu_seconds


class NotWanted(Exception):  # noqa: N818 -- no error: the caller has gone
    """The answer is not wanted any more, and the worker was ended."""


class StartOptions(TypedDict):
    """What `subprocess.Popen`, and whatever else starts processes as it does, is given by name."""

    stderr: int
    env: dict[str, str]
    start_new_session: bool


@dataclass(frozen=True, slots=True)
class Reply:
    """What a worker says: a report on the way, the result of a call, or the error that ended it."""

    kind: Literal["report", "result", "error"]
    value: Any

    def result(self) -> Any:
        """Return the result; raises the error that there is instead, as the function raised it."""
        if self.kind == "error":
            raise self.value
        return self.value


@dataclass(frozen=True, slots=True)
class _Opening:
    """What a worker reads first. `function` is a pickle, which is read when `paths` are set and limits hold."""

    parent: int
    paths: list[str]
    limits: ChildLimits
    function: bytes
    is_single: bool
    is_reporting: bool


def start_options() -> StartOptions:
    """Return what a worker is started with besides its command and two pipes: it has a process group of its own."""
    paths = os.pathsep.join(path for path in sys.path if path)
    return {"stderr": subprocess.DEVNULL, "env": {**os.environ, "PYTHONPATH": paths}, "start_new_session": True}


def opening(
    function: Callable[..., object], limits: ChildLimits, *, is_single: bool = False, is_reporting: bool = False
) -> bytes:
    """Return what a worker reads first: what it calls, again and again unless *is_single*, and under which limits.

    *function* is pickled: one of a module, or an object that can be called and keeps in the worker what it has found.
    Where *is_reporting*, it gets a last argument, a callable that sends a report.
    """
    return frame(_Opening(os.getpid(), sys.path, limits, pickle.dumps(function), is_single, is_reporting))


def call(*arguments: object) -> bytes:
    """Return what a worker reads for each call: plain *arguments*, which are pickled."""
    return frame(arguments)


def frame(value: object) -> bytes:
    """Return *value* as it crosses a pipe."""
    body = pickle.dumps(value)
    return len(body).to_bytes(_HEAD, "big") + body


class Replies:
    """The replies in what a worker writes; one that is longer than *limits* allow is not waited for."""

    def __init__(self, limits: ChildLimits) -> None:
        self._limits = limits
        self._buffer = bytearray()

    def feed(self, piece: bytes) -> Iterator[Reply]:
        """Yield the replies that are complete with *piece*.

        Raises:
            LimitExceeded: the next one is too long.
        """
        self._buffer += piece
        while len(self._buffer) >= _HEAD:
            end = _HEAD + int.from_bytes(self._buffer[:_HEAD], "big")
            if end > self._limits.max_answer_mb * MEGABYTE:
                raise LimitExceeded("megabytes of answer", self._limits.max_answer_mb)
            if len(self._buffer) < end:
                return
            reply = pickle.loads(self._buffer[_HEAD:end])  # noqa: S301 -- written by our own code in the worker
            del self._buffer[:end]
            yield reply


def death(return_code: int, limits: ChildLimits) -> GdlError:
    """Return why a worker has ended without a reply: a limit, or something else, which its exit code tells."""
    if return_code == -signal.SIGXCPU:
        return LimitExceeded("seconds", limits.seconds)
    # Where memory ends outside Python, libraries abort.
    if return_code in (_OUT_OF_MEMORY, -signal.SIGABRT):
        return LimitExceeded("megabytes of memory", limits.max_memory_mb)
    return ChildProcessDiedError(f"it {ending(return_code)}")


def end(pid: int) -> None:
    """End the worker of that process id, and whatever it has started."""
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def run_limited(
    function: Callable[..., Result],
    arguments: tuple[object, ...],
    limits: ChildLimits,
    on_report: Report | None = None,
    is_wanted: Callable[[], bool] = lambda: True,
) -> Result:
    """Return what *function* returns for *arguments*, called in a worker under *limits*.

    Function, arguments and result are pickled: the function is one of a module, the data is plain. With *on_report*
    the function gets a last argument, a callable; what it is called with in the worker is handed to *on_report* here.
    Where *is_wanted* says no, which is asked several times a second, the worker is ended.

    Raises:
        NotWanted: *is_wanted* said no.
        LimitExceeded: time or memory ran out.
        ChildProcessDiedError: the worker ended without an answer for another reason.
        GdlError: or whatever else the function raised, as it raised it.

    The worker is gone when this returns or raises, and dies with the thread that called.
    """
    end_s = time.monotonic() + limits.max_seconds
    first = opening(function, limits, is_single=True, is_reporting=on_report is not None)
    with _started(first + call(*arguments)) as child:
        for reply in _replies_of(child, end_s, limits, is_wanted):
            if reply.kind != "report":
                return cast(Result, reply.result())
            if on_report is not None:
                on_report(reply.value)
    raise death(child.returncode, limits)


@contextmanager
def _started(requests: bytes) -> Iterator[subprocess.Popen[bytes]]:
    """Run a worker that reads *requests* from a file in memory, which needs no attention, while the block runs."""
    with os.fdopen(os.memfd_create("ggp-requests"), "w+b") as file:
        file.write(requests)
        file.seek(0)
        child = subprocess.Popen(  # noqa: S603 -- the command is our own
            COMMAND, stdin=file, stdout=subprocess.PIPE, **start_options()
        )
    with child:
        try:
            yield child
        finally:
            end(child.pid)


def _replies_of(
    child: subprocess.Popen[bytes], end_s: float, limits: ChildLimits, is_wanted: Callable[[], bool]
) -> Iterator[Reply]:
    assert child.stdout is not None
    pipe, replies = child.stdout.fileno(), Replies(limits)
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
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
        yield from replies.feed(piece)
    # The worker is left a zombie, so that its number stays its own until its group is ended.
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)


def serve() -> None:
    """Be the worker: read from standard input what to call, limit this process, and tell what comes of each call."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    frames = _frames(sys.stdin.buffer)
    first: _Opening = pickle.loads(next(frames))  # noqa: S301 -- written by our own code in the parent
    sys.path[:] = first.paths
    die_with(first.parent)
    end_first(os.getpid())
    limit_memory(first.limits.max_memory_mb)
    if first.is_single:  # a worker of many calls works between them too, and its caller's clock limits each
        _limit_cpu(first.limits)
    calls = _Calls(first, replies)
    try:
        for arguments in frames:
            calls.answer(arguments)
    except MemoryError:
        os._exit(_OUT_OF_MEMORY)
    os._exit(0)  # what works in the background is of no use any more


def _frames(stream: BinaryIO) -> Iterator[bytes]:
    while len(head := stream.read(_HEAD)) == _HEAD:
        yield stream.read(int.from_bytes(head, "big"))


class _Calls:
    """The calls of a worker: each has one reply, and before it as many reports as the function sends."""

    def __init__(self, first: _Opening, replies: BinaryIO) -> None:
        self._first, self._replies = first, replies
        self._function: Callable[..., object] | None = None

    def answer(self, arguments: bytes) -> None:
        """Call the function with *arguments*, a pickle, and send what comes of it."""
        try:
            self._send(self._outcome(arguments))
        except (pickle.PicklingError, TypeError, AttributeError, RecursionError) as error:
            self._send(Reply("error", ChildProcessDiedError(f"its result cannot be sent: {error}")))

    def _outcome(self, arguments: bytes) -> Reply:
        try:
            if self._function is None:
                self._function = pickle.loads(self._first.function)  # noqa: S301 -- of our own code in the parent
            report = (lambda value: self._send(Reply("report", value)),) if self._first.is_reporting else ()
            return Reply("result", self._function(*pickle.loads(arguments), *report))  # noqa: S301 -- as above
        except MemoryError:
            return Reply("error", LimitExceeded("megabytes of memory", self._first.limits.max_memory_mb))
        except Exception as error:  # every error belongs to the caller, who gets it
            return Reply("error", _plain(error))

    def _send(self, reply: Reply) -> None:
        self._replies.write(frame(reply))
        self._replies.flush()


def _plain(error: Exception) -> Exception:
    """Return *error* as it can be sent: without its frames, and described where it cannot be pickled."""
    try:
        return cast(Exception, pickle.loads(pickle.dumps(error)))  # noqa: S301 -- pickled in this line
    except Exception:  # whatever hinders it, the description is what is left
        return ChildProcessDiedError(f"{type(error).__name__}: {str(error)[:1000]}")


def _limit_cpu(limits: ChildLimits) -> None:
    cpu_s = int(limits.max_seconds) + _CPU_GRACE_S
    limit_cpu(cpu_s if limits.max_cpu_seconds is None else min(cpu_s, math.ceil(limits.max_cpu_seconds)))
