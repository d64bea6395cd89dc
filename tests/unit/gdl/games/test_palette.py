"""The style sheet of pictures has every colour, as the pictures have it where no style sheet is read."""

from __future__ import annotations

import re
from typing import get_args

from gdl.boards.layout import Shape
from gdl.boards.pictures import COLOURS, SHAPES, Emphasis, board_css


def test_the_style_sheet_has_every_colour() -> None:
    found = dict(re.findall(r"svg\.board \.(\w+) \{ fill: var\(--board-[a-z-]+, (#\w{6})\); \}", board_css()))
    assert found == COLOURS


def test_every_property_that_is_used_is_set_or_has_a_value_of_its_own() -> None:
    used = set(re.findall(r"var\((--board-[a-z-]+)\)", board_css()))
    assert used <= set(re.findall(r"^\s+(--board-[a-z-]+):", board_css(), re.MULTILINE))


def test_light_and_dark_set_the_same_properties() -> None:
    blocks = re.findall(r"svg\.board[^{]*\{\n((?:\s+--board-[a-z-]+: [^;]+;\n)+)", board_css())
    light, system, chosen = ({line.split(":")[0].strip() for line in block.splitlines()} for block in blocks)
    assert system == chosen == light | {"--board-black"}


def test_what_stands_out_has_a_colour() -> None:
    assert [kind for kind in get_args(Emphasis) if f"svg.board .{kind} > .ground" not in board_css()] == []


def test_every_shape_of_layouts_has_an_outline() -> None:
    assert set(SHAPES) == set(get_args(Shape))


def test_outlines_are_path_data_and_nothing_else() -> None:
    paths = [path for outline in SHAPES.values() for path in (outline.body, outline.detail)]
    assert [path for path in paths if re.fullmatch(r"[MmLlHhVvCcSsQqTtAaZz0-9 .-]*", path) is None] == []
