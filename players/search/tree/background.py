"""A compiled search that is made in the background, and goes on there while the player has nothing to answer."""

import logging
import threading
from collections.abc import Callable
from typing import Final

from gdl.errors import GdlError
from gdl.game import Role, State
from gdl.language.terms import Term
from players.search.background_task import BackgroundTask
from players.search.tree.search import CompiledSearch

_LOG: Final = logging.getLogger(__name__)


class BackgroundSearch:
    """Makes a search by *make* in a thread, and lets it think in another one until `stop`.

    The kernel may have to be compiled first, which takes longer than a clock. To be used by one thread.
    """

    def __init__(self, make: Callable[[], CompiledSearch]) -> None:
        self._making = BackgroundTask(make, "compiled tree")
        self._thinker: threading.Thread | None = None
        self._is_wanted = threading.Event()

    def get(self, patience_s: float) -> CompiledSearch | None:
        """Return the search, at rest; None where it is not made within *patience_s* seconds."""
        self.stop()
        return self._making.get(patience_s)

    def ponder(self, state: State, role: Role | None = None, move: Term | None = None) -> None:
        """Begin to think on about *state*, or what follows it where *role* makes *move*."""
        self._end_thinking()
        search = self._making.get(0.0)
        if search is None or state.is_terminal:
            return
        self._is_wanted.set()
        self._thinker = threading.Thread(
            target=self._run, args=(search, state, role, move), name="pondering", daemon=True
        )
        self._thinker.start()

    def _run(self, search: CompiledSearch, state: State, role: Role | None, move: Term | None) -> None:
        try:
            search.ponder(state, role, move, self._is_wanted.is_set)
        except (GdlError, MemoryError) as error:
            _LOG.warning("no thinking on the others' time: %s", error)

    def stop(self) -> None:
        """End the thinking in the background; return when it has ended."""
        self._end_thinking()
        search = self._making.get(0.0)
        if search is not None:
            search.rest()

    def _end_thinking(self) -> None:
        self._is_wanted.clear()
        if self._thinker is not None:
            self._thinker.join()
            self._thinker = None
