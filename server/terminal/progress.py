"""Progress on standard error: a bar for long work."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

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
