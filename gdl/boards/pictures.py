"""A board as a picture: SVG that is safe whatever the rules say, legible without colours; a match as a moving one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from textwrap import wrap
from typing import Final, TypedDict, Unpack
from xml.etree.ElementTree import Element

from gdl.boards import guessing, marks, text
from gdl.boards.boards import Board, Place, board_of, cell_name
from gdl.boards.geometry import CELL
from gdl.boards.grids import LETTER, PAD, Emphasis, Frame, draw_arrow, draw_grid, grid_frame, placed
from gdl.boards.metadata import GameMetadata
from gdl.boards.pieces import Mark
from gdl.boards.svg import add, clean, root, written
from gdl.language.rules import Description
from gdl.language.terms import Term

_MAX_THINGS: Final = 40
_NAME_HEIGHT: Final = 20
_MAX_NAME: Final = 6
_MAX_TRAY_NAME: Final = 30
_BESIDE: Final = 40
"""How far from each other pieces of a tray lie. *Units*: those of the drawing."""


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
                return grid_frame(self.board)
            case "heaps":
                return _heaps_frame(self.board)
            case "stacks":
                return _stacks_frame(self.board)
            case "facts":
                return Frame(PAD, 0, 0)

    def draw(self, picture: Element) -> None:
        """Draw it into *picture*."""
        match self.board.layout.kind:
            case "grid":
                draw_grid(picture, self.board, self.highlighted, is_playable=self.is_playable)
            case "heaps":
                self._heaps(picture)
            case "stacks":
                self._stacks(picture)
            case "facts":
                pass

    def _place(self, inner: Element, place: Place, words: str) -> Element:
        moved = f"translate({CELL * place[0]} {CELL * place[1]})"
        return placed(inner, cell_name(place), moved, self.highlighted, words if self.is_playable else "")

    def _heaps(self, picture: Element) -> None:
        frame = self.frame
        inner = add(picture, "g", transform=f"translate({PAD} {PAD})")
        for number, (name, size) in enumerate(self.board.heaps):
            heap = self._place(inner, (0, number), text.heap_words(name, size))
            add(heap, "rect", width=frame.width - 2 * PAD, height=CELL, class_="ground", fill="#f3eee3",
                stroke="#b9ad95")  # fmt: skip
            add(heap, "text", name, class_="line", x=PAD, y=CELL / 2 + 5, font_size=15)
            for thing in range(min(size, _MAX_THINGS)):
                marks.draw_mark(heap, _thing(self.board, name), frame.left + thing * CELL / 2, CELL / 4, 0.5)
            add(heap, "text", str(size), class_="line", x=frame.width - 3 * PAD, y=CELL / 2 + 5, font_size=15,
                text_anchor="end")  # fmt: skip

    def _stacks(self, picture: Element) -> None:
        frame, step = self.frame, _step(self.board)
        bottom = frame.height - 2 * PAD - _NAME_HEIGHT
        inner = add(picture, "g", transform=f"translate({PAD} {PAD})")
        for number, stack in enumerate(self.board.stacks):
            pile = self._place(inner, (number, 0), text.pile_words(stack))
            add(pile, "rect", width=CELL, height=bottom, class_="ground", fill="#f3eee3", stroke="#b9ad95")
            for height, mark in enumerate(stack.marks):
                marks.draw_mark(pile, mark, 0, bottom - CELL + (CELL - step) / 2 - step * height)
            if not stack.marks or stack.name != stack.marks[0].value:
                add(pile, "text", stack.name[-_MAX_NAME:], class_="label", x=CELL / 2, y=bottom + 17, font_size=14,
                    text_anchor="middle")  # fmt: skip


def _step(board: Board) -> int:
    """Return how much higher each piece of a stack lies than the one below."""
    is_flat = all(mark.shape == "bar" for stack in board.stacks for mark in stack.marks)
    return 18 if is_flat else CELL - 6


def _stacks_frame(board: Board) -> Frame:
    most = max((len(stack.marks) for stack in board.stacks), default=0)
    height = max(2 * CELL, most * _step(board) + CELL / 2)
    return Frame(PAD, CELL * len(board.stacks) + 2 * PAD, height + 2 * PAD + _NAME_HEIGHT)


def trays_size(board: Board) -> tuple[float, float]:
    """Return the width and the height of the trays of *board*."""
    most = max((len(tray.marks) for tray in board.trays), default=0)
    return (_names_width(board) + most * _BESIDE + 2 * PAD if board.trays else 0), (CELL + PAD) * len(board.trays)


def draw_trays(picture: Element, board: Board, top: float) -> None:
    """Draw what lies beside the board, below *top*: a row for each tray, behind its name."""
    left = _names_width(board)
    for number, tray in enumerate(board.trays):
        upright = add(picture, "g", class_="upright")
        row = add(upright, "g", transform=f"translate({PAD} {top + (CELL + PAD) * number:g})")
        add(row, "text", tray.name[:_MAX_TRAY_NAME], class_="line", x=0, y=CELL / 2 + 5, font_size=15)
        for place, mark in enumerate(tray.marks):
            marks.draw_mark(row, mark, left + place * _BESIDE, 0, 1)


def _names_width(board: Board) -> float:
    return max((len(tray.name[:_MAX_TRAY_NAME]) for tray in board.trays), default=0) * LETTER + PAD


def _thing(board: Board, heap: str) -> Mark:
    assert board.layout.heaps is not None
    return Mark(board.layout.heaps.symbol, heap, "yellow", 1, "disc")


def _heaps_frame(board: Board) -> Frame:
    left = max((len(name) for name, _ in board.heaps), default=0) * LETTER + 2 * PAD
    most = max((min(size, _MAX_THINGS) for _, size in board.heaps), default=0)
    return Frame(left, left + most * CELL / 2 + 8 * LETTER + 2 * PAD, 2 * PAD + CELL * len(board.heaps))


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


class PictureOptions(TypedDict, total=False):
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


def picture(
    description: Description, metadata: GameMetadata | None, facts: Iterable[Term], **options: Unpack[PictureOptions]
) -> str:
    """Return the picture of a state, or of what is known of one: by the game's layout, else by a guessed one."""
    if metadata is not None:
        options.setdefault("title", metadata.title)
    return svg_of(board_of(guessing.layout_of(description, metadata), description, facts), **options)


def svg_of(board: Board, **options: Unpack[PictureOptions]) -> str:
    """Return *board* as one `svg` element, complete, and safe to stand in a page.

    Every cell has `data-cell="x,y"`, column and row counted from 0 at the left and at the top; heaps are a column.
    """
    return written(drawing(board, **options))


def drawing(board: Board, **options: Unpack[PictureOptions]) -> Element:
    """Return *board* as the element that `svg_of` writes."""
    canvas = Canvas(board, options.get("highlighted", {}), is_playable=options.get("playable", False))
    drawn, (width, height) = canvas.frame, trays_size(board)
    frame = Frame(drawn.left, max(drawn.width, width), drawn.height + height)
    captions = options.get("captions", True)
    lines = _lines(board, frame.width) if captions else []
    has_turn = captions and board.turn is not None
    picture = _sheet(board, frame, [*lines, _turn(board)] if has_turn else lines, options)
    canvas.draw(picture)
    for way in options.get("arrows", ()) if board.layout.kind == "grid" else ():
        draw_arrow(picture, board, way)
    draw_trays(picture, board, drawn.height)
    top = frame.height
    if has_turn:
        _draw_turn(picture, board, top)
        top += _LINE_HEIGHT
    for number, line in enumerate(lines):
        _draw_line(picture, line, PAD, top + number * _LINE_HEIGHT)
    return picture


def _sheet(board: Board, frame: Frame, lines: list[str], options: PictureOptions) -> Element:
    """Return an empty picture of the right size, with its name and its description in words."""
    width = max(1, frame.width, *(CELL + len(line) * LETTER for line in lines))
    height = max(1, frame.height + _LINE_HEIGHT * len(lines) + (PAD if lines else 0))
    kind = "board checkered" if board.layout.checkered else "board"
    picture = root(round(width), round(height), class_=kind, role="group" if options.get("playable") else "img")
    add(picture, "title", options.get("title") or "Board")
    add(picture, "desc", text.words_of(board))
    if options.get("standalone"):
        add(picture, "style").text = board_css()
    if options.get("standalone") and not options.get("transparent"):
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
        marks.draw_mark(picture, mark, PAD, top, 0.5)
    _draw_line(picture, _turn(board), PAD if mark is None else PAD + CELL / 2 + PAD, top, "bold")


def _draw_line(picture: Element, line: str, x: float, top: float, weight: str = "normal") -> None:
    add(picture, "text", line, class_="line", x=x, y=top + 0.7 * _LINE_HEIGHT, font_size=_TEXT_SIZE,
        font_weight=weight)  # fmt: skip


def _mark_of_turn(board: Board) -> Mark | None:
    """Return a piece of the role whose turn it is, if pieces are named after roles: `x`, or `xplayer`."""
    names = () if board.turn is None else (board.turn, board.turn.lower().removesuffix("player"))
    for pieces in board.layout.pieces:
        for name in names if pieces.source == "state" else ():  # what the rules place is ground, and nobody's to move
            shape, fill = pieces.shapes.get(name, pieces.shape), pieces.fills.get(name) or pieces.colours.get(name)
            if shape and fill:
                return Mark((pieces.symbols or {}).get(name, name[:1]), name, fill, 1, shape, fill)
    return None


MAX_FRAMES: Final = 500
"""The most positions of one animation."""

_CSS: Final = """
@media (prefers-reduced-motion: reduce) {
  .frame-of-film { visibility: hidden !important; }
  .frame-of-film:last-child { visibility: visible !important; }
}
"""
_PAUSE: Final = 3
"""How many times as long the last position stands."""


def animation_of(frames: Sequence[Element], title: str, seconds: float = 1.0) -> str:
    """Return one SVG that shows *frames*, drawings of boards, for so many seconds each, the last one longer.

    Who has asked the system for less motion sees the last one only.
    """
    shown = frames[:MAX_FRAMES]
    width, height = (max((float(frame.get(side, "1")) for frame in shown), default=1) for side in ("width", "height"))
    animation = root(width, height, class_="board", role="img")
    add(animation, "title", title)
    add(animation, "style").text = board_css() + _CSS
    add(animation, "rect", width=width, height=height, class_="sheet", fill="#ffffff")
    whole = len(shown) - 1 + _PAUSE
    for number, frame in enumerate(shown):
        group = add(animation, "g", class_="frame-of-film", visibility="hidden")
        until = whole if number == len(shown) - 1 else number + 1
        _animate(group, number / whole, until / whole, whole * seconds)
        group.append(frame)
    return written(animation)


def _animate(group: Element, start: float, end: float, seconds: float) -> None:
    """Have *group* be seen from *start* to *end*, which are parts of the whole."""
    values, times = ["hidden", "visible"], [0.0, start]
    if start == 0:
        values, times = ["visible"], [0.0]
    if end < 1:
        values, times = [*values, "hidden"], [*times, end]
    add(group, "animate", attributeName="visibility", calcMode="discrete", values=";".join(values),
        keyTimes=";".join(f"{time:.5g}" for time in times), dur=f"{seconds:g}s", repeatCount="indefinite")  # fmt: skip
