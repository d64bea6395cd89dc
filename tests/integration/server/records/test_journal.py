"""Journals: what was answered is on the disk, and what a crash left is readable."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from server.errors import JournalExistsError, MatchRecordError
from server.match.exchange import Aborted
from server.records.journal import FileRecorder, journal_path, read_entries
from server.records.signature import has_valid_signature, make_key
from server.records.stored_record import json_object, read_stored
from tests.kit.server.scripted import CIRCUMSTANCES, TURNS_MOVES, events, turns


def recorded(path: Path, n: int | None = None) -> FileRecorder:
    recorder = FileRecorder(CIRCUMSTANCES, path)
    for event in list(events(turns(), TURNS_MOVES))[:n]:
        recorder.take(event)
    recorder.close()
    return recorder


def test_the_journal_becomes_the_record_when_the_match_is_over(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    recorder = recorded(path)
    assert [file.name for file in tmp_path.iterdir()] == ["m.json.journal"]
    whole = asyncio.run(recorder.finish())
    assert [file.name for file in tmp_path.iterdir()] == ["m.json"]
    assert json.loads(path.read_text()) == whole == recorder.record.as_json()


@pytest.mark.parametrize("name", ["m" * 250 + ".json", "棋" * 83 + ".json"])
def test_a_record_may_have_a_name_as_long_as_the_file_system_allows(tmp_path: Path, name: str) -> None:
    recorder = recorded(tmp_path / name)
    assert read_stored(tmp_path / name).raw == recorder.record.as_json()
    asyncio.run(recorder.finish())
    assert [file.name for file in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("n", range(1, 21))
def test_after_every_event_the_journal_tells_what_the_record_in_memory_tells(tmp_path: Path, n: int) -> None:
    path = tmp_path / "m.json"
    recorder = recorded(path, n)
    assert read_stored(path).raw == recorder.record.as_json()
    assert read_stored(journal_path(path)).raw == recorder.record.as_json()


def test_a_last_line_that_a_crash_cut_off_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    whole = recorded(path, 12).record.as_json()
    journal = journal_path(path)
    for cut in ('{"ev', '{"event": "step"', '"', "{"):
        journal.write_text(journal.read_text().rpartition("\n")[0] + "\n" + cut)
        assert read_stored(path).raw == whole


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"event":"closed","at":1}\n{"event":\n{}\n', "line 2"),
        ('{"event":"closed","at":1}\n[]', "line 2"),
        ('{"event":"started"}\n{"event":\n{}\n', "line 1"),
    ],
)
def test_garbage_before_the_last_line_is_named(text: str, where: str) -> None:
    with pytest.raises(MatchRecordError) as caught:
        list(read_entries(text))
    assert caught.value.where == where


@pytest.mark.parametrize("text", ['{"event":"sta', '{"event":"started"}', '{"event":"started"}\n[]\n'])
def test_a_journal_that_tells_nothing_is_refused(text: str) -> None:
    with pytest.raises(MatchRecordError):
        json_object(text)


def test_the_journal_of_another_match_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    recorded(path, 5)
    before = journal_path(path).read_bytes()
    with pytest.raises(JournalExistsError):
        FileRecorder(CIRCUMSTANCES, path)
    assert journal_path(path).read_bytes() == before


def test_a_match_that_never_began_leaves_nothing(tmp_path: Path) -> None:
    recorder = FileRecorder(CIRCUMSTANCES, tmp_path / "m.json")
    with pytest.raises(MatchRecordError):
        asyncio.run(recorder.finish())
    recorder.close()
    assert list(tmp_path.iterdir()) == []


def test_a_record_is_signed_by_the_host_that_has_a_key(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    recorder = FileRecorder(CIRCUMSTANCES, path, make_key())
    for event in events(turns(), TURNS_MOVES):
        recorder.take(event)
    asyncio.run(recorder.finish())
    assert has_valid_signature(json.loads(path.read_text()))


def test_text_that_is_no_unicode_survives(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    recorder = FileRecorder(CIRCUMSTANCES, path)
    for event in list(events(turns(), TURNS_MOVES))[:4]:
        recorder.take(event)
    recorder.take(Aborted(1, 0, "\udce4\u2028\n"))
    recorder.close()
    assert read_stored(path).raw == recorder.record.as_json()
    assert asyncio.run(recorder.finish())["x-end"]["reason"] == "\udce4\u2028\n"
    assert read_stored(path).raw == recorder.record.as_json()
