"""Boards as files: SVG, and with the extra `pictures` PNG and animations; and the contact sheet of a folder."""

from __future__ import annotations

import io
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gdl.boards import (
    MAX_FRAMES,
    Board,
    GameMetadata,
    PictureOptions,
    animation_of,
    arrows,
    board_of,
    drawing,
    emphasis,
    layout_of,
    svg_of,
)
from gdl.boards.layout import Layout
from gdl.boards.pictures import board_css
from gdl.boards.svg import clean
from gdl.errors import GdlError
from gdl.extras import extra_module
from gdl.files import writing
from gdl.game import EvaluationLimits
from gdl.games.library import find_game
from gdl.interpreter import InterpretedGame
from gdl.language.rules import RULES_SUFFIX, Description
from gdl.language.terms import Term
from gdl.quantities import quantity
from server.terminal.progress import progress

if TYPE_CHECKING:
    from PIL.Image import Image

THEMES: Final = ("light", "dark")
MAX_PIXELS: Final = 4_000
"""The most pixels that a picture is wide or high."""
MAX_ANIMATION_PIXELS: Final = 100_000_000
"""The most pixels of all pictures of an animation together."""
ANIMATION_FORMATS: Final = (".svg", ".gif", ".webp")
"""The endings of the names of animations, by their format."""
_SHOWN_MS: Final = 1_000
_LAST_MS: Final = 3_000
"""How long the last picture of an animation stands; the others stand for _SHOWN_MS."""
_SIZE: Final = re.compile(r'<svg\b[^>]*?\swidth="([\d.]+)"[^>]*?\sheight="([\d.]+)"')
_ROOT: Final = re.compile(r"svg\.board((?:\.[\w-]+)*) \{([^}]*)\}")
_PROPERTY: Final = re.compile(r"(--[\w-]+):\s*([^;]+);")
_VARIABLE: Final = re.compile(r"var\((--[\w-]+)(?:,\s*([^()]+))?\)")
_SCHEMES: Final = re.compile(r"var\(--in-light, ([^()]+)\) var\(--in-dark, ([^()]+)\)")
_DARK: Final = re.compile(r"@media \(prefers-color-scheme: dark\) \{[^{}]*\{[^{}]*\}\s*\}\n?")
_ANY_OF: Final = re.compile(r"([^{},>]*):is\(([^()]*)\)([^{},>\s]*)")


def plain_style(svg: str, theme: str) -> str:
    """Return *svg* with the style that renderers of SVG 1.1 know: no properties of its own, one of the two themes.

    Example:
        >>> plain_style("svg.board { --a: var(--in-light, #fff) var(--in-dark, #000); } a { fill: var(--a); }", "dark")
        'svg.board { --a: #000; } a { fill: #000; }'
    """
    chosen = _SCHEMES.sub(lambda pair: pair[1 + THEMES.index(theme)], _DARK.sub("", svg))
    found = re.search(r'class="([^"]*)"', chosen)
    classes = set(found[1].split()) if found else set[str]()
    properties: dict[str, str] = {}
    for rule in _ROOT.finditer(chosen):
        if set(rule[1].split(".")[1:]) <= classes:
            properties.update(_PROPERTY.findall(rule[2]))
    resolved = _VARIABLE.sub(lambda used: properties.get(used[1], used[2] or "none"), chosen)
    return _ANY_OF.sub(_listed, resolved)


def _listed(selector: re.Match[str]) -> str:
    """Return a selector with `:is(...)` as several without."""
    return ",".join(f"{selector[1]}{one.strip()}{selector[3]}" for one in selector[2].split(","))


def png_of(svg: str, theme: str = "light", max_pixels: int = MAX_PIXELS) -> bytes:
    """Return *svg*, a picture that stands alone, as PNG; one that is larger is made as small as *max_pixels* say.

    *Units*: pixels, of the longer side.

    Raises:
        MissingExtraError: the extra `pictures` is not installed.
    """
    resvg = extra_module("resvg_py", "pictures", "a picture of pixels")
    most = min(max_pixels, MAX_PIXELS)
    box = {"width": most, "height": most} if max(_size(svg)) > most else {}
    pixels: bytes = resvg.svg_to_bytes(
        svg_string=plain_style(svg, theme), font_family="DejaVu Sans", sans_serif_family="DejaVu Sans", **box
    )
    return bytes(pixels)


def _size(svg: str) -> tuple[float, float]:
    """Return how many pixels *svg* is wide and high, as it says itself."""
    found = _SIZE.match(svg)
    return (float(found[1]), float(found[2])) if found else (math.inf, math.inf)


def write_animation(svgs: Sequence[str], output: Path) -> None:
    """Write *svgs* as one animation, GIF or WebP by the name of *output*, the last one for longer.

    All of them together have a bounded number of pixels, since encoders keep them in memory: many are made smaller.

    Raises:
        MissingExtraError: the extra `pictures` is not installed.
        OSError: the file cannot be written.
    """
    images = extra_module("PIL.Image", "pictures", "a moving picture")
    side = math.isqrt(MAX_ANIMATION_PIXELS // max(1, len(svgs)))
    sizes = [_fitted(_size(svg), side) for svg in svgs]
    size = max(width for width, _ in sizes), max(height for _, height in sizes)
    drawn = (_on_sheet(images, images.open(io.BytesIO(png_of(svg, max_pixels=side))), size) for svg in svgs)
    durations = [_SHOWN_MS] * (len(svgs) - 1) + [_LAST_MS]
    with writing(output) as file:  # which is not called as its format is
        kind = output.suffix.removeprefix(".")
        next(drawn).save(file, kind, save_all=True, append_images=drawn, duration=durations, loop=0)


def _fitted(size: tuple[float, float], most: int) -> tuple[int, int]:
    """Return *size* in whole pixels, made so small that the longer side has *most*."""
    scale = min(1.0, most / max(size))
    width, height = (min(most, math.ceil(scale * side)) for side in size)
    return width, height


def _on_sheet(images: Any, image: Image, size: tuple[int, int]) -> Image:
    sheet: Image = images.new("RGB", size, "white")
    sheet.paste(image.convert("RGB"))
    return sheet


class Pictures:
    """Draws the steps of a match one after the other, each with the last move marked."""

    def __init__(self, description: Description, metadata: GameMetadata | None) -> None:
        self._description = description
        self._layout = layout_of(description, metadata)
        self.title = metadata.title if metadata else "Board"
        self._before: Board | None = None
        self._moves: tuple[Term, ...] = ()

    def drawn(self, step: int, facts: Iterable[Term], moves: tuple[Term, ...] | None) -> tuple[Board, PictureOptions]:
        """Return the state of *step* and how it looks; *moves* are those made in it, which the next picture marks."""
        board = board_of(self._layout, self._description, facts)
        options: PictureOptions = {
            "title": f"{self.title}, step {step}",
            "highlighted": emphasis(self._moves, board, self._before),
            "arrows": arrows(self._moves, board),
        }
        self._before, self._moves = board, moves or ()
        return board, options


class PictureFolder:
    """Writes pictures `000.svg`, `001.svg` ... into *folder*, which it makes.

    *Raises*: OSError, where the folder or a file cannot be written.
    """

    def __init__(self, folder: Path, description: Description, metadata: GameMetadata | None) -> None:
        self._folder, self._pictures = folder, Pictures(description, metadata)
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, step: int, facts: Iterable[Term], moves: tuple[Term, ...] | None) -> None:
        """Write the state of *step*; *moves* are those made in it, which the next picture marks.

        Raises:
            OSError: as the class.
        """
        board, options = self._pictures.drawn(step, facts, moves)
        options["standalone"] = True
        path = self._folder / f"{step:03}.svg"
        with writing(path, is_durable=False) as file:
            file.write_text(f"{svg_of(board, **options)}\n", encoding="utf-8")


class Animation:
    """Draws the steps of a match as one animation; more than a bounded number of them is left out."""

    def __init__(self, description: Description, metadata: GameMetadata | None) -> None:
        self._pictures = Pictures(description, metadata)
        self._frames: list[tuple[Board, PictureOptions]] = []

    def add(self, step: int, facts: Iterable[Term], moves: tuple[Term, ...] | None) -> None:
        """Add the state of *step*; *moves* are those made in it, which the next frame marks."""
        board, options = self._pictures.drawn(step, facts, moves)
        if len(self._frames) < MAX_FRAMES:
            self._frames.append((board, options))

    def write(self, output: Path) -> None:
        """Write the animation, in the format that the name of *output* ends with; without a step there is none.

        Raises:
            OSError: the file cannot be written.
            MissingExtraError: it is GIF or WebP, and the extra `pictures` is not installed.
        """
        if not self._frames:
            return
        if output.suffix == ".svg":
            frames = [drawing(board, **options) for board, options in self._frames]
            with writing(output) as file:
                file.write_text(f"{animation_of(frames, self._pictures.title)}\n", encoding="utf-8")
            return
        for _, options in self._frames:
            options["standalone"] = True
        write_animation([svg_of(board, **options) for board, options in self._frames], output)


_CSS: Final = """
body { color-scheme: light dark; margin: 2rem; font-family: system-ui, sans-serif;
  background: light-dark(#ffffff, #15181c); color: light-dark(#2b2f36, #e4e7eb); }
ul { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: 1.5rem;
  padding: 0; list-style: none; }
figure { margin: 0; } figcaption { overflow-wrap: anywhere; font-weight: 600; margin-bottom: 0.4rem; }
figure svg { width: 100%; height: auto; max-height: 16rem; }
.kind { font-weight: normal; color: light-dark(#6a6f78, #9aa3ae); } p.reason { font-style: italic; }
"""


@dataclass(frozen=True, slots=True)
class SheetEntry:
    """A game on the sheet: its name, the kind of its board, and its picture or the reason why it has none."""

    name: str
    kind: str
    picture: str | None
    reason: str = ""


def kind_of(layout: Layout) -> str:
    """Return which kind of board *layout* has, in a word or a few."""
    if layout.kind != "grid":
        return {"heaps": "heaps", "stacks": "stacks"}.get(layout.kind, "trays" if layout.trays else "facts")
    if layout.cells != "squares":
        return "lines between points" if layout.lines and layout.cells == "points" else layout.cells.replace("-", " ")
    is_several = any(" " in name for name in (*(layout.columns or ()), *(layout.rows or ())))
    if is_several:
        return "several boards"
    return "one row" if len(layout.rows or ()) == 1 else "checkered" if layout.checkered else "squares"


def summary(frames: Iterable[SheetEntry]) -> str:
    """Return how many games have which kind of board: `208 games: squares 120, facts 40`."""
    kinds = Counter(frame.kind for frame in frames)
    parts = (f"{kind} {n}" for kind, n in sorted(kinds.items(), key=lambda pair: (-pair[1], pair[0])))
    n_games = kinds.total()
    return f"{quantity(n_games, 'game')}: {', '.join(parts)}" if n_games else "no games"


def sheet_of(frames: Sequence[SheetEntry]) -> str:
    """Return the page, complete; pictures must be those of `svg_of`, which are safe."""
    items = "\n".join(_item(frame) for frame in frames)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Boards</title>'
        f"<style>{_CSS}{board_css()}</style></head>\n<body><h1>Boards</h1>\n<p>{escape(summary(frames))}.</p>\n"
        f"<ul>\n{items}\n</ul>\n</body></html>\n"
    )


def _item(frame: SheetEntry) -> str:
    caption = f'{escape(clean(frame.name))} <span class="kind">{escape(frame.kind)}</span>'
    shown = frame.picture or f'<p class="reason">{escape(clean(frame.reason))}</p>'
    return f"<li><figure><figcaption>{caption}</figcaption>{shown}</figure></li>"


_LIMITS: Final = EvaluationLimits(max_rows=1_000_000, max_seconds=10.0)
_MAX_FILES: Final = 5_000
_FEW: Final = 4
"""With more captions than that only the board is drawn."""


def frames_of(folder: Path) -> list[SheetEntry]:
    """Return every rule file in *folder* and its folders as a frame, ordered by name."""
    paths = sorted(folder.rglob(f"*{RULES_SUFFIX}"))[:_MAX_FILES]
    found = []
    with progress(f"drawing {folder}", len(paths)) as advance:
        for path in paths:
            found.append(_frame(path))
            advance()
    return found


def _frame(path: Path) -> SheetEntry:
    try:
        file = find_game(path)
        description, metadata = file.read(), file.metadata()
        layout = layout_of(description, metadata)
        facts = InterpretedGame(description, _LIMITS).initial_state.facts
    except (GdlError, OSError) as error:
        return SheetEntry(path.stem, "none", None, str(error))
    board = board_of(layout, description, facts)
    is_short = len(board.lines) <= _FEW or not board.has_picture
    svg = svg_of(board, title=metadata.title if metadata else path.stem, captions=is_short)
    return SheetEntry(path.stem, kind_of(layout), svg)
