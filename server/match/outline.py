"""What a match knows of a game without asking an engine."""

from __future__ import annotations

from typing import Protocol

from gdl.game import RANDOM, Role
from gdl.rules import Description


class Outline(Protocol):
    """The rules, their roles, and what kind they are; every `gdl.game.Game` is one."""

    @property
    def description(self) -> Description:
        """The rules."""

    @property
    def roles(self) -> tuple[Role, ...]:
        """The roles, in the order of the file, `random` included."""

    @property
    def has_imperfect_information(self) -> bool:
        """Whether the rules are GDL-II."""


def played_roles(game: Outline) -> tuple[Role, ...]:
    """Return the roles that somebody must play: all but the `random` of GDL-II."""
    return tuple(role for role in game.roles if not (role is RANDOM and game.has_imperfect_information))
