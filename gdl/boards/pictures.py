"""A board as a picture: SVG that is safe whatever the rules say, and legible without colours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from textwrap import wrap
from typing import Final, TypedDict, Unpack
from xml.etree.ElementTree import Element

from gdl.boards.about import About
from gdl.boards.boards import Board, board_of
from gdl.boards.canvas import Canvas, draw_trays, trays_size
from gdl.boards.geometry import CELL
from gdl.boards.grids import LETTER, PAD, Emphasis, Frame, draw_arrow
from gdl.boards.guessing import layout_of
from gdl.boards.marks import draw_mark
from gdl.boards.pieces import Mark
from gdl.boards.svg import add, clean, root, written
from gdl.boards.text import words_of
from gdl.language.rules import Description
from gdl.language.terms import Term


@cache
def board_css() -> str:
    """Return the style sheet of pictures, for pages that show them: light and dark, by custom properties.

    Raises:
        OSError: the file is missing from the installation.
    """
    return files(__package__).joinpath("board.css").read_text(encoding="utf-8")


_LINE_HEIGHT: Final = 24
_TEXT_SIZE: Final = 15
_MIN_LETTERS: Final = 32
_MAX_LETTERS: Final = 100
_MAX_LINES: Final = 60


class Look(TypedDict, total=False):
    """How a picture is to be drawn.

    `title` is the name that screen readers say; `standalone` puts style sheet and background inside, for files, while
    pages have that of `board_css`; a `transparent` one has no background; `highlighted` says which cells stand out, by
    their names in `data-cell`, and `arrows` through which of them something moved; a `playable` board tells screen
    readers of each cell instead of the whole; `captions` are left out where a page says them itself.
    """

    title: str
    standalone: bool
    transparent: bool
    highlighted: Mapping[str, Emphasis]
    arrows: Sequence[Sequence[str]]
    playable: bool
    captions: bool


def picture(description: Description, about: About | None, facts: Iterable[Term], **look: Unpack[Look]) -> str:
    """Return the picture of a state, or of what is known of one: by the game's layout, else by a guessed one."""
    if about is not None:
        look.setdefault("title", about.title)
    return svg_of(board_of(layout_of(description, about), description, facts), **look)


def svg_of(board: Board, **look: Unpack[Look]) -> str:
    """Return *board* as one `svg` element, complete, and safe to stand in a page.

    Every cell has `data-cell="x,y"`, column and row counted from 0 at the left and at the top; heaps are a column.
    """
    return written(drawing(board, **look))


def drawing(board: Board, **look: Unpack[Look]) -> Element:
    """Return *board* as the element that `svg_of` writes."""
    canvas = Canvas(board, look.get("highlighted", {}), is_playable=look.get("playable", False))
    drawn, (width, height) = canvas.frame, trays_size(board)
    frame = Frame(drawn.left, max(drawn.width, width), drawn.height + height)
    captions = look.get("captions", True)
    lines = _lines(board, frame.width) if captions else []
    has_turn = captions and board.turn is not None
    picture = _sheet(board, frame, [*lines, _turn(board)] if has_turn else lines, look)
    canvas.draw(picture)
    for way in look.get("arrows", ()) if board.layout.kind == "grid" else ():
        draw_arrow(picture, board, way)
    draw_trays(picture, board, drawn.height)
    top = frame.height
    if has_turn:
        _draw_turn(picture, board, top)
        top += _LINE_HEIGHT
    for number, line in enumerate(lines):
        _draw_line(picture, line, PAD, top + number * _LINE_HEIGHT)
    return picture


def _sheet(board: Board, frame: Frame, lines: list[str], look: Look) -> Element:
    """Return an empty picture of the right size, with its name and its description in words."""
    width = max(1, frame.width, *(CELL + len(line) * LETTER for line in lines))
    height = max(1, frame.height + _LINE_HEIGHT * len(lines) + (PAD if lines else 0))
    kind = "board checkered" if board.layout.checkered else "board"
    picture = root(round(width), round(height), class_=kind, role="group" if look.get("playable") else "img")
    add(picture, "title", look.get("title") or "Board")
    add(picture, "desc", words_of(board))
    if look.get("standalone"):
        add(picture, "style").text = board_css()
    if look.get("standalone") and not look.get("transparent"):
        add(picture, "rect", width=width, height=height, class_="sheet", fill="#ffffff")
    return picture


def _lines(board: Board, width: float) -> list[str]:
    """Return the captions, wrapped below a picture of that width."""
    most = _MAX_LETTERS if board.layout.kind == "facts" else min(_MAX_LETTERS, int(width / LETTER))
    lines = [part for line in board.lines for part in wrap(clean(line), max(_MIN_LETTERS, most)) or [""]]
    if len(lines) <= _MAX_LINES:
        return lines
    return [*lines[: _MAX_LINES - 1], f"... and {len(lines) - _MAX_LINES + 1} lines more"]


def _turn(board: Board) -> str:
    return f"{board.turn} to move"[:_MAX_LETTERS]


def _draw_turn(picture: Element, board: Board, top: float) -> None:
    mark = _mark_of_turn(board)
    if mark is not None:
        draw_mark(picture, mark, PAD, top, 0.5)
    _draw_line(picture, _turn(board), PAD if mark is None else PAD + CELL / 2 + PAD, top, "bold")


def _draw_line(picture: Element, line: str, x: float, top: float, weight: str = "normal") -> None:
    add(picture, "text", line, class_="line", x=x, y=top + 0.7 * _LINE_HEIGHT, font_size=_TEXT_SIZE,
        font_weight=weight)  # fmt: skip


def _mark_of_turn(board: Board) -> Mark | None:
    """Return a piece of the role whose turn it is, if pieces are named after roles: `x`, or `xplayer`."""
    names = () if board.turn is None else (board.turn, board.turn.lower().removesuffix("player"))
    for pieces in board.layout.pieces:
        for name in names:
            shape, fill = pieces.shapes.get(name, pieces.shape), pieces.fills.get(name) or pieces.colours.get(name)
            if shape and fill:
                return Mark((pieces.symbols or {}).get(name, name[:1]), name, fill, 1, shape, fill)
    return None
