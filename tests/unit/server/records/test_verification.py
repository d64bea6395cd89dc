"""Verdicts on many records."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from unittest.mock import Mock

import pytest

from gdl.engines import make_game
from server.records import verification
from server.records.journal import FileRecorder
from server.records.verification import RecordVerdict, Verifier
from tests.kit.server.scripted import CIRCUMSTANCES, PLAIN, TURNS_MOVES, events, turns


@pytest.fixture
def text(tmp_path: Path) -> bytes:
    recorder = FileRecorder(CIRCUMSTANCES, tmp_path / "m.json")
    for event in events(turns(), TURNS_MOVES, PLAIN):
        recorder.take(event)
    recorder.close()
    asyncio.run(recorder.finish())
    return (tmp_path / "m.json").read_bytes()


def test_the_rules_of_many_records_are_made_a_game_once(text: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Mock(wraps=make_game)
    monkeypatch.setattr(verification, "make_game", made)
    verifier = Verifier()
    assert ([verifier.verdict(text) for _ in range(3)], made.call_count) == ([RecordVerdict(2, "none")] * 3, 1)


def test_a_record_whose_rules_cannot_be_read_has_a_reason_in_one_line(text: bytes) -> None:
    broken = json.loads(text) | {"x-rules": "(role a)\n(", "x-rules-sha256": None}
    told = "the record's rules:2:1: this parenthesis is never closed"
    assert Verifier().verdict(json.dumps(broken).encode()) == told
