"""Logs to standard error: one line an event, for people at a terminal, as JSON for everything else.

Our own events come from `structlog.get_logger`, those of libraries from `logging`; both take the same way. What is
bound to the context (`request`, `match`) is in every line. Nothing secret is written: keys that name a secret lose
their value, and what looks like a token or a password in a text is covered, wherever it stands. A thread writes the
lines, so that a stream that takes nothing holds nothing else up.
"""

import contextlib
import logging
import os
import queue
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from logging.handlers import QueueHandler, QueueListener
from typing import Any, Final, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from server.sanitization import HIDDEN, without_passwords

MAX_VALUE: Final = 2_000
"""Characters of one value; what came from outside may be long."""
_FIRST: Final = ("timestamp", "level", "logger", "event")
_TALKATIVE: Final = ("alembic", "asyncio", "aiosqlite")
"""Libraries whose warnings are enough."""
_SECRET_KEYS: Final = re.compile(r"token|secret|passw|authorization|cookie|csrf|seed|scrambl|key$", re.IGNORECASE)
_SECRET_TEXTS: Final = (
    (re.compile(r"\b(bearer|basic)\s+[\w.~+/=-]{6,}", re.IGNORECASE), rf"\1 {HIDDEN}"),
    (re.compile(r"\b(ggp[a-z]*_)[\w.-]{8,}"), rf"\1{HIDDEN}"),
)
CAPACITY: Final = 10_000
"""How many lines wait for a stream that takes none; what comes then is left out and counted."""
FLUSH_S: Final = 2.0
"""How long the end of the process waits for lines to be written."""


class LogFormat(StrEnum):
    """How log lines look; `auto` is `text` at a terminal and `json` elsewhere."""

    AUTO = "auto"
    TEXT = "text"
    JSON = "json"


def without_secrets(text: str) -> str:
    """Return *text* with what looks like a token or a password covered.

    Example:
        >>> without_secrets("postgresql://ggp:hunter2@db/ggp")
        'postgresql://ggp:***@db/ggp'
    """
    text = without_passwords(text)
    for pattern, covered in _SECRET_TEXTS:
        text = pattern.sub(covered, text)
    return text


def configure_logs(log_format: LogFormat, level: str, stream: TextIO | None = None) -> None:
    """Send all logs of this process to *stream*, standard error if none is given, from *level* on.

    A thread writes them, the last ones when the process ends: a stream that takes nothing holds up nothing else.
    """
    out = sys.stderr if stream is None else stream
    is_json = log_format is LogFormat.JSON or (log_format is LogFormat.AUTO and not out.isatty())
    root = logging.getLogger()
    root.handlers = [LogQueue(out, _formatter(is_json, has_colors=not is_json and out.isatty()))]
    root.setLevel(level.upper())
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(max(root.level, logging.WARNING))
    logging.captureWarnings(True)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_shared(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def _shared() -> list[Processor]:
    """Return the processors of every event, of structlog and of the standard library."""
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        _clean,
    ]


def _formatter(is_json: bool, has_colors: bool) -> logging.Formatter:
    """Return the formatter of all log lines: JSON, or text for a terminal."""
    rendering: list[Processor] = (
        [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(ensure_ascii=False, default=str)]
        if is_json
        # Without the values of variables, which a traceback that is pretty would show.
        else [structlog.dev.ConsoleRenderer(colors=has_colors, exception_formatter=structlog.dev.plain_traceback)]
    )
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=_shared(),
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *rendering, _redacted],
    )


def _clean(_logger: WrappedLogger, _name: str, event: EventDict) -> EventDict:
    """Cover what a key calls secret, and let no value move the cursor or run on for ever."""
    first = {key: event[key] for key in _FIRST if key in event}
    return {key: _clean_value(key, value) for key, value in (first | dict(event)).items()}


def _clean_value(key: str, value: Any) -> Any:
    if key.startswith("_") or key in ("exc_info", "exception"):
        return value
    if _SECRET_KEYS.search(key):
        return HIDDEN
    return _printable(value) if isinstance(value, str) else value


def _printable(text: str) -> str:
    if len(text) > MAX_VALUE:
        text = f"{text[:MAX_VALUE]}..."
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _redacted(_logger: WrappedLogger, _name: str, line: Any) -> str:
    return without_secrets(str(line))


@contextmanager
def bound(**context: str) -> Iterator[None]:
    """Put *context* into every line that is logged in the block, and in the tasks begun there."""
    with structlog.contextvars.bound_contextvars(**context):
        yield


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
