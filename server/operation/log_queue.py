"""Log lines on their way to a stream: a thread writes them, so that one which takes nothing holds nothing else up."""

import contextlib
import logging
import os
import queue
from logging.handlers import QueueHandler, QueueListener
from typing import Any, Final, TextIO

CAPACITY: Final = 10_000
"""How many lines wait for a stream that takes none; what comes then is left out and counted."""
FLUSH_S: Final = 2.0
"""How long the end of the process waits for lines to be written."""


class LogQueue(QueueHandler):
    """Formats each record at once, where its context is, and lets a thread write the line to *stream*.

    Where lines were left out, a line in their place tells how many.
    """

    queue: queue.Queue[Any]

    def __init__(self, stream: TextIO, formatter: logging.Formatter | None = None, capacity: int = CAPACITY) -> None:
        super().__init__(queue.Queue(capacity))
        self.setFormatter(formatter)
        self._n_left_out = 0
        _Writer(self.queue, stream).start()

    def enqueue(self, record: logging.LogRecord) -> None:
        """Let the thread write *record*, or count it where too many wait."""
        try:
            self._tell_left_out()
            self.queue.put_nowait(record)
        except queue.Full:
            self._n_left_out += 1

    def flush(self) -> None:
        """Wait until all is written, two seconds at most; the end of the process calls it."""
        self.acquire()
        try:
            if self._is_written() and self._n_left_out:
                self._tell_left_out()
                self._is_written()
        finally:
            self.release()

    def _tell_left_out(self) -> None:
        if self._n_left_out:
            said = f"{self._n_left_out} log lines were left out here, since they were not read in time"
            self.queue.put_nowait(
                self.prepare(logging.LogRecord(__name__, logging.WARNING, __file__, 0, said, None, None))
            )
            self._n_left_out = 0

    def _is_written(self) -> bool:
        with self.queue.all_tasks_done:
            return self.queue.all_tasks_done.wait_for(lambda: not self.queue.unfinished_tasks, FLUSH_S)


class _Writer(QueueListener):
    """Writes lines in a thread that the end of the process does not wait for.

    It goes around the buffer of the stream and the lock of a handler: the end of the process takes both, and would wait
    for ever where this thread is stuck with them.
    """

    def __init__(self, lines: queue.Queue[Any], stream: TextIO) -> None:
        super().__init__(lines)
        self._stream = stream
        try:
            self._descriptor: int | None = stream.fileno()
        except (OSError, ValueError):  # a stream in memory
            self._descriptor = None

    def handle(self, record: logging.LogRecord) -> None:
        """Write the line; where the stream is closed, it is lost."""
        line = f"{record.getMessage()}\n"
        with contextlib.suppress(OSError, ValueError):
            if self._descriptor is None:
                self._stream.write(line)
                return
            left = line.encode(self._stream.encoding or "utf-8", "backslashreplace")
            while left:
                left = left[os.write(self._descriptor, left) :]
