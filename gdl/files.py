"""Files that several processes use: replaced in one step, so that no reader finds half of one, or locked for one."""

import contextlib
import errno
import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

PRIVATE: Final = 0o600
"""The mode of a file that its owner alone may read."""
_PUBLIC: Final = 0o666
MAX_NAME_BYTES: Final = 255
"""How long the name of a file may be."""
_MAX_PASSING_BYTES: Final = 100
_NO_FILE: Final = "a device or a pipe cannot be replaced; name a file on a disk"
_TAKES_NO_MORE: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


def shortened(name: str, max_bytes: int) -> str:
    """Return as many of the first characters of *name* as *max_bytes* of the name of a file have room for.

    >>> shortened("hex", 2), shortened("棋棋", 5)
    ('he', '棋')
    """
    raw = os.fsencode(name)
    return name if len(raw) <= max_bytes else raw[:max_bytes].decode("utf-8", "ignore")


def is_file(path: Path) -> bool:
    r"""Return whether there is a file at *path*; there is none where it is longer than a path may be, or none at all.

    >>> is_file(Path("x" * 300)), is_file(Path("a\0b"))
    (False, False)
    """
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


@contextmanager
def replacing(path: Path, mode: int = _PUBLIC, *, is_durable: bool = True) -> Iterator[Path]:
    """Yield a new, empty file beside *path*, which takes its place when the block ends well; else it is removed.

    The new file has *mode*, as far as the umask allows. Where it *is_durable*, it outlives a crash of the machine from
    then on, which takes a few milliseconds.

    Raises:
        OSError: the file cannot be written, or is a device or a pipe; what was at *path* stays.
    """
    if is_stream(path) and not path.is_dir():  # which the system would replace, as any file
        raise OSError(errno.EINVAL, _NO_FILE, str(path))
    passing = path.with_name(f".{shortened(path.name, _MAX_PASSING_BYTES)}.{secrets.token_hex(4)}")
    try:
        with naming(path):
            os.close(os.open(passing, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
            yield passing
            if is_durable:
                _synchronize(passing)
            passing.replace(path)
    except OSError as error:
        if error.filename in (passing, str(passing)):  # a name that no user has heard of
            error.filename = str(path)
        raise
    finally:
        with contextlib.suppress(OSError):
            passing.unlink(missing_ok=True)
    if is_durable:
        with contextlib.suppress(OSError):  # not every file system lets a folder be synchronised
            _synchronize(path.parent)


@contextmanager
def writing(path: Path, *, is_durable: bool = True) -> Iterator[Path]:
    """Yield where to write what a user wants at *path*: a new file that takes its place, as `replacing` has it.

    A link stays a link, and a file keeps its mode. What is no file on a disk, such as a pipe or /dev/stdout, is written
    to itself.

    Raises:
        OSError: it cannot be written; a file that was there stays.
    """
    if is_stream(path):
        with naming(path):
            yield path
        return
    target = path.resolve() if path.is_symlink() else path
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    if mode is not None:
        os.close(os.open(target, os.O_WRONLY))  # what could not be written in place is not replaced either
    with replacing(target, _PUBLIC if mode is None else mode, is_durable=is_durable) as passing:
        yield passing
        if mode is not None:
            passing.chmod(mode)


def is_stream(path: Path) -> bool:
    """Return whether *path* is no file on a disk; /dev/stdout is none, even where a file takes it."""
    folder = path.parent.resolve()
    return (path.exists() and not path.is_file()) or folder == Path("/dev") or folder.is_relative_to("/proc")


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Have an error of the block that the disk takes no more name the file at *path*: the system names none then.

    Raises:
        OSError: as the block raised it.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno in _TAKES_NO_MORE:
            error.filename = str(path)
        raise


def _synchronize(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def open_locked(path: Path, mode: int) -> int:
    """Return a handle of the file at *path*, made with *mode* where it is not there, which no other process has locked.

    It stays locked until it is closed, or this process ends.

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
