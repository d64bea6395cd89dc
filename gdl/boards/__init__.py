"""Layouts, guessed ones too, and boards as text, words and SVG."""

from gdl.boards.about import MAX_BYTES, About, about_of, read_about
from gdl.boards.boards import Board, board_of
from gdl.boards.grids import Emphasis
from gdl.boards.guessing import layout_of
from gdl.boards.layout import MAX_SIDE
from gdl.boards.moves import arrows, emphasis, places
from gdl.boards.pictures import MAX_FRAMES, Look, animation_of, board_css, drawing, picture, svg_of
from gdl.boards.text import Paint, in_unicode, text_of

__all__ = [
    "MAX_BYTES",
    "MAX_FRAMES",
    "MAX_SIDE",
    "About",
    "Board",
    "Emphasis",
    "Look",
    "Paint",
    "about_of",
    "animation_of",
    "arrows",
    "board_css",
    "board_of",
    "drawing",
    "emphasis",
    "in_unicode",
    "layout_of",
    "picture",
    "places",
    "read_about",
    "svg_of",
    "text_of",
]
