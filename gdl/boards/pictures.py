"""A board as a picture: SVG that is safe whatever the rules say, and legible without colours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from textwrap import wrap
from typing import Final, Literal, TypeAlias, TypedDict, Unpack
from xml.etree.ElementTree import Element, SubElement, tostring

from gdl.boards.about import About
from gdl.boards.boards import Board, Mark, Place, board_of, cell_name
from gdl.boards.guessing import layout_of
from gdl.boards.text import cell_words, heap_words, mark_words, words_of
from gdl.language.rules import Description
from gdl.language.terms import Term

NAMESPACE: Final = "http://www.w3.org/2000/svg"

_MAX_TEXT: Final = 4_000

Attribute: TypeAlias = str | float


def root(width: float, height: float, **attributes: Attribute) -> Element:
    """Return a picture of that size. *Units*: those of its drawing, pixels where a page does not say otherwise."""
    size = f"0 0 {_text(width)} {_text(height)}"
    return Element("svg", {"xmlns": NAMESPACE, "viewBox": size, **_named({"width": width, "height": height})} | _named(
        attributes
    ))  # fmt: skip


def add(parent: Element, tag: str, text: str = "", **attributes: Attribute) -> Element:
    """Return a new element inside *parent*; `_` in the names of attributes stands for `-`, `class_` for `class`."""
    found = SubElement(parent, tag, _named(attributes))
    if text:
        found.text = clean(text)
    return found


def clean(text: str) -> str:
    """Return *text* cut to a bounded length, without characters that XML refuses or that turn its direction."""
    return "".join(letter if letter.isprintable() else "?" for letter in text[:_MAX_TEXT])


def written(picture: Element) -> str:
    """Return *picture* as text, ready for a page or a file."""
    return tostring(picture, encoding="unicode")


def _named(attributes: dict[str, Attribute]) -> dict[str, str]:
    return {name.rstrip("_").replace("_", "-"): _text(value) for name, value in attributes.items()}


def _text(value: Attribute) -> str:
    return clean(value) if isinstance(value, str) else f"{value:g}"


COLOURS: Final = {
    "black": "#23272e", "red": "#cf3f34", "green": "#2f9153", "yellow": "#e9b824",
    "blue": "#2f66c4", "magenta": "#a3479f", "cyan": "#1f94a8", "white": "#f4f1ea",
    "bright_black": "#7d848d", "bright_red": "#ee7265", "bright_green": "#6cc274", "bright_yellow": "#f7dc6b",
    "bright_blue": "#74a2ee", "bright_magenta": "#d68ad2", "bright_cyan": "#68c7d6", "bright_white": "#ffffff",
}  # fmt: skip
"""What the colours are where no style sheet is read; `board.css` has the same."""

DARK: Final = frozenset({"black", "red", "green", "blue", "magenta", "cyan", "bright_black"})
"""The colours on which text is light."""


@cache
def board_css() -> str:
    """Return the style sheet of pictures, for pages that show them: light and dark, by custom properties.

    Raises:
        OSError: the file is missing from the installation.
    """
    return files(__package__).joinpath("board.css").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape as SVG path data: `body` is filled in the piece's colour, `detail` drawn on it in the outline's.

    `has_text` says that the piece's symbol is written on it.
    """

    body: str
    detail: str = ""
    has_text: bool = False


def _circle(x: float, y: float, radius: float) -> str:
    r = f"{radius:g}"
    return f"M{x - radius:g} {y:g}a{r} {r} 0 1 0 {2 * radius:g} 0a{r} {r} 0 1 0 {-2 * radius:g} 0z"


_FOOT: Final = "M12 41v-3q0-3 4-4h16q4 1 4 4v3z"
"""What chess pieces stand on."""

SHAPES: Final[dict[str, Shape]] = {
    "disc": Shape(_circle(24, 24, 17), _circle(24, 24, 11.5)),
    "ring": Shape(_circle(24, 24, 17) + _circle(24, 24, 10)),
    "cross": Shape("M13.4 8 24 18.6 34.6 8 40 13.4 29.4 24 40 34.6 34.6 40 24 29.4 13.4 40 8 34.6 18.6 24 8 13.4z"),
    "square": Shape("M10 10h28v28h-28z"),
    "block": Shape("M1.5 1.5h45v45h-45z", "M1.5 16.5h45M1.5 31.5h45M16.5 1.5v15M31.5 16.5v15M16.5 31.5v15"),
    "diamond": Shape("M24 6 42 24 24 42 6 24z"),
    "triangle": Shape("M24 8 41 38H7z"),
    "star": Shape("M24 6l5.3 11.9 12.9 1.3-9.7 8.6 2.8 12.7L24 33.9 12.7 40.5l2.8-12.7-9.7-8.6 12.9-1.3z"),
    "dot": Shape(_circle(24, 24, 6)),
    "token": Shape(_circle(24, 24, 18), has_text=True),
    "tile": Shape("M8 4h32q4 0 4 4v32q0 4-4 4h-32q-4 0-4-4v-32q0-4 4-4z", has_text=True),
    "pawn": Shape(_circle(24, 15.5, 6.5) + "M17 24h14v3h-3.5q.5 5 5 8h-17q4.5-3 5-8h-3.5z" + _FOOT),
    "knight": Shape(
        "M15 35q-1-6 6-12l-7 3-4-4 7-10 2-6 4 4q12 1 12 15 0 6-2 10z" + _FOOT, _circle(20.5, 15.5, 0.8)
    ),
    "bishop": Shape(
        _circle(24, 7.5, 2.8) + "M24 10q9 8 9 14 0 4-4 6h-10q-4-2-4-6 0-6 9-14zM18 31h12l2 4h-16z" + _FOOT,
        "M24 16v10M19.5 20.5h9",
    ),
    "rook": Shape("M13 8h5v4h4v-4h4v4h4v-4h5v9l-3 3 1 14h-18l1-14-3-3z" + _FOOT, "M16 20h16"),
    "queen": Shape(
        _circle(7.5, 14, 2.5) + _circle(18, 9.5, 2.5) + _circle(30, 9.5, 2.5) + _circle(40.5, 14, 2.5)
        + "M8 16l6 9 4-14 6 12 6-12 4 14 6-9-5 19h-22z" + _FOOT,
        "M14.5 30h19",
    ),
    "king": Shape(
        "M22.5 4h3v3.5h3.5v3h-3.5v5h-3v-5h-3.5v-3h3.5zM24 20q2-6 8-6 8 0 8 7 0 6-7 14h-18q-7-8-7-14 0-7 8-7 6 0 8 6z"
        + _FOOT,
        "M24 20v12M15 32h18",
    ),
    "person": Shape(_circle(24, 14, 7) + "M10 41q0-18 14-18t14 18z"),
    "robot": Shape(
        "M22.5 5h3v6h8.5q3 0 3 3v13q0 3-3 3h-20q-3 0-3-3v-13q0-3 3-3h8.5zM15 32h18q3 0 3 3v6h-24v-6q0-3 3-3z",
        _circle(18.5, 19, 2.2) + _circle(29.5, 19, 2.2) + "M18 25.5h12",
    ),
    "zombie": Shape(
        "M14 8q10-5 20 0 4 3 3 12 0 5-4 8v5l6 2v6h-30v-6l6-2v-5q-4-3-4-8-1-9 3-12z",
        _circle(18.5, 18, 3) + _circle(29.5, 18, 1.8) + "M18 26l3-2 3 2 3-2 3 2",
    ),
    "mummy": Shape(
        "M12 42v-22q0-13 12-13t12 13v22z",
        "M12.5 15l23-3M12 27l24-4M12 33l24 2M12 39l24-3" + _circle(19.5, 19, 1.8) + _circle(28.5, 18, 1.8),
    ),
    "door": Shape("M12 42v-26q0-11 12-11t12 11v26z", _circle(31, 26, 1.2) + "M16 42v-26q0-7 8-7t8 7v26"),
    "flag": Shape("M14 5h3v2q9-4 18 1v15q-9-5-18-1v20h-3z"),
}  # fmt: skip
"""The outline of every shape that a layout may name."""


CELL: Final = 48
"""The side of a cell. *Units*: those of the drawing."""

_UNDER: Final = frozenset({"block", "door", "square", "dot"})
"""Shapes that lie under whatever else stands in their cell."""
_MAX_MARKS: Final = 4
_SIGN_SIZES: Final = {1: 26, 2: 20}
_PLAIN: Final = "bright_white"


def draw_marks(cell: Element, marks: Sequence[Mark]) -> None:
    """Draw what stands in a cell; of more than four things the number says how many they are."""
    if not marks:
        return
    under = [mark for mark in marks[:-1] if mark.shape in _UNDER]
    over = [mark for mark in marks[:-1] if mark.shape not in _UNDER] + [marks[-1]]
    for mark in under[-1:]:
        draw_mark(cell, mark)
    if len(over) == 1:
        draw_mark(cell, over[0])
        return
    for number, mark in enumerate(over[-_MAX_MARKS:]):
        draw_mark(cell, mark, CELL / 2 * (number % 2), CELL / 2 * (number // 2), 0.5)
    if len(over) > _MAX_MARKS:
        _badge(cell, len(over))


def draw_mark(cell: Element, mark: Mark, x: float = 0, y: float = 0, scale: float = 1) -> None:
    """Draw *mark* into a square whose upper left corner is given, of a cell's side times *scale*."""
    moved = f"translate({x:g} {y:g}) scale({scale:g})"
    group = add(cell, "g", **({"transform": moved} if (x, y, scale) != (0, 0, 1) else {}))
    add(group, "title", mark_words(mark))
    if mark.shape is None:
        _sign(group, mark)
    else:
        _shape(group, mark, mark.shape)
    if mark.count > 1 and mark.shape is not None:
        _badge(group, mark.count)


def _shape(group: Element, mark: Mark, shape: str) -> None:
    outline, colour = SHAPES[shape], mark.fill or mark.colour or _PLAIN
    edge = COLOURS["bright_black"] if colour == "black" else COLOURS["black"]
    on, ink = ("on-dark", "#ffffff") if colour in DARK else ("on-light", COLOURS["black"])
    add(group, "path", d=outline.body, class_=f"piece {colour}", fill=COLOURS[colour], fill_rule="evenodd",
        stroke=edge, stroke_width=1.5, stroke_linejoin="round")  # fmt: skip
    if outline.detail:
        add(group, "path", d=outline.detail, class_=f"detail {on}", fill="none", stroke=ink, stroke_width=1.5,
            stroke_linecap="round")  # fmt: skip
    if outline.has_text:
        _piece_text(group, mark.symbol, on, 0.8)


def _sign(group: Element, mark: Mark) -> None:
    colour = mark.fill or mark.colour
    _piece_text(group, mark.symbol, f"sign {colour}" if colour else "sign", 1)


def _piece_text(group: Element, symbol: str, class_: str, scale: float) -> None:
    size = scale * _SIGN_SIZES.get(len(symbol), 16)
    add(group, "text", symbol, class_=class_, x=CELL / 2, y=CELL / 2 + 0.36 * size, font_size=size,
        font_weight="bold", text_anchor="middle")  # fmt: skip


def _badge(group: Element, count: int) -> None:
    add(group, "circle", cx=CELL - 10, cy=CELL - 10, r=9, class_="piece bright_white", fill="#fff", stroke="#23272e")
    add(group, "text", str(count) if count < 100 else "99+", class_="on-light", x=CELL - 10, y=CELL - 5.5,
        font_size=13 if count < 10 else 10, font_weight="bold", text_anchor="middle")  # fmt: skip


Emphasis: TypeAlias = Literal["from", "to", "named"]
"""Why a cell stands out: a move leaves it, goes there, or names it otherwise."""

LETTER: Final = 8.2
"""What a letter takes at most on average. *Units*: those of the drawing."""
PAD: Final = 6
"""What is left free at the edges. *Units*: those of the drawing."""

_LABEL_HEIGHT: Final = 24
_MAX_LABEL: Final = 6
_MAX_THINGS: Final = 40


@dataclass(frozen=True, slots=True)
class Frame:
    """Where the drawn part lies: `left` is where its cells begin. *Units*: those of the drawing."""

    left: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Canvas:
    """A board about to be drawn; cells of *highlighted* stand out, and playable ones say what they hold."""

    board: Board
    highlighted: Mapping[str, Emphasis]
    is_playable: bool

    @property
    def frame(self) -> Frame:
        """The room that the drawn part takes: none where there are only captions."""
        match self.board.layout.kind:
            case "grid":
                return _grid_frame(self.board)
            case "heaps":
                return _heaps_frame(self.board)
            case "facts":
                return Frame(PAD, 0, 0)

    def draw(self, picture: Element) -> None:
        """Draw it into *picture*."""
        match self.board.layout.kind:
            case "grid":
                self._grid(picture)
            case "heaps":
                self._heaps(picture)
            case "facts":
                pass

    def _grid(self, picture: Element) -> None:
        columns, rows, left = self.board.columns, self.board.rows, self.frame.left
        inner = add(picture, "g", transform=f"translate({left:g} {PAD})")
        for y in range(len(rows)):
            for x in range(len(columns)):
                self._cell(inner, (x, y))
        add(inner, "rect", width=CELL * len(columns), height=CELL * len(rows), class_="frame", fill="none",
            stroke="#7d7260", stroke_width=2)  # fmt: skip
        _draw_lines(inner, self.board)
        if self.board.layout.labels:
            _draw_labels(inner, columns, rows)

    def _cell(self, inner: Element, place: Place) -> None:
        cell = self._place(inner, place, cell_words(self.board, place))
        is_dark = self.board.layout.checkered and (place[0] + len(self.board.rows) - place[1]) % 2 == 1
        add(cell, "rect", width=CELL, height=CELL, class_="ground shade" if is_dark else "ground",
            fill="#d8ccb4" if is_dark else "#f3eee3", stroke="#b9ad95")  # fmt: skip
        draw_marks(cell, self.board.marks.get(place, ()))

    def _place(self, inner: Element, place: Place, words: str) -> Element:
        name = cell_name(place)
        emphasis = self.highlighted.get(name)
        moved = f"translate({CELL * place[0]} {CELL * place[1]})"
        cell = add(inner, "g", class_=f"cell {emphasis}" if emphasis else "cell", data_cell=name, transform=moved)
        if self.is_playable:
            cell.set("role", "img")
            cell.set("aria-label", clean(words))
        return cell

    def _heaps(self, picture: Element) -> None:
        frame = self.frame
        inner = add(picture, "g", transform=f"translate({PAD} {PAD})")
        for number, (name, size) in enumerate(self.board.heaps):
            heap = self._place(inner, (0, number), heap_words(name, size))
            add(heap, "rect", width=frame.width - 2 * PAD, height=CELL, class_="ground", fill="#f3eee3",
                stroke="#b9ad95")  # fmt: skip
            add(heap, "text", name, class_="line", x=PAD, y=CELL / 2 + 5, font_size=15)
            for thing in range(min(size, _MAX_THINGS)):
                draw_mark(heap, _thing(self.board, name), frame.left + thing * CELL / 2, CELL / 4, 0.5)
            add(heap, "text", str(size), class_="line", x=frame.width - 3 * PAD, y=CELL / 2 + 5, font_size=15,
                text_anchor="end")  # fmt: skip


def _thing(board: Board, heap: str) -> Mark:
    assert board.layout.heaps is not None
    return Mark(board.layout.heaps.symbol, heap, "yellow", 1, "disc")


def _grid_frame(board: Board) -> Frame:
    names = max(len(_last(name)[:_MAX_LABEL]) for name in board.rows) if board.layout.labels else 0
    left = PAD + (names * LETTER + PAD if names else 0)
    bottom = _LABEL_HEIGHT if board.layout.labels else PAD
    return Frame(left, left + CELL * len(board.columns) + PAD, PAD + CELL * len(board.rows) + bottom)


def _heaps_frame(board: Board) -> Frame:
    left = max((len(name) for name, _ in board.heaps), default=0) * LETTER + 2 * PAD
    most = max((min(size, _MAX_THINGS) for _, size in board.heaps), default=0)
    return Frame(left, left + most * CELL / 2 + 8 * LETTER + 2 * PAD, 2 * PAD + CELL * len(board.heaps))


def _draw_lines(inner: Element, board: Board) -> None:
    """Draw walls, and the lines between blocks of columns and of rows, whose names have two parts."""
    columns, rows = board.columns, board.rows
    for x in range(1, len(columns)):
        if _block(columns[x - 1]) != _block(columns[x]):
            _line(inner, "block", (x, 0), (x, len(rows)))
    for y in range(1, len(rows)):
        if _block(rows[y - 1]) != _block(rows[y]):
            _line(inner, "block", (0, y), (len(columns), y))
    for (x, y), (x2, _) in sorted(board.walls):
        _line(inner, "wall", *(((x + 1, y), (x + 1, y + 1)) if x2 > x else ((x, y + 1), (x + 1, y + 1))))


def _line(inner: Element, kind: str, start: Place, end: Place) -> None:
    add(inner, "line", class_=kind, x1=CELL * start[0], y1=CELL * start[1], x2=CELL * end[0], y2=CELL * end[1],
        stroke="#3d372e", stroke_width=5 if kind == "wall" else 3, stroke_linecap="round")  # fmt: skip


def _draw_labels(inner: Element, columns: tuple[str, ...], rows: tuple[str, ...]) -> None:
    for x, name in enumerate(columns):
        add(inner, "text", _last(name)[:_MAX_LABEL], class_="label", x=CELL * (x + 0.5), y=CELL * len(rows) + 17,
            font_size=14, text_anchor="middle")  # fmt: skip
    for y, name in enumerate(rows):
        add(inner, "text", _last(name)[:_MAX_LABEL], class_="label", x=-PAD, y=CELL * (y + 0.5) + 5,
            font_size=14, text_anchor="end")  # fmt: skip


def _block(name: str) -> str:
    return name.rpartition(" ")[0]


def _last(name: str) -> str:
    return name.rpartition(" ")[2]


_LINE_HEIGHT: Final = 24
_TEXT_SIZE: Final = 15
_MIN_LETTERS: Final = 32
_MAX_LETTERS: Final = 100
_MAX_LINES: Final = 60


class Look(TypedDict, total=False):
    """How a picture is to be drawn.

    `title` is the name that screen readers say; `standalone` puts style sheet and background inside, for files, while
    pages have that of `board_css`; `highlighted` says which cells stand out, by their names in `data-cell`; a
    `playable` board tells screen readers of each cell instead of the whole; `captions` are left out where a page says
    them itself.
    """

    title: str
    standalone: bool
    highlighted: Mapping[str, Emphasis]
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
    canvas = Canvas(board, look.get("highlighted", {}), is_playable=look.get("playable", False))
    frame = canvas.frame
    captions = look.get("captions", True)
    lines = _lines(board, frame.width) if captions else []
    has_turn = captions and board.turn is not None
    picture = _sheet(board, frame, [*lines, _turn(board)] if has_turn else lines, look)
    canvas.draw(picture)
    top = frame.height
    if has_turn:
        _draw_turn(picture, board, top)
        top += _LINE_HEIGHT
    for number, line in enumerate(lines):
        _draw_line(picture, line, PAD, top + number * _LINE_HEIGHT)
    return written(picture)


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
