"""Comparisons in child processes, which wrong tables may kill or hold for ever."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Final, TypeAlias

from gdl.compiler.kernel_loading import load_kernels
from tests.fuzz.comparison import Comparison, compare
from tests.fuzz.differences import DifferenceError, NotComparableError

Compare: TypeAlias = Callable[[str, int], Comparison]

GAMES_PER_CHILD: Final = 200
"""A child is replaced after that many games: terms are kept as long as a process lives."""
_MAX_MEMORY: Final = 6 * 1024**3
_MAX_DETAIL: Final = 5_000
_MAX_WAIT: Final = 50
"""How many times as long as by processor time a game may take by the clock, on a machine that is busy."""
_START_S: Final = 1_800.0
"""How long a child may take to begin: the first time on a machine the kernels are compiled."""


@dataclass(frozen=True)
class Outcome:
    """What came of one game.

    `failure` says what was asked of which engine, or that the process died or did not answer; it is empty where all
    is well. `refusal` is why there was nothing to compare. `games_before` are those of the same process.
    """

    failure: str = ""
    detail: str = ""
    refusal: str = ""
    comparison: Comparison | None = None
    games_before: tuple[int, ...] = ()


class Worker:
    """A child process that compares games one after the other; a new one takes its place when it is lost.

    A game may take *timeout_s* seconds of processor time, in a kernel that never returns as anywhere else.
    """

    def __init__(self, timeout_s: float, compare: Compare = compare) -> None:
        self._timeout_s = timeout_s
        self._compare = compare
        self._child: multiprocessing.process.BaseProcess | None = None
        self._connection: Connection | None = None
        self._games: list[int] = []

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def compare(self, text: str, seed: int) -> Outcome:
        """Return what comes of comparing the game of the rules *text*."""
        if len(self._games) == GAMES_PER_CHILD:
            self.stop()
        connection = self._connection or self._start()
        before = tuple(self._games)
        self._games.append(seed)
        try:
            connection.send((text, seed))
            if connection.poll(_MAX_WAIT * self._timeout_s):
                found = connection.recv()
                assert isinstance(found, Outcome)
                return found
            failure = "the process gave no answer"
        except (EOFError, ConnectionError):
            failure = f"the process died: {self._death()}"
        self.stop()
        return Outcome(failure=failure, games_before=before)

    def stop(self) -> None:
        """End the child, whatever it is doing."""
        if self._child is not None and self._connection is not None:
            self._child.kill()
            self._child.join()
            self._connection.close()
        self._child = self._connection = None
        self._games = []

    def _start(self) -> Connection:
        context = multiprocessing.get_context("spawn")
        connection, theirs = context.Pipe()
        child = context.Process(target=_serve, args=(theirs, self._compare, self._timeout_s), daemon=True)
        child.start()
        theirs.close()
        self._child, self._connection = child, connection
        if not connection.poll(_START_S):
            raise TimeoutError("the child process does not begin")
        connection.recv()
        return connection

    def _death(self) -> str:
        assert self._child is not None
        self._child.join(10)
        code = self._child.exitcode or 0
        if code == -signal.SIGPROF:
            return f"no answer in {self._timeout_s:g} s of processor time"
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def _serve(connection: Connection, compare: Compare, timeout_s: float) -> None:
    """Answer questions until the other end is closed; SIGPROF ends the process where one takes too long."""
    resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY, _MAX_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # a heap that is corrupt has nothing of use to say
    load_kernels()
    with suppress(EOFError, KeyboardInterrupt):
        connection.send(None)
        while True:
            text, seed = connection.recv()
            signal.setitimer(signal.ITIMER_PROF, timeout_s)
            outcome = _outcome(compare, text, seed)
            signal.setitimer(signal.ITIMER_PROF, 0)
            connection.send(outcome)


def _outcome(compare: Compare, text: str, seed: int) -> Outcome:
    try:
        return Outcome(comparison=compare(text, seed))
    except DifferenceError as error:
        return Outcome(failure=error.kind, detail=error.detail[:_MAX_DETAIL])
    except NotComparableError as error:
        return Outcome(refusal=str(error)[:_MAX_DETAIL])
    except Exception as error:  # whatever else an engine raises is a finding
        return Outcome(failure=type(error).__name__, detail=str(error)[:_MAX_DETAIL])
