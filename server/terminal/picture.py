"""A state as text for people: the board by the layout of the game, or by a guessed one; else its facts, one a line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TypeAlias

from rich.errors import StyleSyntaxError
from rich.style import Style

from gdl.games.boards import board_of
from gdl.games.drawing import Paint, text_of
from gdl.games.guessing import layout_of
from gdl.games.library import GameFile, find_game, game_names
from gdl.rules import Description
from gdl.terms import Term

Draw: TypeAlias = Callable[[Iterable[Term]], str]


def coloured(symbol: str, colour: str | None) -> str:
    """Return *symbol* in *colour*, a name that rich knows; a Paint for terminals."""
    try:
        return symbol if colour is None else Style.parse(colour).render(symbol)
    except StyleSyntaxError:
        return symbol


def plain(symbol: str, colour: str | None) -> str:  # noqa: ARG001 -- a Paint that paints nothing
    """Return *symbol* as it is; the Paint for everything but terminals."""
    return symbol


def is_screen() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout.isatty()


def screen_paint() -> Paint:
    """Return the Paint for standard output: colours on a terminal only."""
    return coloured if is_screen() else plain


def drawer(description: Description, game: GameFile | None, paint: Paint = plain) -> Draw:
    """Return what draws the states of the game; *game* is where its layout may be found, else one is guessed.

    Raises:
        OSError: as `GameFile.about`.
        AboutFileError: as `GameFile.about`.
    """
    layout = layout_of(description, game.about() if game is not None else None)

    def draw(facts: Iterable[Term]) -> str:
        known = tuple(facts)
        return text_of(board_of(layout, description, known), paint) or facts_text(known)

    return draw


def facts_text(facts: Iterable[Term]) -> str:
    """Return the facts, one a line, ordered by text."""
    return "\n".join(sorted(map(str, facts)))


def same_game(name: str, description: Description) -> GameFile | None:
    """Return the library's game of that name if its rules are *description*'s to the letter."""
    if name not in game_names():
        return None
    found = find_game(name)
    return found if found.read().sha256 == description.sha256 else None
