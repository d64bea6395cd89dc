"""The lock beside a SQLite file, by which one server keeps others away while it lives, however it ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

from server.storage.errors import DatabaseLockedError, DatabaseOpenError


class FileLock:
    """A lock that the system lets go when its process ends, so that a restarted server may go on at once."""

    def __init__(self, database: Path) -> None:
        """Take the lock of *database*.

        Raises:
            DatabaseLockedError: another process has it.
            DatabaseOpenError: its file cannot be made.
        """
        path = database.with_name(database.name + ".lock")
        try:
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise DatabaseOpenError(str(database), f"{path}: {error.strerror}") from error
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._handle)
            raise DatabaseLockedError(str(database)) from error
        self._is_held = True

    def release(self) -> None:
        """Let others have it; the file stays, since removing it could let two have it."""
        if self._is_held:
            self._is_held = False
            with contextlib.suppress(OSError):
                os.close(self._handle)
