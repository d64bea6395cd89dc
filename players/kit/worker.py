"""The process in which a player thinks about one match, and the seat that replaces it when it is lost."""

import asyncio
import contextlib
import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from multiprocessing import connection
from multiprocessing.context import ForkServerProcess as Process
from typing import Final, Self

from gdl.process_limits import end_first, limit_memory
from gdl.wire.messages import Play, Stop
from players.kit import forking
from players.kit.interruption import ignore_time_up
from players.kit.notebook import packed
from players.kit.session import OpenRequest, Session
from players.kit.thinker import Thinker
from players.kit.worker_protocol import (
    MAX_LINE_BYTES,
    Instruction,
    Leave,
    Report,
    read_instruction,
    read_report,
    to_line,
)
from players.player import MakePlayer, Player

_PRELOADED: Final = (
    "players.kit.forked_main", "players.kit.worker", "players.stock", "numba.np.linalg", "numba.np.arraymath"
)  # fmt: skip
"""What workers are forked with, so that none spends its start clock on imports: two seconds of processor time."""
_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """The limits of a worker: address space, None without a limit, and niceness.

    *Units*: megabytes.
    """

    max_memory_mb: int | None = None
    niceness: int = 0

    def apply(self) -> None:
        """Limit this process and its children."""
        if self.max_memory_mb is not None:
            limit_memory(self.max_memory_mb)
        os.nice(self.niceness)


NO_LIMITS: Final = WorkerLimits()


def prepare_workers(make_player: MakePlayer = Player) -> None:
    """Start the process that workers are forked from, so that the first match need not wait for it.

    It imports the author's script and what the player has `preloaded`, unless it runs already.
    """
    forking.prepare([*_PRELOADED, *getattr(make_player, "preloaded", ())])


def _start(process: Process, make_player: MakePlayer) -> None:
    """Start *process*, a worker; what it is forked from is there already, but for the first one of this process."""
    prepare_workers(make_player)
    forking.start(process)


def is_worker_importing_main() -> bool:
    """Return whether this is a worker that imports the author's script, not the author who runs it."""
    return getattr(sys.modules.get("__mp_main__"), "__name__", "") == "__mp_main__"


class Worker:
    """A worker process as the service sees it: send instructions, iterate over reports, kill."""

    def __init__(self, process: Process, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.process, self._reader, self._writer = process, reader, writer

    @classmethod
    async def start(cls, make_player: MakePlayer, limits: WorkerLimits = NO_LIMITS) -> Self:
        """Start a worker process under *limits*.

        Raises:
            OSError: the system gives no process.
            Exception: *make_player* cannot be pickled.
        """
        player = packed(make_player)
        ours, theirs = socket.socketpair()
        with theirs:
            process = forking.CONTEXT.Process(target=_work, args=(theirs, player, limits), daemon=True)
            try:
                await asyncio.to_thread(_start, process, make_player)
            except BaseException:
                ours.close()
                raise
        reader, writer = await asyncio.open_connection(sock=ours, limit=MAX_LINE_BYTES)
        return cls(process, reader, writer)

    def send(self, *instructions: Instruction) -> None:
        """Send *instructions*; to a worker that has ended they are lost."""
        if not self._writer.is_closing():
            self._writer.writelines(map(to_line, instructions))

    async def reports(self) -> AsyncIterator[Report]:
        """Yield what the worker reports until it ends."""
        with contextlib.suppress(ConnectionError):
            while line := await self._reader.readline():
                yield read_report(line)

    def interrupt(self) -> None:
        """Interrupt what the worker does now, if that has a limit of time."""
        if self.process.is_alive() and self.process.pid is not None:
            with contextlib.suppress(ProcessLookupError):  # it has ended since it was looked at
                os.kill(self.process.pid, signal.SIGALRM)

    async def end(self, patience_s: float) -> None:
        """Let the worker end by itself, and kill it when that takes longer than *patience_s*."""
        try:
            await asyncio.to_thread(self.process.join, patience_s)
        except asyncio.CancelledError:
            self.abort()
            raise
        await self.kill()

    def abort(self) -> None:
        """Kill the process and close the pipe to it, without waiting for either."""
        self.process.kill()
        self._writer.transport.abort()

    async def kill(self) -> None:
        """Kill the process, and wait for its end."""
        self.process.kill()
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()
        await asyncio.to_thread(self.process.join, 5)


def _work(pipe: socket.socket, make_player: MakePlayer, limits: WorkerLimits) -> None:
    """Carry out instructions in the worker process until there are no more, or the service has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    os.dup2(sys.__stderr__.fileno() if sys.__stderr__ else 2, 1)
    sys.unraisablehook = ignore_time_up
    end_with_service()
    end_first(os.getpid())
    limits.apply()
    thinker = Thinker(make_player, lambda report: pipe.sendall(to_line(report)))
    with pipe, pipe.makefile("rb") as instructions, contextlib.suppress(ConnectionError):
        for line in instructions:
            thinker.execute(read_instruction(line))
            if thinker.has_left:
                break


def end_with_service() -> None:
    """End this process as soon as the service has ended: workers must not outlive it."""
    threading.Thread(target=_end_with_service, daemon=True).start()


def _end_with_service() -> None:
    service = multiprocessing.parent_process()
    if service is not None:
        connection.wait([service.sentinel])
    os._exit(1)


IDLE_S: Final = 3.0
"""A player that is started for a single match has its processor to itself at first."""
_NICENESS: Final = 10


def start_warming(make_player: MakePlayer = Player, idle_s: float = IDLE_S) -> Process | None:
    """Start a process that compiles the kernels of a player to the cache on disk; it ends by itself, and with this one.

    None where the system gives no process: then the first match compiles them.
    """
    process = forking.CONTEXT.Process(target=_warm, args=(packed(make_player), idle_s), daemon=True)
    try:
        forking.start(process)
    except (OSError, EOFError):  # or what starts processes has ended, as where the player is interrupted at once
        return None
    return process


def _warm(make_player: MakePlayer, idle_s: float) -> None:
    """Load the kernels in the process that `start_warming` starts."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_service()
    os.nice(_NICENESS)
    time.sleep(idle_s)
    make_player().warm_up()


LATENESS_S: Final = 0.3
"""How long a first legal move is waited for after the moment of answering: it may still come within the grace."""
MAX_LOSSES: Final = 10
"""How many workers a match may lose before it gets no more."""
REFUSAL_PAUSE_S: Final = 1.0
"""How long after the system gave no process it is asked again: a machine that has none now may have one soon."""


class SeatedPlayer:
    """Asks a worker and answers in time, also when the worker is slow or lost."""

    def __init__(self, session: Session, make_player: MakePlayer, limits: WorkerLimits = NO_LIMITS) -> None:
        self.session, self.make_player, self.limits = session, make_player, limits
        self.worker: Worker | None = None
        self.watch: asyncio.TimerHandle | None = None
        self._waiting: list[Instruction] = [session.join()]
        self._changed = asyncio.Event()
        self._is_over = False
        self._gets_no_worker = self._is_refusal_told = False

    def ask(self, play: Play, received_s: float, step: int | None) -> OpenRequest | None:
        """Return the question that *play* asks, an open one where it asks again; None where the match was refused."""
        if self.session.is_refused:
            return None
        if not self.session.is_repeated(play, step):
            self.session.question.close()
            self._send(*self.session.ask(play, received_s))
            self._notify()
        return self.session.question

    def catch_up(self, play: Play, received_s: float, step: int | None, answered: str) -> None:
        """Take in a step that was answered before, unless the session has it already."""
        if not (self.session.is_refused or self.session.is_repeated(play, step)):
            self.session.question.close()
            self._send(*self.session.catch_up(play, received_s, answered))
            self._notify()

    async def until_caught_up(self) -> None:
        """Wait until a worker has carried out all that it was sent, or none will."""
        self._send(self.session.confirm())
        while not (self.session.is_caught_up or self._gets_no_worker):
            await self._changed.wait()

    async def answered(self, question: OpenRequest) -> str:
        """Return the answer to *question* as soon as it is given, else the best move so far when its time ends."""
        await self._wait(lambda: question.answer is not None, question.answer_by_s)
        if question.answer is None and question.best is None:
            latest_s = max(question.answer_by_s, time.monotonic()) + LATENESS_S
            await self._wait(lambda: bool(question.best or question.answer), latest_s)
        return question.end_clock()

    async def work(self) -> None:
        """Keep a worker running until the match is over; a lost one is replaced."""
        while not self._needs_no_worker and self.session.n_losses <= MAX_LOSSES:
            try:
                worker = await Worker.start(self.make_player, self.limits)
            except (OSError, EOFError) as error:  # the latter where the fork server gets no process
                self._note_refusal(error)
                await self._wait(lambda: self._needs_no_worker, time.monotonic() + REFUSAL_PAUSE_S)
                continue
            except Exception as error:  # the player cannot be sent to a process
                self._note_refusal(error)
                self.session.question.close()
                break
            await self._follow(worker)
        self._gets_no_worker = True
        self._notify()

    def _note_refusal(self, error: Exception) -> None:
        """Tell why there is no worker: the record in each step, the log once."""
        if not self._is_refusal_told:
            _LOG.error("no process for match %s: %s", self.session.start.match_id, error)
        self._is_refusal_told = True
        self.session.question.note_failure(f"its process cannot start: {error}")

    @property
    def _needs_no_worker(self) -> bool:
        return self._is_over or self.session.is_refused

    async def _follow(self, worker: Worker) -> None:
        """Take the reports of *worker* until it ends; if the match goes on, prepare its replacement."""
        if self._is_over:
            await worker.kill()
            return
        self.worker = worker
        self._send()
        try:
            async for report in worker.reports():
                self.session.take_report(report)
                self._notify()
        except asyncio.CancelledError:
            worker.abort()
            raise
        if not self._needs_no_worker:
            _LOG.warning("a worker of match %s was lost and is replaced", self.session.start.match_id)
            self.worker = None
            self._waiting = list(self.session.replace(time.monotonic()))
            self._notify()
            await worker.kill()

    async def leave(self, stop: Stop | None, patience_s: float) -> None:
        """End the match, with the last step if *stop* has it, and the worker, which may take *patience_s* for it."""
        self._is_over = True
        instructions = [] if stop is None else self.session.stop(stop)
        self.session.question.close()
        self._notify()
        if self.worker is not None:
            self.worker.interrupt()  # before it is sent the last step, which the player is to perceive
            self.worker.send(*instructions, Leave(is_abort=stop is None))
            await self.worker.end(patience_s)

    def _send(self, *instructions: Instruction) -> None:
        self._waiting += instructions
        if self.worker is not None:
            self.worker.send(*self._waiting)
            self._waiting = []

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _wait(self, has_come: Callable[[], bool], until_s: float) -> None:
        while not has_come() and (remaining_s := until_s - time.monotonic()) > 0:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), remaining_s)
