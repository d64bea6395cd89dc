"""Journals: what was answered is on the disk, and what a crash left is readable."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from server.match.exchange import Aborted
from server.records.entries import ClosedEntry
from server.records.errors import JournalExistsError, MatchRecordError
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


def test_each_answer_and_each_joint_move_is_on_the_disk_before_the_match_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was sent, and states, follow from the rest: they may come later."""
    synchronized: list[int] = []
    monkeypatch.setattr("os.fsync", synchronized.append)
    recorder = FileRecorder(CIRCUMSTANCES, tmp_path / "m.json")
    told = []
    for event in events(turns(), TURNS_MOVES):
        before = len(synchronized)
        recorder.take(event)
        lines = journal_path(tmp_path / "m.json").read_text().splitlines()
        told.append((json.loads(lines[-1])["event"], len(synchronized) - before))
    recorder.close()
    at_once = {"started", "answered", "step", "completed", "closed"}
    assert told == [(kind, int(kind in at_once)) for kind, _ in told]
    assert {kind for kind, _ in told} == at_once | {"sent", "state"}


def test_records_and_journals_are_utf_8_as_people_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "é.json"
    recorder = FileRecorder(CIRCUMSTANCES, path)
    for event in list(events(turns(), TURNS_MOVES))[:4]:
        recorder.take(event)
    recorder.take(Aborted(1, 0, "café"))
    recorder.close()
    lines = journal_path(path).read_bytes().decode("utf-8").split("\n")
    assert lines[-2:] == ['{"event":"aborted","at":1,"step":0,"reason":"café"}', ""]
    whole = asyncio.run(recorder.finish())
    text = json.dumps(whole, ensure_ascii=False, indent=1) + "\n"
    assert path.read_bytes() == text.encode("utf-8")


def test_a_match_that_is_kept_in_memory_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    recorder = FileRecorder(CIRCUMSTANCES)
    for event in events(turns(), TURNS_MOVES):
        recorder.take(event)
    assert asyncio.run(recorder.finish()) == recorder.record.as_json()
    recorder.close()
    assert list(tmp_path.iterdir()) == []


def test_a_record_that_cannot_be_written_leaves_the_journal(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    recorder = recorded(path)
    path.mkdir()
    with pytest.raises(OSError, match=r"m\.json"):
        asyncio.run(recorder.finish())
    recorder.close()
    path.rmdir()
    assert read_stored(path).raw == recorder.record.as_json()


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


def test_a_line_that_is_no_json_is_named() -> None:
    with pytest.raises(MatchRecordError, match=r"^line 1: no JSON$"):
        list(read_entries('{"event":\n{"event":"closed","at":1}\n'))


def test_the_entries_before_garbage_are_told() -> None:
    found = read_entries('{"event":"closed","at":1}\n[]\n')
    assert next(found) == ClosedEntry(1)
    with pytest.raises(MatchRecordError, match=r"^line 2: an entry that is no JSON object$"):
        next(found)


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
