"""Fixtures of the unit tests."""

from tests.kit.server.commands.fixtures import ggp

__all__ = ["ggp"]
