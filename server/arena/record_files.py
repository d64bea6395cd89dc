"""Match records where they are kept: in files, folders, the folders of tournaments, archives and exports."""

import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from server.arena.folder import PLAN, RECORDS

MAX_RECORD_BYTES: Final = 200_000_000
"""Larger files are no records."""
_TOO_LARGE: Final = f"no match record (more than {MAX_RECORD_BYTES:,} bytes)"
_ARCHIVE: Final = ".zip"
_LINES: Final = ".jsonl"
_BROKEN: Final = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, ValueError)
"""What reading an archive raises that is none, cut off, encrypted, or packed in a way of its own."""


def holds_many(path: Path) -> bool:
    """Return whether there may be several records at *path*: in a folder, an archive, or a file of lines."""
    return path.is_dir() or path.suffix in (_ARCHIVE, _LINES)


class RecordFiles:
    """The texts of the records in *paths*, each with what its place is called.

    *refuse* is called with what cannot be read, and with why.
    """

    def __init__(self, paths: Sequence[Path], refuse: Callable[[str, str], object]) -> None:
        self._paths, self._refuse = paths, refuse

    def __iter__(self) -> Iterator[tuple[str, bytes]]:
        """Yield them in the order of the paths, those of a folder by name."""
        yield from self._of(self._paths)

    def _of(self, paths: Sequence[Path]) -> Iterator[tuple[str, bytes]]:
        for path in paths:
            try:
                if path.is_dir():
                    records = path / RECORDS if (path / PLAN).is_file() else path
                    yield from self._of(sorted(one for one in records.rglob("*.json") if not one.is_dir()))
                elif path.suffix == _ARCHIVE:
                    yield from self._members(path)
                elif path.suffix == _LINES:
                    with path.open("rb") as lines:
                        yield from ((f"{path}:{number}", line) for number, line in enumerate(lines, 1))
                elif path.stat().st_size > MAX_RECORD_BYTES:
                    self._refuse(str(path), _TOO_LARGE)
                else:
                    yield str(path), path.read_bytes()
            except OSError as error:
                self._refuse(str(path), error.strerror or str(error))

    def _members(self, path: Path) -> Iterator[tuple[str, bytes]]:
        try:
            with zipfile.ZipFile(path) as archive:
                for member in archive.infolist():
                    name = f"{path}:{member.filename}"
                    if member.file_size > MAX_RECORD_BYTES:
                        self._refuse(name, _TOO_LARGE)
                    elif not member.is_dir():
                        yield name, archive.read(member)
        except _BROKEN as error:
            self._refuse(str(path), f"no ZIP archive that can be read ({error})")
