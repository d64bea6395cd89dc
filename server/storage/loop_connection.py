"""Short transactions of SQLite, written by the event loop itself as long as that is quick.

What a step of a match leads to is some rows, which take a tenth of a millisecond. In a thread they cost several times
as much: at each statement it waits for the interpreter's lock, and the loop then waits for it. A commit does not wait
for the disk: the log of the database is synced at checkpoints alone, which are made in a thread.
"""

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

Result = TypeVar("Result")

QUICK_S: Final = 0.01
"""How long a transaction may hold up the event loop."""
PAUSE_FACTOR: Final = 39
"""How many times as long as one that took longer none is written by the loop: it is held up a fortieth of the time."""
CHECKPOINT_ROWS: Final = 5_000
"""After how many rows that were written or changed a checkpoint is due."""
_LOG_PAGES: Final = 20_000
"""At how many pages of the log the loop makes a checkpoint itself, where few rows are very long."""


class LoopConnection:
    """The connection of the event loop's own thread to the SQLite file at *path*; opened when it is first used.

    *configure* sets up a new connection as all of the database are; *now_s* is a clock.
    """

    def __init__(
        self, path: Path, configure: Callable[[sqlite3.Connection], None], now_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._path, self._configure, self._now_s = path, configure, now_s
        self._connection: sqlite3.Connection | None = None
        self._begun_s = self._paused_until_s = 0.0
        self._n_rows = 0

    def begin(self) -> bool:
        """Begin a transaction; return whether it was begun: not while something else writes, nor soon after a slow one.

        Raises:
            sqlite3.Error: the database failed.
        """
        self._begun_s = self._now_s()
        if self._begun_s < self._paused_until_s:
            return False
        try:
            self._opened().execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            return False
        return True

    def write(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Return what *work* returns, whose changes are committed; where it raises something, none is.

        Raises:
            sqlite3.Error: the database failed.
        """
        connection = self._opened()
        try:
            result = work(connection)
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            spent_s = self._now_s() - self._begun_s
            if spent_s > QUICK_S:
                self._paused_until_s = self._now_s() + PAUSE_FACTOR * spent_s
        return result

    def needs_checkpoint(self) -> bool:
        """Return whether so much was written since this last was true that the log should go into the database."""
        if self._connection is None or self._connection.total_changes - self._n_rows < CHECKPOINT_ROWS:
            return False
        self._n_rows = self._connection.total_changes
        return True

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = sqlite3.connect(self._path, timeout=0, isolation_level=None)
            self._configure(self._connection)
            self._connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
        return self._connection

    def close(self) -> None:
        """Close the connection, if it is open."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
