"""Compiled games on disk, so that a game is compiled once on a machine, and not at each start.

A game is found by its key, a hash of its normalised rules, of the limit on ground rules, and of the code of all modules
that make tables: a changed version never finds what another one has made. What is read is verified before a kernel sees
it. Whatever fails here, the game is compiled.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from io import FileIO
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

import clingo

from gdl.compiler.serialization import deserialized, serialized
from gdl.compiler.tables import CompiledRules
from gdl.datalog.clauses import Clause
from gdl.files import PRIVATE, open_locked, replacing
from gdl.game import Role
from gdl.language.terms import flattened

VARIABLE: Final = "GGP_GAME_CACHE"
"""The variable of the environment that names another folder, or is `off`."""
MAX_BYTES: Final = 512 * 1024 * 1024
_OFF: Final = frozenset({"off", "no", "none", "0"})
_PACKAGE: Final = Path(__file__).parent.parent
FILES: Final = tuple(
    sorted([
        *(_PACKAGE / "compiler").rglob("*.py"),
        *(_PACKAGE / "datalog").glob("*.py"),
        *(_PACKAGE / "language").glob("*.py"),
        _PACKAGE / "errors.py",
        _PACKAGE / "game.py",
    ])
)  # fmt: skip
"""The files whose code makes tables, or reads them."""
_SUFFIX: Final = ".game"
_LOCK_SUFFIX: Final = ".lock"
_OLD_S: Final = 86_400.0
"""When what a process has left that was killed may be removed."""
_ASKING_S: Final = 0.05
"""How often it is asked whether another process has compiled a game."""
_LOG: Final = logging.getLogger(__name__)
_LOADED: Final[WeakValueDictionary[bytes, CompiledRules]] = WeakValueDictionary()
"""What is in use in this process, by key: matches of a game share its tables."""


@cache
def _stamp() -> str:
    """Return what stands for the code that makes tables."""
    code = b"\0".join(file.read_bytes() for file in FILES)
    return hashlib.sha256(clingo.__version__.encode() + b"\0" + code).hexdigest()


def key_of(clauses: Sequence[Clause], roles: Sequence[Role], max_ground_rules: int) -> bytes:
    """Return the key of the game that *clauses* define, whatever the layout and the comments of its rule file."""
    written = [
        (
            list(flattened(clause.head)),
            [(literal.is_positive, *flattened(literal.atom)) for literal in clause.literals],
            [(pair.is_equal, list(flattened(pair.left)), list(flattened(pair.right))) for pair in clause.differences],
        )
        for clause in clauses
    ]
    told = [_stamp(), max_ground_rules, [role.name for role in roles], written]
    return hashlib.sha256(json.dumps(told).encode()).digest()


def game_cache(environment: Mapping[str, str] = os.environ) -> GameCache | None:
    """Return the cache that the *environment* names, None where it is switched off.

    It is the folder `$GGP_GAME_CACHE`, or stands beside the kernels in `$NUMBA_CACHE_DIR`, or in the user's cache.
    """
    named = environment.get(VARIABLE, "")
    if named.lower() in _OFF:
        return None
    if named:
        return GameCache(Path(named))
    if beside_kernels := environment.get("NUMBA_CACHE_DIR"):
        return GameCache(Path(beside_kernels) / "ggp-games")
    caches = Path(environment.get("XDG_CACHE_HOME", ""))
    if caches.is_absolute():  # XDG Base Directory Specification: another one is to be ignored
        return GameCache(caches / "ggp" / "games")
    try:
        return GameCache(Path.home() / ".cache" / "ggp" / "games")
    except RuntimeError:  # there is no home
        return None


@dataclass(frozen=True, slots=True)
class GameCache:
    """A folder with compiled games, of *max_bytes* at most; those that were not used for longest are removed first.

    Any number of threads and processes may use the folder. Nothing here raises an error: a disk that is full, or a
    folder that cannot be written, costs what the cache would save.
    """

    folder: Path
    max_bytes: int = MAX_BYTES

    def load(self, key: bytes) -> CompiledRules | None:
        """Return the compiled game with that *key*, None where it is not there; a damaged file is removed."""
        found = _LOADED.get(key)
        if found is not None:
            return found
        path = self._path(key)
        try:
            found = _LOADED.setdefault(key, deserialized(self._read(path), key))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, MemoryError) as error:
            _LOG.info("a compiled game that was kept is refused, and made again: %s", error)
            with suppress(OSError):
                path.unlink()
            return None
        with suppress(OSError):
            os.utime(path)  # it was used now
        return found

    def _read(self, path: Path) -> bytes:
        """Return the content of a plain file of this user, or of the system's, that is not too large."""
        with FileIO(path, opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_uid not in (os.geteuid(), 0):
                raise ValueError("it is no file of ours")
            if status.st_size > self.max_bytes:
                raise ValueError("it is too large")
            return file.read(status.st_size)

    def store(self, key: bytes, rules: CompiledRules) -> None:
        """Keep *rules* under *key*, and remove what there is no room for any more."""
        rules = _LOADED.setdefault(key, rules)
        try:
            data = serialized(rules, key)
            if len(data) > self.max_bytes:
                return
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._make_room(len(data))
            # Not durable: after a crash of the machine the checksum tells whether the file is whole.
            with replacing(self._path(key), PRIVATE, is_durable=False) as passing:
                passing.write_bytes(data)
        except OSError as error:
            _LOG.info("a compiled game cannot be kept: %s", error)

    def _make_room(self, n_bytes: int) -> None:
        """Remove files until there is room for *n_bytes* more, those that were used last remaining."""
        files = []
        for entry in os.scandir(self.folder):
            with suppress(OSError):  # another process may remove it at the same time
                status = entry.stat(follow_symlinks=False)
                if entry.name.endswith(_SUFFIX):
                    files.append((status.st_mtime, status.st_size, entry.path))
                elif (_SUFFIX in entry.name or entry.name.endswith(_LOCK_SUFFIX)) and (
                    status.st_mtime < time.time() - _OLD_S
                ):
                    Path(entry.path).unlink()
        n_used = n_bytes
        for _, size, path in sorted(files, reverse=True):
            n_used += size
            if n_used > self.max_bytes:
                with suppress(OSError):
                    Path(path).unlink()

    @contextmanager
    def compiling(self, key: bytes, patience_s: float) -> Iterator[None]:
        """Enter the block when no other thread or process is in it for *key*, or after *patience_s*."""
        path = self._path(key).with_suffix(_LOCK_SUFFIX)
        lock = _locked(path, time.monotonic() + patience_s)
        try:
            yield
        finally:
            if lock is not None:
                path.unlink(missing_ok=True)
                os.close(lock)

    def _path(self, key: bytes) -> Path:
        return self.folder / f"{key.hex()}{_SUFFIX}"


def _locked(path: Path, end_s: float) -> int | None:
    """Return a handle of the file at *path* that is ours; None where another process has it locked until *end_s*."""
    while True:
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return open_locked(path, PRIVATE)
        except BlockingIOError:
            if time.monotonic() >= end_s:
                return None
            time.sleep(_ASKING_S)
        except OSError:  # not every folder can be written, nor has every file system locks
            return None
