"""Match records as they are read: their rules, their states, and what notebooks show of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gdl.display import board_svg
from gdl.errors import RuleFileError
from gdl.games.library import find_game
from gdl.language.kif import read_term
from gdl.language.rules import read_rules
from server.records.errors import MatchRecordError
from server.records.journal import journal_path
from server.records.stored_record import facts_of, read_stored, rules_at, stored


def test_a_record_shows_its_last_position_in_a_notebook_by_the_layout_of_the_library() -> None:
    file = find_game("nim")
    states = ["( ( heap a 1 ) )", "( ( heap c 3 ) )", "( ( true ( heap b 2 ) ) )"]
    raw = {"moves": [], "states": states, "x-rules": file.text()}
    last = {read_term("(heap b 2)")}
    assert stored(raw | {"x-game": "nim"})._repr_svg_() == board_svg(file.read(), last)
    guessed = stored(raw | {"x-game": "other"})
    description = guessed.description()
    assert description is not None
    assert guessed._repr_svg_() == board_svg(description, last) != board_svg(file.read(), last)


@pytest.mark.parametrize("missing", ["states", "x-rules"])
def test_a_record_without_rules_or_states_shows_no_board(missing: str) -> None:
    raw = {"moves": [], "states": ["( ( heap a 1 ) )"], "x-rules": "(role a)"}
    assert stored({key: value for key, value in raw.items() if key != missing})._repr_svg_() is None


@pytest.mark.parametrize("is_gdl2", [True, False])
def test_the_record_says_whether_its_rules_are_gdl2_and_its_rules_are_called_so(is_gdl2: bool) -> None:
    description = stored({"moves": [], "x-rules": "(role a)", "x-gdl2": is_gdl2}).description()
    assert description is not None
    assert (description.is_gdl2, description.source.name) == (is_gdl2, "the record's rules")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(cell 1", "this parenthesis is never closed"),
        ("(" * 1_001 + ")" * 1_001, "parentheses nest deeper than the limit of 1,000"),
    ],
)
def test_a_state_that_is_no_kif_is_named_with_its_place(text: str, message: str) -> None:
    with pytest.raises(MatchRecordError) as caught:
        facts_of(text, "states[3]")
    assert (caught.value.where, caught.value.message) == ("states[3]", message)


def test_a_state_may_nest_deep() -> None:
    (fact,) = facts_of("( " + "(p " * 998 + "a" + ")" * 998 + " )")
    assert str(fact) == "(p " * 998 + "a" + ")" * 998


def test_rules_begin_with_a_state_of_a_record() -> None:
    rules = read_rules(rules_at("(role a) (init (p 1)) (init q) (<= terminal q)", "game", "( ( p 2 ) )", "state"))
    assert (str(rules.source.text).count("(init"), "(init (p 2))" in rules.source.text) == (1, True)
    with pytest.raises(MatchRecordError) as caught:
        rules_at("(role a)", "game", "( p", "here")
    assert caught.value.where == "here"
    with pytest.raises(RuleFileError) as refused:
        rules_at("(role", "game", "( )", "here")
    assert refused.value.span is not None
    assert refused.value.span.source.name == "game"


def test_a_record_counts_before_a_journal_that_was_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text('{"matchId": "m"}')
    journal_path(path).write_text("garbage")
    assert read_stored(path) == stored({"matchId": "m"})


def test_a_file_is_read_up_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.json"
    path.write_text('{"matchId": "m"}')
    monkeypatch.setattr("server.records.stored_record.MAX_BYTES", 16)
    assert read_stored(path).match_id == "m"
    monkeypatch.setattr("server.records.stored_record.MAX_BYTES", 15)
    with pytest.raises(MatchRecordError) as caught:
        read_stored(path)
    assert (caught.value.message, caught.value.where) == ("more than 15 bytes", str(path))


def test_bytes_that_are_no_utf_8_are_replaced_and_a_mark_of_it_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_bytes(b'\xef\xbb\xbf{"matchId": "m\xff"}')
    assert read_stored(path).match_id == "m\ufffd"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{}", "no match record: none of `matchId`, `moves`, `states` is there"),
        ("[]", "a match record is a JSON object"),
        ("{", "no JSON (Expecting property name enclosed in double quotes: line 1 column 2 (char 1))"),
        ('{"moves": 3}', "moves: must be a list"),
        ('{"moves": [["a", 3]]}', "step 1, moves[0][1]: must be a text"),
        ('{"event":"started"}', "line 1: an entry that cannot be understood: it has no 'format'"),
    ],
)
def test_a_file_that_is_no_record_is_named_with_what_is_wrong(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "m.json"
    path.write_text(text)
    with pytest.raises(MatchRecordError) as caught:
        read_stored(path)
    assert (caught.value.message, caught.value.where) == (reason, str(path))


@pytest.mark.parametrize("raw", [{"matchId": "m"}, {"moves": []}, {"states": []}])
def test_one_key_makes_a_record(raw: dict[str, Any]) -> None:
    assert stored(raw).raw == raw
