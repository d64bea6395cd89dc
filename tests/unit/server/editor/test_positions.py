"""Places as editors count them, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol.types import Position, Range

from gdl.diagnostics import Source, Span
from server.editor.document import TextPositions

TEXT = "(a\u00e9\U0001f600b)\r\nc\rd\n"


@pytest.mark.parametrize(
    ("encoding", "columns"), [("utf-16", [0, 1, 2, 3, 5, 6, 7]), ("utf-8", [0, 1, 2, 4, 8, 9, 10])]
)
def test_columns_count_in_units_of_the_encoding(encoding: str, columns: list[int]) -> None:
    positions = TextPositions(TEXT, encoding)
    assert [positions.position(offset) for offset in range(7)] == [Position(0, column) for column in columns]
    assert [positions.offset(Position(0, column)) for column in columns] == list(range(7))


def test_lines_end_as_the_protocol_says_and_nowhere_else() -> None:
    positions = TextPositions("a\x0bb\u2028c\rd\r\ne\nf")
    assert [positions.position(offset).line for offset in range(12)] == [0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 3]


def test_a_place_behind_an_end_is_that_end_and_one_inside_a_character_its_beginning() -> None:
    positions = TextPositions(TEXT)
    places = [Position(0, 99), Position(0, 4), Position(1, 5), Position(3, 0), Position(9, 9)]
    assert [positions.offset(place) for place in places] == [6, 3, 9, 12, 12]


def test_a_span_is_a_range_and_the_whole_text_is_one() -> None:
    positions = TextPositions(TEXT)
    assert positions.range(Span(Source("", TEXT), 4, 9)) == Range(Position(0, 5), Position(1, 1))
    assert positions.whole == Range(Position(0, 0), Position(3, 0))


@given(
    text=st.text(st.sampled_from("ab\u00e9\U0001f600 \r\n\x0c\u2028")),
    encoding=st.sampled_from(["utf-8", "utf-16", "utf-32"]),
)
def test_every_offset_comes_back_from_its_position(text: str, encoding: str) -> None:
    positions = TextPositions(text, encoding)
    inside_line_ends = {i + 1 for i in range(len(text)) if text.startswith("\r\n", i)}
    for offset in sorted(set(range(len(text) + 1)) - inside_line_ends):
        assert positions.offset(positions.position(offset)) == offset


@given(text=st.text(), line=st.integers(0, 9), column=st.integers(0, 99))
def test_every_place_an_editor_may_name_is_in_the_text(text: str, line: int, column: int) -> None:
    assert 0 <= TextPositions(text + "\ud800").offset(Position(line, column)) <= len(text) + 1
