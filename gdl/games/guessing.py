"""A layout for a game that comes without one, guessed from its rules."""

from __future__ import annotations

from collections.abc import Iterable

from gdl.games.layout import Layout
from gdl.rules import Description
from gdl.terms import Term


def layout_for(description: Description, facts: Iterable[Term]) -> Layout:  # noqa: ARG001
    """Return a layout that suits the facts of *description*."""
    return Layout()
