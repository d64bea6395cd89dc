"""Fixtures of the unit tests."""

from tests.kit.players.fixtures import remembered
from tests.kit.server.commands.fixtures import ggp

__all__ = ["ggp", "remembered"]
