"""What all tests of this folder have in common: games are compiled in the process of the tests."""

from tests.kit.gdl.compiler.engines import compiled_in_process

__all__ = ["compiled_in_process"]
