"""Outlines of games: what a match knows of one without asking an engine.

A child process that reads rules from outside loads this module, and nothing of the server beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

from gdl.game import Role
from gdl.interpreter import InterpretedGame
from gdl.language.rules import Description, read_rules


@dataclass(frozen=True, slots=True)
class GameOutline:
    """What a match knows of a game without asking an engine."""

    description: Description
    roles: tuple[Role, ...]
    has_imperfect_information: bool


def read_outline(rules: str, name: str) -> GameOutline:
    """Return the outline of *rules*; raises RuleFileError where they cannot be played."""
    return outline_here(read_rules(rules, name))


def outline_here(description: Description) -> GameOutline:
    """Return the outline of *description*, worked out in this process; raises RuleFileError as `read_outline`."""
    game = InterpretedGame(description)
    return GameOutline(game.description, game.roles, game.has_imperfect_information)
