"""`docs/games.md` says what the code does: its examples are valid and leave out no key, its Python runs."""

from __future__ import annotations

import doctest
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from gdl.boards.layout import Caption, Heaps, Layout, Lines, PieceAppearance, Pieces, Places, Stacks, Tray, Walls
from gdl.boards.metadata import Clarification, Counts, GameMetadata, metadata_of

PAGE = Path(__file__).parents[4] / "docs" / "games.md"
EXAMPLES = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("text", EXAMPLES, ids=lambda text: tomllib.loads(text)["title"])
def test_examples_are_valid_descriptions(text: str) -> None:
    assert metadata_of(text.encode()).title == tomllib.loads(text)["title"]


TABLES = (
    GameMetadata,
    Clarification,
    Layout,
    PieceAppearance,
    Pieces,
    Places,
    Walls,
    Lines,
    Heaps,
    Stacks,
    Tray,
    Caption,
    Counts,
)


@pytest.mark.parametrize("table", TABLES)
def test_no_key_is_left_out(table: type[BaseModel]) -> None:
    shown = {key for text in EXAMPLES for key in _keys(tomllib.loads(text))}
    assert sorted(set(table.model_fields) - shown) == []


def _keys(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _keys(inner)


def test_python_examples_run() -> None:
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert (found.failed, found.attempted > 0) == (0, True)
