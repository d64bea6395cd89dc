"""The threads that search a tree together: what each of them works with, and how they begin and end."""

import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import inf
from typing import Final, TypeAlias

from players.search.kernel_calls import Pace
from players.search.tree.batches import SearchRoom

MAX_THREADS: Final = 64
"""More would only wait for each other, and few machines have the cores."""
_LOG: Final = logging.getLogger(__name__)

IsWanted: TypeAlias = Callable[[], bool]
Work: TypeAlias = Callable[[IsWanted], None]
"""Goes on as long as it is wanted, or until there is nothing more to do."""


@dataclass(slots=True)
class TreeWorker:
    """What one thread of a search has for itself. *Units*: seconds.

    `slice_s` is about how long a call of the kernel takes that it makes.
    """

    room: SearchRoom
    pace: Pace
    slice_s: float = field(default=0.0)


class WorkerThreads:
    """Threads that do some *works* until `dismiss`, or until one of them has failed."""

    def __init__(self, works: Iterable[Work] = ()) -> None:
        self._is_dismissed = threading.Event()
        self._failure: Exception | None = None
        self._threads = [
            threading.Thread(target=self._run, args=(work,), name="tree search", daemon=True) for work in works
        ]
        for thread in self._threads:
            try:
                thread.start()
            except RuntimeError as error:  # the system gives no thread: those that there are do
                _LOG.warning("a tree is searched by fewer threads: %s", error)

    def _run(self, work: Work) -> None:
        try:
            work(self.is_wanted)
        except Exception as error:  # it is raised where the threads are waited for
            self._failure = error
            self.dismiss()

    def is_wanted(self) -> bool:
        """Return whether to go on."""
        return not self._is_dismissed.is_set()

    def dismiss(self) -> None:
        """Let all stop at their next opportunity."""
        self._is_dismissed.set()

    def wait(self, patience_s: float = inf) -> None:
        """Wait until all have stopped, at most so many seconds.

        Raises: what a work has failed with.
        """
        until_s = time.monotonic() + patience_s
        for thread in self._threads:
            if thread.is_alive():
                thread.join(None if patience_s == inf else max(0.0, until_s - time.monotonic()))
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
