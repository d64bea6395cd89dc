"""The states of a match as picture files, one for each step, the last moves marked."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gdl.games.about import About
from gdl.games.boards import Board, board_of
from gdl.games.guessing import layout_of
from gdl.games.pictures import svg_of
from gdl.games.places import emphasis
from gdl.rules import Description
from gdl.terms import Term


class Gallery:
    """Writes pictures `000.svg`, `001.svg` ... into *folder*, which it makes.

    *Raises*: OSError, where the folder or a file cannot be written.
    """

    def __init__(self, folder: Path, description: Description, about: About | None) -> None:
        self._folder, self._description = folder, description
        self._layout = layout_of(description, about)
        self._title = about.title if about else "Board"
        self._before: Board | None = None
        self._moves: tuple[Term, ...] = ()
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, step: int, facts: Iterable[Term], moves: tuple[Term, ...] | None) -> None:
        """Write the state of *step*; *moves* are those made in it, which the next picture marks.

        Raises:
            OSError: as the class.
        """
        board = board_of(self._layout, self._description, facts)
        marked = emphasis(self._moves, board, self._before)
        svg = svg_of(board, title=f"{self._title}, step {step}", standalone=True, highlighted=marked)
        (self._folder / f"{step:03}.svg").write_text(f"{svg}\n", encoding="utf-8")
        self._before, self._moves = board, moves or ()
