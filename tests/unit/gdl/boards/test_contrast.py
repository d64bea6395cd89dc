"""Pieces stand out of every ground in light and dark: by their filling or by their outline."""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

import pytest

from gdl.boards.marks import COLOURS, DARK
from gdl.boards.pictures import board_css

Theme: TypeAlias = Literal["light", "dark"]

GROUNDS: Final = {"plain": ("light", "wood", "pit"), "checkered": ("light", "dark")}
ENOUGH: Final = 3.0
"""What WCAG 2.2 asks of graphics (1.4.11)."""


def properties(rule: str, theme: Theme) -> dict[str, str]:
    """Return the colours that *rule* of the style sheet sets in *theme*."""
    block = board_css().partition(f"\n{rule} {{")[2].partition("}")[0]
    pairs = re.findall(r"--board-([a-z]+): var\(--in-light, (#\w{6})\) var\(--in-dark, (#\w{6})\);", block)
    return {name: light if theme == "light" else dark for name, light, dark in pairs}


def luminance(colour: str) -> float:
    parts = (int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return how much two colours differ, from 1 to 21, as WCAG measures it."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def faint(known: dict[str, str], ground: str) -> list[str]:
    """Return the colours of pieces that do not stand out of *ground*."""
    colours = COLOURS | {"black": known["black"]}
    edges = {colour: known["rim" if colour in DARK else "outline"] for colour in colours} | {"black": known["pale"]}
    return [
        colour
        for colour, fill in colours.items()
        if max(contrast(fill, ground), contrast(edges[colour], ground)) < ENOUGH
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_piece_stands_out_of_every_ground(theme: Theme) -> None:
    plain = properties("svg.board", theme)
    checkered = plain | properties("svg.board.checkered", theme)
    grounds = [(plain, plain[name]) for name in GROUNDS["plain"]]
    grounds += [(checkered, checkered[name]) for name in GROUNDS["checkered"]]
    found = {ground: faint(known, ground) for known, ground in grounds}
    assert {where: colours for where, colours in found.items() if colours} == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_white_and_black_differ_and_so_do_light_and_dark_cells(theme: Theme) -> None:
    known = properties("svg.board", theme) | properties("svg.board.checkered", theme)
    assert contrast(COLOURS["white"], known["black"]) > 10
    assert contrast(known["light"], known["dark"]) > 1.5


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_names_and_captions_can_be_read(theme: Theme) -> None:
    known = properties("svg.board", theme)
    assert [name for name in ("text", "muted") if contrast(known[name], known["sheet"]) < 4.5] == []


def test_what_is_written_on_pieces_can_be_read() -> None:
    inks = {colour: "#ffffff" if colour in DARK else "#23272e" for colour in COLOURS}
    assert {colour for colour, ink in inks.items() if contrast(COLOURS[colour], ink) < ENOUGH} == set()
