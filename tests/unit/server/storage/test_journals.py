"""Journals as they are kept: what is left of a damaged one, and what a line or a record holds."""

from __future__ import annotations

import zlib
from dataclasses import replace

import pytest

from server.match.exchange import Message
from server.records.entries import Entry, SentEntry, StartedEntry
from server.records.errors import MatchRecordError
from server.storage.journals import (
    StoredJournal,
    StoredText,
    WholeJournal,
    journal,
    line_of,
    packed,
    read_line,
    unpacked,
    whole_journal,
)
from tests.kit.server.storage import samples

LINES = [line_of(entry) for entry in samples.journal()]
LONG = SentEntry(200, 1, "x", Message.PLAY, "a" * 100_000)
"""An entry with which a journal is read beside the event loop."""


def entries(begin: int, end: int | None = None) -> list[Entry]:
    """Return a part of the journal as it is kept, without the rules, which are kept by themselves."""
    kept = [replace(entry, rules=None) if isinstance(entry, StartedEntry) else entry for entry in samples.journal()]
    return kept[begin:end]


@pytest.mark.parametrize(
    ("rows", "after", "found"),
    [
        (list(enumerate(LINES)), -1, StoredJournal(entries(0))),
        (list(enumerate(LINES))[3:5], 2, StoredJournal(entries(3, 5))),
        ([(0, LINES[0]), (2, LINES[2])], -1, StoredJournal(entries(0, 1), "event 1 is missing")),
        ([(4, LINES[4])], 2, StoredJournal([], "event 3 is missing")),
        ([(3, LINES[3]), (4, "garbage"), (5, LINES[5])], 2, StoredJournal(entries(3, 4), "event 4 is damaged")),
        ([(0, None)], -1, StoredJournal([], "event 0 is damaged")),
        ([(0, line_of(LONG)), (2, "")], -1, StoredJournal([LONG], "event 1 is missing")),
    ],
)
async def test_a_journal_is_read_up_to_what_is_missing_or_damaged(
    rows: list[tuple[int, str]], after: int, found: StoredJournal
) -> None:
    assert await journal(StoredText(rows, after)) == found


@pytest.mark.parametrize(
    ("body", "after", "found"),
    [
        (None, -1, []),
        (packed(LINES), -1, entries(0)),
        (packed(LINES), 2, entries(3)),
        (packed(LINES), len(LINES), []),
    ],
)
async def test_the_record_of_a_match_that_is_over_is_read_from_any_entry_on(
    body: bytes | None, after: int, found: list[Entry]
) -> None:
    assert await journal(StoredText((), after, body)) == StoredJournal(found)


async def test_a_journal_is_closed_as_it_was_read_unless_it_is_damaged() -> None:
    rows = list(enumerate(LINES))
    assert await whole_journal(rows) == WholeJournal(entries(0), packed(LINES))
    assert await whole_journal(rows[1:]) == WholeJournal([], None)


@pytest.mark.parametrize("line", ["", "garbage", "[]", '{"kind": "é"}', "[" * 100_000, None, b"{}"])
def test_what_is_no_line_of_a_journal_is_damaged(line: object) -> None:
    with pytest.raises(MatchRecordError):
        read_line(line)


def test_a_line_in_which_a_byte_has_changed_is_no_other_entry() -> None:
    line = line_of(SentEntry(1, 0, "left", Message.PLAY, "(PLAY m NIL)"))
    with pytest.raises(MatchRecordError, match=r"^a line of the journal is damaged$"):
        read_line(line.replace("left", "leét"))


def test_what_is_packed_is_kept_as_it_is() -> None:
    assert unpacked(packed(LINES)) == LINES
    assert zlib.decompress(packed(["a", "\ud800é"])) == b"a\n\xed\xa0\x80\xc3\xa9"


@pytest.mark.parametrize("body", [b"garbage", b"", zlib.compress(b"\xff"), "text"])
def test_a_record_that_is_not_packed_is_damaged(body: bytes) -> None:
    with pytest.raises(MatchRecordError, match=r"^the record is damaged \(.+\)$"):
        unpacked(body)
