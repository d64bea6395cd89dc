"""What can go wrong with learning, and whose fault it is."""

from __future__ import annotations

import importlib.util
from typing import ClassVar

from gdl.errors import CallerError


class MissingTorchError(CallerError):
    """Learning, and playing what was learned, need PyTorch."""

    template: ClassVar[str] = "this needs PyTorch, which is not installed: pip install 'ggp[learn]'"


class NotLearnableError(CallerError):
    """A game cannot be learned by this self-play."""

    template: ClassVar[str] = "the game cannot be learned: {reason}"
    reason: str


class NetworkFileError(CallerError):
    """A file holds no network that could be used."""

    template: ClassVar[str] = "{path}: {reason}"
    path: str
    reason: str


def check_torch() -> None:
    """Raise MissingTorchError where PyTorch is not installed; it is not loaded, which takes seconds."""
    if importlib.util.find_spec("torch") is None:
        raise MissingTorchError
