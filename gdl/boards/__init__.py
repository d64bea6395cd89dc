"""Layouts, guessed ones too, and boards as text, words and SVG."""

from gdl.boards.boards import Board, board_of
from gdl.boards.field_types import MAX_SIDE
from gdl.boards.grids import Emphasis
from gdl.boards.guessing import layout_of
from gdl.boards.metadata import MAX_BYTES, GameMetadata, metadata_of, read_metadata
from gdl.boards.moves import arrows, emphasis, places
from gdl.boards.pictures import MAX_FRAMES, PictureOptions, animation_of, board_css, drawing, picture, svg_of
from gdl.boards.text import Paint, in_unicode, text_of

__all__ = [
    "MAX_BYTES",
    "MAX_FRAMES",
    "MAX_SIDE",
    "Board",
    "Emphasis",
    "GameMetadata",
    "Paint",
    "PictureOptions",
    "animation_of",
    "arrows",
    "board_css",
    "board_of",
    "drawing",
    "emphasis",
    "in_unicode",
    "layout_of",
    "metadata_of",
    "picture",
    "places",
    "read_metadata",
    "svg_of",
    "text_of",
]
