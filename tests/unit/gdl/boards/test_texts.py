"""Boards to text: whole ones as files, beside their pictures."""

from __future__ import annotations

from pathlib import Path

import pytest

from gdl.boards.text import text_of
from tests.kit.gdl.boards.drawn import PICTURES, case


@pytest.mark.parametrize("path", sorted(PICTURES.glob("*.toml")), ids=lambda path: path.stem)
def test_a_board_is_written_as_in_the_file(path: Path) -> None:
    drawn, _ = case(path)
    assert text_of(drawn) == path.with_suffix(".txt").read_text(encoding="utf-8").rstrip("\n")
