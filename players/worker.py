"""A worker: the process in which a player thinks about one match, and the service's end of the pipe to it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator
from multiprocessing import connection, forkserver
from multiprocessing.context import ForkServerContext
from multiprocessing.context import ForkServerProcess as Process
from typing import Final

from players.interruption import ignore_time_up
from players.pipe import MAX_LINE_BYTES, Order, Report, read_order, read_report, to_line
from players.player import MakePlayer
from players.thinker import Thinker

_PRELOADED: Final = ("__main__", "players.worker", "players.uct")
_LOG: Final = logging.getLogger(__name__)
CONTEXT: Final[ForkServerContext] = multiprocessing.get_context("forkserver")


def prepare_workers() -> None:
    """Start the process that workers are forked from, so that the first match need not wait for it."""
    CONTEXT.set_forkserver_preload(list(_PRELOADED))
    forkserver.ensure_running()


def is_worker_importing_main() -> bool:
    """Return whether this is a worker that imports the author's script, not the author who runs it."""
    return getattr(sys.modules.get("__mp_main__"), "__name__", "") == "__mp_main__"


class Worker:
    """The service's end: send orders, iterate over reports, kill."""

    def __init__(self, process: Process, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.process, self._reader, self._writer = process, reader, writer

    @classmethod
    async def hire(cls, make_player: MakePlayer) -> Worker:
        """Start a worker process.

        Raises:
            OSError: the system gives no process.
        """
        ours, theirs = socket.socketpair()
        with theirs:
            process = CONTEXT.Process(target=_work, args=(theirs, make_player), daemon=True)
            try:
                await asyncio.to_thread(process.start)
            except BaseException:
                ours.close()
                raise
        reader, writer = await asyncio.open_connection(sock=ours, limit=MAX_LINE_BYTES)
        return cls(process, reader, writer)

    def send(self, *orders: Order) -> None:
        """Send *orders*; to a worker that has ended they are lost."""
        if not self._writer.is_closing():
            self._writer.writelines(map(to_line, orders))

    async def reports(self) -> AsyncIterator[Report]:
        """Yield what the worker reports until it ends."""
        with contextlib.suppress(ConnectionError):
            while line := await self._reader.readline():
                yield read_report(line)

    async def end(self, patience_s: float) -> None:
        """Interrupt the search, let the worker end by itself, and kill it when that takes longer than *patience_s*."""
        if self.process.is_alive() and self.process.pid is not None:
            os.kill(self.process.pid, signal.SIGALRM)
        await asyncio.to_thread(self.process.join, patience_s)
        await self.kill()

    async def kill(self) -> None:
        """End the process, whatever it does, and wait for its end."""
        self.process.kill()
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()
        await asyncio.to_thread(self.process.join, 5)


def _work(pipe: socket.socket, make_player: MakePlayer) -> None:
    """Be the worker: obey orders until there are no more, or the service is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    os.dup2(sys.__stderr__.fileno() if sys.__stderr__ else 2, 1)
    sys.unraisablehook = ignore_time_up
    end_with_service()
    thinker = Thinker(make_player, lambda report: pipe.sendall(to_line(report)))
    with pipe, pipe.makefile("rb") as orders, contextlib.suppress(ConnectionError):
        for line in orders:
            thinker.obey(read_order(line))
            if thinker.has_left:
                break


def end_with_service() -> None:
    """See to it that this process ends as soon as the service has: workers must not outlive it."""
    threading.Thread(target=_end_with_service, daemon=True).start()


def _end_with_service() -> None:
    service = multiprocessing.parent_process()
    if service is not None:
        connection.wait([service.sentinel])
    os._exit(1)
