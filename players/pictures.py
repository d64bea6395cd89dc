"""How a person is shown what is known of a state: by the layout of the game, in colours where they show."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import click

from gdl.errors import GdlError
from gdl.games.about import About
from gdl.games.boards import board_of
from gdl.games.drawing import text_of
from gdl.games.guessing import layout_of
from gdl.games.library import find_game, game_names
from gdl.rules import Description
from gdl.terms import Term

Picture: TypeAlias = Callable[[Description, frozenset[Term]], str]
"""Draws the facts that somebody knows of a state."""


def picture_of(about: About | None, *, in_colour: bool) -> Picture:
    """Return what draws facts by the layout that *about* gives; without one it is guessed from the rules."""

    def draw(description: Description, facts: frozenset[Term]) -> str:
        board = board_of(layout_of(description, about), description, facts)
        return text_of(board, _painted) if in_colour else text_of(board)

    return draw


def _painted(symbol: str, colour: str | None) -> str:
    return click.style(symbol, fg=colour, bold=True) if colour else symbol


def about_rules(description: Description) -> About | None:
    """Return what the library tells about the game of exactly these rules, None where it has no such game.

    A player over HTTP gets rules without a name.
    """
    for name in game_names():
        file = find_game(name)
        try:
            if file.read().rules == description.rules:
                return file.about()
        except (GdlError, OSError):  # a broken file of the library is no game that we know
            continue
    return None
