"""Where games of others come from: folders, ZIP archives and single files, read under limits and never written."""

import io
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final

from gdl.language.rules import METADATA_SUFFIX, RULES_SUFFIX
from server.errors import ImportSourceError

RULES: Final = frozenset({RULES_SUFFIX, ".gdl"})
"""How names of rule files end, in small letters."""
METADATA: Final = "METADATA"
_BESIDE: Final = frozenset({METADATA_SUFFIX, ".txt"})
_OTHER_LANGUAGES: Final = {".rg": "Regular Games", ".ldx": "Ludii", ".lud": "Ludii", ".hrg": "Regular Games"}
"""Rule files in other languages than GDL, which are named as such."""
_END_RECORD: Final = b"PK\x05\x06"
_END_BYTES: Final = 22
_MOST_COMMENT: Final = 65_535
_LOCATOR: Final = b"PK\x06\x07"
"""Begins the record that leads to sizes of 64 bits, which no archive of a few megabytes needs."""
_LOCATOR_BYTES: Final = 20
_PACKINGS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""How files may be packed: other ways take memory as the archive says."""


@dataclass(frozen=True, slots=True)
class ImportLimits:
    """What is read at most. *Units*: bytes.

    Attributes:
        files: how many entries an archive or a folder may have.
        games: how many rule files are looked at.
        archive_bytes: of an archive as it comes.
        file_bytes: of a file, unpacked.
        total_bytes: of all files that are read, unpacked.
        directory_bytes: of an archive's list of its entries.
    """

    files: int = 20_000
    games: int = 2_000
    archive_bytes: int = 50_000_000
    file_bytes: int = 2_000_000
    total_bytes: int = 100_000_000
    directory_bytes: int = 4_000_000

    def problem_of(self, n_bytes: int) -> str | None:
        """Return why a file of so many bytes is not read; None where it is."""
        return f"the file has more than {self.file_bytes:,} bytes" if n_bytes > self.file_bytes else None


@dataclass(slots=True)
class FoundFiles:
    """The files that games may be made of, by path with `/`; what was passed over, by path, each with the reason."""

    files: dict[str, bytes] = field(default_factory=dict)
    passed_over: dict[str, str] = field(default_factory=dict)
    n_bytes: int = 0

    def add(self, path: str, content: bytes, limits: ImportLimits) -> None:
        """Take *content*, or pass it over where it is larger than *limits* allow.

        Raises:
            ImportSourceError: all files together are.
        """
        problem = limits.problem_of(len(content))
        if problem:
            self.passed_over[path] = problem
            return
        self.count(path, len(content), limits)
        self.files[path] = content

    def count(self, path: str, n_bytes: int, limits: ImportLimits) -> None:
        """Count the bytes of the file at *path*, which were read, whatever they are worth.

        Raises:
            ImportSourceError: all files together have more than *limits* allow.
        """
        self.n_bytes += n_bytes
        if self.n_bytes > limits.total_bytes:
            raise ImportSourceError(path, f"all files together have more than {limits.total_bytes:,} bytes")


def is_rules(path: str) -> bool:
    """Return whether a file at *path* holds rules, by its name."""
    return PurePosixPath(path).suffix.lower() in RULES


def _is_wanted(path: str, found: FoundFiles) -> bool:
    """Return whether the file at *path* is read; rules in other languages are passed over by name."""
    pure = PurePosixPath(path)
    other = _OTHER_LANGUAGES.get(pure.suffix.lower())
    if other is not None:
        found.passed_over[path] = f"{other}: not the Game Description Language"
    return other is None and (pure.suffix.lower() in RULES | _BESIDE or pure.name == METADATA)


def files_of_path(path: Path, limits: ImportLimits) -> FoundFiles:
    """Return the files of a folder, of a ZIP archive, or the one at *path*.

    Raises:
        OSError: it cannot be read.
        ImportSourceError: it is none of these, or larger than *limits* allow.
    """
    if path.is_dir():
        return _files_of_folder(path, limits)
    with path.open("rb") as file:
        raw = file.read(limits.archive_bytes + 1)
    return files_of_bytes(raw, path.name, limits)


def files_of_bytes(raw: bytes, name: str, limits: ImportLimits) -> FoundFiles:
    """Return the files of the ZIP archive *raw*, or *raw* itself where *name* is that of a rule file.

    Raises:
        ImportSourceError: it is neither, or larger than *limits* allow.
    """
    if len(raw) > limits.archive_bytes:
        raise ImportSourceError(name, f"it has more than {limits.archive_bytes:,} bytes")
    if raw.startswith(b"PK"):
        return _files_of_archive(raw, name, limits)
    if not is_rules(name):
        raise ImportSourceError(name, "neither a folder, nor a ZIP archive, nor a .kif or .gdl file")
    found = FoundFiles()
    found.add(PurePosixPath(name).name, raw, limits)
    return found


def _files_of_folder(folder: Path, limits: ImportLimits) -> FoundFiles:
    found, n_files = FoundFiles(), 0
    for path in _walked(folder, found):
        n_files += 1
        if n_files > limits.files:
            raise ImportSourceError(str(folder), f"it has more than {limits.files:,} files")
        name = path.relative_to(folder).as_posix()
        if not _is_wanted(name, found):
            continue
        if path.is_symlink() or not path.is_file():
            found.passed_over[name] = "a link, or no plain file"
            continue
        problem = limits.problem_of(path.stat().st_size)
        if problem:
            found.passed_over[name] = problem
            continue
        try:
            with path.open("rb") as file:
                raw = file.read(limits.file_bytes + 1)
        except OSError as error:
            found.passed_over[name] = error.strerror or str(error)
        else:
            found.add(name, raw, limits)
    return found


def _walked(folder: Path, found: FoundFiles) -> Iterator[Path]:
    """Yield the files of *folder*, those in hidden folders left out; links are not followed.

    Folders in it that cannot be read are passed over.

    Raises:
        OSError: *folder* itself cannot be read.
    """

    def pass_over(error: OSError) -> None:
        if Path(error.filename) == folder:
            raise error
        found.passed_over[Path(error.filename).relative_to(folder).as_posix()] = error.strerror or str(error)

    for place, folders, names in os.walk(folder, onerror=pass_over):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(place, name) for name in sorted(names))


def _files_of_archive(raw: bytes, name: str, limits: ImportLimits) -> FoundFiles:
    _check_directory(raw, name, limits)
    found = FoundFiles()
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            entries = archive.infolist()
            if len(entries) > limits.files:
                raise ImportSourceError(name, f"it has more than {limits.files:,} entries")
            for entry in sorted(entries, key=lambda one: one.filename):
                if not entry.filename.endswith("/") and _is_wanted(entry.filename, found):
                    _read_entry(archive, entry, found, limits)
    except ImportSourceError:
        raise
    except (zipfile.BadZipFile, UnicodeDecodeError, ValueError, NotImplementedError) as error:
        raise ImportSourceError(name, f"no ZIP archive that can be read: {error}") from error
    return found


def _check_directory(raw: bytes, name: str, limits: ImportLimits) -> None:
    """Check the size of the list of entries before it is read: each entry takes a hundred times its bytes.

    Raises:
        ImportSourceError: it is too large, or not there.
    """
    is_bare = raw[-_END_BYTES:].startswith(_END_RECORD) and raw.endswith(b"\0\0")
    at = len(raw) - _END_BYTES if is_bare else raw.rfind(_END_RECORD, max(0, len(raw) - _END_BYTES - _MOST_COMMENT))
    if at < 0:
        raise ImportSourceError(name, "no ZIP archive that can be read: it is cut off")
    size = int.from_bytes(raw[at + 12 : at + 16], "little")
    has_other_sizes = raw[max(0, at - _LOCATOR_BYTES) : at].startswith(_LOCATOR)
    if size > limits.directory_bytes or has_other_sizes:
        raise ImportSourceError(name, "the archive has too many entries")


def _read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, found: FoundFiles, limits: ImportLimits) -> None:
    """Read one file of *archive*; none is unpacked that is larger than may be taken.

    What turns out to be damaged was unpacked all the same, and counts.
    """
    path = entry.filename
    problem = _problem(entry) or limits.problem_of(entry.file_size)
    if path in found.files:
        problem = "the archive has two files of that name"
    try:
        content = b"" if problem else _unpacked(archive, entry, limits.file_bytes + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        problem = f"it cannot be unpacked: {error}"
        found.count(path, entry.file_size, limits)
    if problem is None:
        found.add(path, content, limits)
    else:
        found.passed_over[path] = problem


def _unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, n_bytes: int) -> bytes:
    with archive.open(entry) as file:
        return file.read(n_bytes)


def _problem(entry: zipfile.ZipInfo) -> str | None:
    """Return what keeps *entry* from being read; paths are never written to, and still must lead nowhere else."""
    pure = PurePosixPath(entry.filename.replace("\\", "/"))
    if pure.is_absolute() or ".." in pure.parts or ":" in entry.filename:
        return "its path leads out of the archive"
    if stat.S_ISLNK(entry.external_attr >> 16):
        return "a link, or no plain file"
    if entry.flag_bits & 1:
        return "it is encrypted"
    return None if entry.compress_type in _PACKINGS else "it is packed in another way than by deflate"
