"""What tests of pictures share: boards from a few words, and what a picture holds."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

from gdl.boards.boards import Board, board_of
from gdl.boards.layout import Layout
from gdl.language.kif import read_term
from gdl.language.rules import read_rules

PICTURES: Final = Path(__file__).with_name("pictures")
NAMESPACE: Final = "{http://www.w3.org/2000/svg}"
GRID: Final[dict[str, object]] = {"kind": "grid", "columns": "1..3", "rows": "1..3"}
CELLS: Final[dict[str, object]] = {
    "fluent": "(cell ?x ?y ?piece)",
    "symbols": {"x": "X", "o": "O"},
    "shapes": {"x": "cross", "o": "ring"},
    "fills": {"x": "red", "o": "blue"},
}


def board(layout: Mapping[str, object], *facts: str, rules: str = "(role me)") -> Board:
    return board_of(Layout.model_validate(layout), read_rules(rules), frozenset(map(read_term, facts)))


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def texts(svg: str, tag: str = "text") -> list[str]:
    return [element.text or "" for element in parsed(svg).iter(f"{NAMESPACE}{tag}")]


def cells(svg: str) -> dict[str, str]:
    """Return the class of every cell by its name."""
    return {element.attrib["data-cell"]: element.attrib["class"] for element in _with(svg, "data-cell")}


def labels(svg: str) -> dict[str, str]:
    """Return what screen readers say of every cell by its name."""
    return {element.attrib["data-cell"]: element.attrib["aria-label"] for element in _with(svg, "aria-label")}


def _with(svg: str, attribute: str) -> Iterator[ElementTree.Element]:
    return (element for element in parsed(svg).iter() if attribute in element.attrib)


def case(path: Path) -> tuple[Board, dict[str, object]]:
    """Return the board of a file in `pictures/`, and how it is to be drawn."""
    told = tomllib.loads(path.read_text(encoding="utf-8"))
    return board(told["board"], *told["facts"], rules=told.get("rules", "(role me)")), told.get("look", {})
