"""The journal of a match as a file of JSON lines, and the record file that takes its place."""

import asyncio
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Final

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from gdl.files import MAX_NAME_BYTES, replacing, shortened
from server.match.exchange import Event
from server.records import codec, entries, signature
from server.records.errors import JournalExistsError, MatchRecordError
from server.records.record import MatchRecord

SUFFIX: Final = ".journal"

_REPEATABLE: Final = (entries.SentEntry, entries.StateEntry)
"""What follows from the entries before it need not be on the disk at once."""


def journal_path(record_path: Path) -> Path:
    """Return where the journal of the match is whose record will be at *record_path*."""
    return record_path.with_name(shortened(record_path.name, MAX_NAME_BYTES - len(SUFFIX)) + SUFFIX)


class FileRecorder:
    """Takes the events of one match, keeps its record, and writes the journal and at the end the record's file.

    Attributes:
        record: the record up to the last event.
        path: where the record will be; None keeps it in memory only.
        excess: why no more of the match can be kept; always empty, for a file may be of any length.
    """

    excess: Final = ""

    def __init__(
        self, circumstances: entries.Circumstances, path: Path | None = None, signing_key: RSAPrivateKey | None = None
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

    async def earlier(self) -> Sequence[entries.Entry]:
        """Return no entries: a match that broke off leaves its journal, and is not played on."""
        return ()

    def take(self, event: Event) -> None:
        """Take in the next event; when this returns, an answer or a joint move is on the disk.

        Raises:
            OSError: the disk is full, or gone.
        """
        entry = entries.entry_of(event, self._circumstances)
        if self._file is not None:
            self._file.write(json.dumps(codec.entry_json(entry), ensure_ascii=False, separators=(",", ":")) + "\n")
            self._file.flush()
            if not isinstance(entry, _REPEATABLE):
                os.fsync(self._file.fileno())
        self.record.add(entry)

    async def flush(self) -> None:
        """Return: `take` has written everything."""

    async def finish(self) -> dict[str, Any]:
        """Return the whole record, signed if there is a key; its file takes the journal's place.

        Raises:
            MatchRecordError: the match never began.
            OSError: the record cannot be written; the journal stays.
        """
        return await asyncio.to_thread(self._finish)

    def _finish(self) -> dict[str, Any]:
        found = self.record.as_json()
        if self._signing_key is not None:
            found = signature.signed(found, self._signing_key)
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
    """Write *record* to *path* in one step: a reader never sees half of it.

    Raises:
        OSError: the file cannot be written; what was at *path* stays.
    """
    with (
        replacing(path) as temporary,
        temporary.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file,
    ):
        json.dump(record, file, ensure_ascii=False, indent=1)
        file.write("\n")


def read_entries(text: str) -> Iterator[entries.Entry]:
    """Yield the entries of the journal *text*; a last line that a crash cut off is left out.

    Raises:
        MatchRecordError: a line before the last is no JSON, or any line is JSON and no entry.
    """
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            if number == len(lines):
                return
            raise MatchRecordError("no JSON", f"line {number}") from error
        try:
            entry = codec.read_entry(found)
        except MatchRecordError as error:
            raise MatchRecordError(error.message, f"line {number}") from error
        yield entry
