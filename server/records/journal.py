"""The journal of a match: a file of JSON lines, each on the disk before the match goes on, and the record made of it.

While a match is played there is `RECORD.journal`. At the end the record takes its place in one step, so that whoever
looks finds either the whole journal or the whole record. A journal that a crash left behind is read like a record.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from server.errors import JournalExistsError, MatchRecordError
from server.match.events import Event
from server.records.entries import Circumstances, Entry, entry_of
from server.records.record import MatchRecord
from server.records.signature import signed

SUFFIX: Final = ".journal"

_REPEATABLE: Final = frozenset({"sent", "state"})
"""What follows from the entries before it need not be on the disk at once."""


def journal_path(record_path: Path) -> Path:
    """Return where the journal of the match is whose record will be at *record_path*."""
    return record_path.with_name(record_path.name + SUFFIX)


class Recorder:
    """Takes the events of one match, keeps its record, and writes the journal and at the end the record's file.

    Attributes:
        record: the record up to the last event.
        path: where the record will be; None keeps it in memory only.
    """

    def __init__(
        self, circumstances: Circumstances, path: Path | None = None, signing_key: RSAPrivateKey | None = None
    ) -> None:
        """Open the journal.

        Raises:
            JournalExistsError: a broken-off match left its journal there.
            OSError: the file cannot be made.
        """
        self.record, self.path = MatchRecord(), path
        self._circumstances, self._signing_key = circumstances, signing_key
        self._file = None if path is None else _opened(path)
        self._is_finished = False

    def take(self, event: Event) -> None:
        """Take in the next event; when this returns, an answer or a joint move is on the disk.

        Raises:
            OSError: the disk is full, or gone.
        """
        entry = entry_of(event, self._circumstances)
        if self._file is not None:
            self._file.write(json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n")
            self._file.flush()
            if entry["event"] not in _REPEATABLE:
                os.fsync(self._file.fileno())
        self.record.add(entry)

    def finish(self) -> dict[str, Any]:
        """Return the whole record, signed if there is a key; its file takes the journal's place.

        Raises:
            MatchRecordError: the match never began.
            OSError: the record cannot be written; the journal stays.
        """
        found = self.record.as_json()
        if self._signing_key is not None:
            found = signed(found, self._signing_key)
        if self.path is not None:
            write_record(found, self.path)
            self._is_finished = True
            self.close()
        return found

    def close(self) -> None:
        """Let go of the journal's file; it stays where it is, unless it is empty or `finish` has replaced it."""
        if self._file is not None and self.path is not None:
            self._file.close()
            if self._is_finished or not self.record.has_begun:
                journal_path(self.path).unlink(missing_ok=True)


def _opened(path: Path) -> IO[str]:
    journal = journal_path(path)
    try:
        return journal.open("x", encoding="utf-8", errors="backslashreplace", newline="\n")
    except FileExistsError as error:
        raise JournalExistsError(journal) from error


def write_record(record: dict[str, Any], path: Path) -> None:
    """Write *record* to *path* in one step: nobody ever sees half of it.

    Raises:
        OSError: the file cannot be written; what was at *path* stays.
    """
    passing = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with passing.open("x", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            json.dump(record, file, ensure_ascii=False, indent=1)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        passing.replace(path)
    finally:
        passing.unlink(missing_ok=True)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # not every file system lets a folder be synchronised
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def read_entries(text: str) -> Iterator[Entry]:
    """Yield the entries of the journal *text*; a last line that a crash cut off is left out.

    Raises:
        MatchRecordError: a line before the last is no JSON object.
    """
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError) as error:
            if number == len(lines):
                return
            raise MatchRecordError("no JSON", f"line {number}") from error
        if not isinstance(entry, dict):
            raise MatchRecordError("no JSON object", f"line {number}")
        yield entry
