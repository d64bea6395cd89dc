"""The style sheet of pictures has every colour, as the pictures have it where no style sheet is read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from gdl.boards.field_types import ShapeName
from gdl.boards.grids import Emphasis
from gdl.boards.marks import COLOURS, SHAPES
from gdl.boards.pictures import board_css


def test_the_style_sheet_has_every_colour() -> None:
    found = dict(re.findall(r"svg\.board \.(\w+) \{ fill: var\(--board-[a-z-]+, (#\w{6})\); \}", board_css()))
    assert found == COLOURS


def test_every_property_that_is_used_is_set_or_has_a_value_of_its_own() -> None:
    used = set(re.findall(r"var\((--board-[a-z-]+)\)", board_css()))
    assert used <= set(re.findall(r"^\s+(--board-[a-z-]+):", board_css(), re.MULTILINE))


def test_every_property_has_a_light_and_a_dark_colour() -> None:
    values = dict(re.findall(r"^  (--board-[a-z-]+): (.*);$", board_css(), re.MULTILINE))
    pair_of_colours = re.compile(r"var\(--in-light, (#\w{6})\) var\(--in-dark, (#\w{6})\)")
    pairs = {name: pair_of_colours.fullmatch(value) for name, value in values.items()}
    assert [name for name, pair in pairs.items() if pair is None] == []
    assert [pair[1] for name, pair in pairs.items() if pair and name == "--board-black"] == [COLOURS["black"]]


def test_a_page_may_choose_light_or_dark() -> None:
    light, dark = "--in-light: initial; --in-dark: ;", "--in-light: ; --in-dark: initial;"
    chosen = re.findall(
        r'^\[data-theme="(\w+)"\] svg\.board \{ color-scheme: (\w+); (.*) \}$', board_css(), re.MULTILINE
    )
    assert chosen == [("light", "light", light), ("dark", "dark", dark)]
    assert f"@media (prefers-color-scheme: dark) {{\n  svg.board {{ {dark} }}\n}}\n" in board_css()
    assert "  color-scheme: light dark;\n" in board_css()


def test_what_stands_out_has_a_colour() -> None:
    assert [kind for kind in get_args(Emphasis) if f"svg.board .{kind} > .ground" not in board_css()] == []


def test_every_shape_of_layouts_has_an_outline() -> None:
    assert set(SHAPES) == set(get_args(ShapeName))


def test_every_shape_of_layouts_is_in_the_table_of_the_page() -> None:
    page = (Path(__file__).parents[4] / "docs" / "games.md").read_text("utf-8")
    table = page.partition("\n| shapes | |\n")[2].partition("\n\n")[0]
    listed = [name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])]
    assert sorted(listed) == sorted(get_args(ShapeName))


def test_outlines_are_path_data_and_nothing_else() -> None:
    paths = [path for outline in SHAPES.values() for path in (outline.body, outline.detail)]
    assert [path for path in paths if re.fullmatch(r"[MmLlHhVvCcSsQqTtAaZz0-9 .-]*", path) is None] == []
