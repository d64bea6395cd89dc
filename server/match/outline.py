"""What a match knows of a game without asking an engine."""

from __future__ import annotations

from typing import Protocol

from gdl.game import Role
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
