"""Files that are locked for one process, until it closes them or ends."""

import fcntl
import os
from pathlib import Path


def open_locked(path: Path, mode: int) -> int:
    """Return a handle of the file at *path*, made with *mode* where it is not there, which no other process has locked.

    Raises:
        BlockingIOError: another process has locked it.
        OSError: it cannot be opened, or the file system has no locks.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, mode)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        error.filename = str(path)
        raise
    return handle
