"""Work in a thread of its own whose result is waited for no longer than there is time: kernels are compiled so."""

import gc
import logging
import threading
from collections.abc import Callable
from typing import Final, Generic, TypeVar

_LOG: Final = logging.getLogger(__name__)
_MAX_PATIENCE_S: Final = 3_600.0

Result = TypeVar("Result")


class BackgroundTask(Generic[Result]):
    """Does *work* in a thread, and has its result then; *name* is what the result is called in the log.

    Work that fails is logged, and has no result. The thread does not keep the process from ending.
    """

    def __init__(self, work: Callable[[], Result], name: str) -> None:
        self._work, self._name = work, name
        self._result: Result | None = None
        self._thread = threading.Thread(target=self._run, name=f"making a {name}", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # no room for a thread: earlier searches may not have been given back yet
            gc.collect()
            self._thread.start()

    def _run(self) -> None:
        try:
            self._result = self._work()
        except MemoryError:
            _LOG.warning("there is no memory for a %s", self._name)
        except Exception:  # the player goes on without it
            _LOG.exception("there is no %s", self._name)

    @property
    def has_ended(self) -> bool:
        """Whether the work is over, with a result or without."""
        return not self._thread.is_alive()

    def get(self, patience_s: float) -> Result | None:
        """Return the result; None where there is none within *patience_s* seconds, or the work has failed."""
        if self._result is None:
            self._thread.join(min(max(0.0, patience_s), _MAX_PATIENCE_S))
        return self._result
