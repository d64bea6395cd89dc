"""The TOML description of a game in an editor: its own diagnostics beside its rules, and nothing of rule files."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from lsprotocol.types import Position, Range

from gdl.games.library import find_game
from server.editor import answers
from server.editor.document import Document, diagnose

FILE = find_game("tictactoe")
DESCRIPTION = FILE.metadata_path.read_text(encoding="utf-8")
START = Position(0, 0)


def told(document: Document) -> list[tuple[int, str, str]]:
    found = answers.diagnostics(document, diagnose(document))
    return [(each.range.start.line, str(each.code), each.message.partition("\n")[0]) for each in found]


@pytest.fixture
def uri(tmp_path: Path) -> str:
    """Return the address of a description beside its rules."""
    shutil.copy(FILE.path, tmp_path / "my game.kif")
    return (tmp_path / "my game.toml").as_uri()


def test_a_sound_description_has_no_diagnostics(uri: str) -> None:
    assert told(Document(uri, DESCRIPTION)) == []


def test_what_is_wrong_with_a_description_is_told_at_its_key(uri: str) -> None:
    document = Document(uri, DESCRIPTION.replace("players = 2", 'players = "two"'))
    line = document.text.split("\n").index('players = "two"')
    assert told(document) == [(line, "gdl/wrong-description", "players: must be a whole number")]


def test_what_a_description_says_of_its_rules_that_they_do_not_is_told(uri: str) -> None:
    document = Document(uri, DESCRIPTION.replace('roles = ["x", "o"]', 'roles = ["x", "y"]'))
    line = document.text.split("\n").index('roles = ["x", "y"]')
    assert told(document) == [(line, "gdl/description-mismatch", "roles: the roles of the rules are o, x")]


def test_toml_without_rules_beside_it_is_no_description(tmp_path: Path) -> None:
    assert told(Document((tmp_path / "pyproject.toml").as_uri(), "[project]\nname = (")) == []
    assert told(Document("untitled:Untitled-1.toml", "[project]")) == []


def test_what_is_for_rules_has_no_answer_in_a_description(uri: str) -> None:
    document = Document(uri, DESCRIPTION)
    found = diagnose(Document(uri, "players = 2"))
    assert answers.hover(document, START) is None
    assert answers.symbols(document) == []
    assert answers.completion(document, START).items == []
    assert answers.formatting(document) == []
    assert answers.mending(document, found, Range(START, START)) == []
