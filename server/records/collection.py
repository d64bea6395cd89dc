"""Many records in one place: a folder of files, a ZIP archive of them, or a file of JSON lines."""

from __future__ import annotations

import json
import secrets
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import quote

from server.storage.errors import TargetExistsError

Add: TypeAlias = Callable[[dict[str, Any]], bool]
"""Adds a record, and returns False where it was there already."""
_SUFFIX: Final = ".json"


def collection(target: Path, *, may_replace: bool = False) -> AbstractContextManager[Add]:
    """Return a context that yields what adds records to *target*: `.zip` an archive, `.jsonl` lines, else a folder.

    An archive and a file of lines take their place when the context is left without an error. A folder keeps the
    files that it has, so that only new records are added; with *may_replace* they are written again.

    Raises:
        TargetExistsError: a file is there, and nobody *may_replace* it.
        OSError: it cannot be written.
    """
    if target.suffix == ".zip":
        return _archive(target, may_replace=may_replace)
    if target.suffix == ".jsonl":
        return _lines(target, may_replace=may_replace)
    return _folder(target, may_replace=may_replace)


def file_name(record: dict[str, Any]) -> str:
    """Return the name of the file of a record: its match's id, with what no file may be called escaped."""
    return quote(str(record["matchId"]), safe="") + _SUFFIX


def _text(record: dict[str, Any], indent: int | None = None) -> str:
    return json.dumps(record, indent=indent, separators=None if indent else (",", ":")) + "\n"


@contextmanager
def _folder(target: Path, *, may_replace: bool) -> Iterator[Add]:
    target.mkdir(exist_ok=True)

    def add(record: dict[str, Any]) -> bool:
        path = target / file_name(record)
        if path.exists() and not may_replace:
            return False
        with _passing(path) as passing:
            passing.write_text(_text(record, 1), encoding="ascii")
        return True

    yield add


@contextmanager
def _archive(target: Path, *, may_replace: bool) -> Iterator[Add]:
    _refuse_to_replace(target, may_replace=may_replace)
    with _passing(target) as passing, zipfile.ZipFile(passing, "x", zipfile.ZIP_DEFLATED) as archive:

        def add(record: dict[str, Any]) -> bool:
            archive.writestr(file_name(record), _text(record, 1))
            return True

        yield add


@contextmanager
def _lines(target: Path, *, may_replace: bool) -> Iterator[Add]:
    _refuse_to_replace(target, may_replace=may_replace)
    with _passing(target) as passing, passing.open("x", encoding="ascii") as file:

        def add(record: dict[str, Any]) -> bool:
            file.write(_text(record))
            return True

        yield add


def _refuse_to_replace(target: Path, *, may_replace: bool) -> None:
    if target.exists() and not may_replace:
        raise TargetExistsError(str(target))


@contextmanager
def _passing(target: Path) -> Iterator[Path]:
    """Yield a path beside *target*, whose place it takes when all went well."""
    passing = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        yield passing
        passing.replace(target)
    finally:
        passing.unlink(missing_ok=True)
