"""What takes longer to make than a clock allows, since its kernels may have to be compiled first."""

import gc
import logging
import threading
from collections.abc import Callable
from typing import Final, Generic, TypeVar

_LOG: Final = logging.getLogger(__name__)
_MAX_PATIENCE_S: Final = 3_600.0

Made = TypeVar("Made")


class InTheMaking(Generic[Made]):
    """Something that *make* makes in a thread of its own; *name* is what it is called in the log."""

    def __init__(self, make: Callable[[], Made], name: str) -> None:
        self._make, self._name = make, name
        self._made: Made | None = None
        self._maker = threading.Thread(target=self._run, name=f"making a {name}", daemon=True)
        try:
            self._maker.start()
        except RuntimeError:  # no room for a thread: earlier searches may not have been given back yet
            gc.collect()
            self._maker.start()

    def _run(self) -> None:
        try:
            self._made = self._make()
        except MemoryError:
            _LOG.warning("there is no memory for a %s", self._name)

    def get(self, patience_s: float) -> Made | None:
        """Return it; None where it is not made within *patience_s* seconds."""
        if self._made is None:
            self._maker.join(min(max(0.0, patience_s), _MAX_PATIENCE_S))
        return self._made
