"""The recorder of a match that the database keeps: its events go to the journal there, and in the end its record."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from server.match.exchange import Event
from server.records.entries import Circumstances, Entry, OnEntry, StateEntry, entry_of
from server.records.record import MatchRecord, record_of
from server.records.signature import signed
from server.storage.journals import JournalStore, WholeJournal, packed
from server.storage.match_changes import summary_of
from server.storage.writer import EventWriter
from server.threads import in_own_thread

MAX_CHARACTERS: Final = 16 * 1024 * 1024
"""How long the texts of all states of a match may be, which are kept for ever."""

MAX_KEPT: Final = 64 * 1024
"""How many characters of its journal a match keeps in memory until its end; a longer one is read again then."""


@dataclass(frozen=True, slots=True)
class RecorderContext:
    """What the recorders of one process share: where they write, how they sign, what observes the entries."""

    journals: JournalStore
    writer: EventWriter
    signing_key: RSAPrivateKey | None = None
    on_entry: OnEntry = lambda *_: None


class _KeptJournal:
    """All of a journal as this process wrote it, so that its end need not read it again; as long as it is short."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._lines: list[str] = []
        self._n_characters = 0

    def add(self, entry: Entry, line: str) -> bool:
        """Keep *entry*, which is written as *line*; return whether there is room for it."""
        self._entries.append(entry)
        self._lines.append(line)
        self._n_characters += len(line)
        return self._n_characters <= MAX_KEPT

    def whole(self) -> WholeJournal:
        """Return what reading the journal would."""
        return WholeJournal(self._entries, packed(self._lines))


class DatabaseRecorder:
    """Writes the journal of a match that this process holds, from the entry where it broke off.

    One that *is_new* has no journal yet, and none is looked for.
    """

    def __init__(self, match_id: str, circumstances: Circumstances, context: RecorderContext, *, is_new: bool) -> None:
        self._match_id, self._circumstances, self._context = match_id, circumstances, context
        self._is_new = is_new
        self._n_entries = self._n_characters = 0
        self._kept: _KeptJournal | None = _KeptJournal()

    @property
    def excess(self) -> str:
        """Why no more of the match can be kept: its states are too long; empty as long as they are not."""
        if self._n_characters <= MAX_CHARACTERS:
            return ""
        return f"these rules make states of more than {MAX_CHARACTERS:,} characters in one match"

    async def earlier(self) -> Sequence[Entry]:
        """Return the entries of the journal, which is mended if it was damaged.

        Raises:
            LostMatchError: another process plays the match.
            StorageError: the database failed.
        """
        if self._is_new:
            return ()
        writer, journals = self._context.writer, self._context.journals
        entries = await writer.patiently(partial(journals.mended, self._match_id, writer.holder))
        self._n_entries = len(entries)
        if entries:
            self._kept = None
        self._n_characters = sum(len(entry.state) for entry in entries if isinstance(entry, StateEntry))
        return entries

    def take(self, event: Event) -> None:
        """Take the next event, which the writer writes soon."""
        entry = entry_of(event, self._circumstances)
        line = self._context.writer.put(self._match_id, self._n_entries, entry)
        if self._kept is not None and not self._kept.add(entry, line):
            self._kept = None
        self._context.on_entry(self._match_id, self._n_entries, entry)
        self._n_entries += 1
        if isinstance(entry, StateEntry):
            self._n_characters += len(entry.state)

    async def flush(self) -> None:
        """Return when the database has everything that was taken.

        Raises:
            StorageError: it has not, and will not.
        """
        await self._context.writer.flush(self._match_id)

    async def finish(self) -> dict[str, Any]:
        """Close the match in the database, signed if there is a key, and return its record.

        Raises:
            StorageError: the database failed.
            MatchRecordError: its journal makes no sense.
        """
        await self.flush()
        writer, journals = self._context.writer, self._context.journals
        if self._kept is not None:
            journal = self._kept.whole()
        else:
            journal = await writer.patiently(partial(journals.whole_journal, self._match_id))
        record = record_of(journal.entries)
        signature = await self._signature(record)
        await writer.finish(self._match_id, summary_of(journal.entries), signature, journal.body)
        return record.as_json()

    async def _signature(self, record: MatchRecord) -> dict[str, str] | None:
        if self._context.signing_key is None:
            return None
        # The whole record is written for it, which takes a second for each few megabytes.
        whole = await in_own_thread(partial(signed, record.as_json(), self._context.signing_key))
        return {key: str(whole[key]) for key in ("matchHostPK", "matchHostSignature")}
