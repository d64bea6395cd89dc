"""The contact sheet of a folder: every rule file with the picture of its first position, or why there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from gdl.boards import board_of, layout_of, svg_of
from gdl.boards.sheets import SheetEntry, kind_of
from gdl.errors import GdlError
from gdl.game import EvaluationLimits
from gdl.games.library import find_game
from gdl.interpreter import InterpretedGame
from server.terminal.progress import progress

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
