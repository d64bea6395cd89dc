"""The colours of pictures: the sixteen names of a layout, and the style sheet that says how they look."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

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
