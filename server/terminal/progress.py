"""Progress of long work: a bar on standard error, or below the cell of a notebook."""

from __future__ import annotations

import html
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rich.console import Console

DELAY_S: Final = 2.0
"""What is over sooner shows no bar."""
_REDRAWN_S: Final = 0.2


@contextmanager
def progress(
    what: str, total: int | None = None, *, delay_s: float = DELAY_S, console: Console | None = None
) -> Iterator[Callable[[], None]]:
    """Show a bar called *what* once *delay_s* have passed, and yield what moves it on by one of *total*.

    Without *total* it only says that work goes on. It is gone at the end, and never shown where standard error is
    no terminal, unless that is of a notebook.
    """
    if console is None and is_in_notebook():
        with _cell_bar(what, total, delay_s) as advance:
            yield advance
        return
    if console is None and not sys.stderr.isatty():
        yield lambda: None
        return
    with _bar(what, total, delay_s, console) as advance:
        yield advance


def is_in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


@contextmanager
def _cell_bar(what: str, total: int | None, delay_s: float) -> Iterator[Callable[[], None]]:
    """Show the bar as HTML, drawn again as the work goes on, a few times a second."""
    ipython: Any = import_module("IPython.display")
    done, drawn_s, shown = 0, time.monotonic() + delay_s - _REDRAWN_S, None

    def advance() -> None:
        nonlocal done, drawn_s, shown
        done += 1
        if time.monotonic() - drawn_s < _REDRAWN_S:
            return
        drawn_s = time.monotonic()
        bar = ipython.HTML(_bar_html(what, done, total))
        if shown is None:
            shown = ipython.display(bar, display_id=True)
        else:
            shown.update(bar)

    try:
        yield advance
    finally:
        if shown is not None:
            shown.update(ipython.HTML(""))


def _bar_html(what: str, done: int, total: int | None) -> str:
    place = "" if total is None else f' value="{done}" max="{total}"'
    count = f"{done}" if total is None else f"{done}/{total}"
    return f"<label>{html.escape(what)} <progress{place}></progress> {count}</label>"


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
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), *count, TimeElapsedColumn())
    bar = Progress(*columns, console=console or Console(stderr=True), transient=True)
    task = bar.add_task(what, total=total)
    if not bar.console.is_terminal:
        yield lambda: None
        return
    timer = threading.Timer(min(delay_s, threading.TIMEOUT_MAX), bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda: bar.advance(task)
    finally:
        timer.cancel()
        timer.join()
        bar.stop()
