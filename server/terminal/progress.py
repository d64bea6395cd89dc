"""Progress on standard error: a bar for long work."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.console import Console

DELAY_S: Final = 2.0
"""What is over sooner shows no bar."""


@contextmanager
def progress(
    what: str, total: int | None = None, *, delay_s: float = DELAY_S, console: Console | None = None
) -> Iterator[Callable[[], None]]:
    """Show a bar called *what* once *delay_s* have passed, and yield what moves it on by one of *total*.

    Without *total* it only says that work goes on. It is gone at the end, and never shown where standard error is
    no terminal.
    """
    if console is None and not sys.stderr.isatty():
        yield lambda: None
        return
    with _bar(what, total, delay_s, console) as advance:
        yield advance


@contextmanager
def _bar(what: str, total: int | None, delay_s: float, console: Console | None) -> Iterator[Callable[[], None]]:
    from rich.console import Console  # noqa: PLC0415 -- slow to load, and commands often write to no terminal
    from rich.progress import (  # noqa: PLC0415 -- as above
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    count = (MofNCompleteColumn(),) if total is not None else ()
    columns = (TextColumn("{task.description}"), BarColumn(), *count, TimeElapsedColumn())
    bar = Progress(*columns, console=console or Console(stderr=True), transient=True)
    task = bar.add_task(what, total=total)
    if not bar.console.is_terminal:
        yield lambda: None
        return
    timer = threading.Timer(delay_s, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda: bar.advance(task)
    finally:
        timer.cancel()
        timer.join()
        bar.stop()
