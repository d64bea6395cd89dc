"""The contact sheet of a folder: every rule file with its first position, and how many have which kind of board."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final

from gdl.boards import board_of, layout_of, svg_of
from gdl.boards.layout import Layout
from gdl.boards.pictures import board_css
from gdl.boards.svg import clean
from gdl.errors import GdlError
from gdl.game import EvaluationLimits
from gdl.games.library import find_game
from gdl.interpreter import InterpretedGame
from server.terminal.progress import progress

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
    return f"{n_games} {'game' if n_games == 1 else 'games'}: {', '.join(parts)}" if n_games else "no games"


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
    paths = sorted(folder.rglob("*.kif"))[:_MAX_FILES]
    found = []
    with progress(f"drawing {folder}", len(paths)) as advance:
        for path in paths:
            found.append(_frame(path))
            advance()
    return found


def _frame(path: Path) -> SheetEntry:
    try:
        file = find_game(str(path))
        description, about = file.read(), file.about()
        layout = layout_of(description, about)
        facts = InterpretedGame(description, _LIMITS).initial_state.facts
    except (GdlError, OSError) as error:
        return SheetEntry(path.stem, "none", None, str(error))
    board = board_of(layout, description, facts)
    is_short = len(board.lines) <= _FEW or not board.has_picture
    svg = svg_of(board, title=about.title if about else path.stem, captions=is_short)
    return SheetEntry(path.stem, kind_of(layout), svg)
