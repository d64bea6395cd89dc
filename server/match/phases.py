"""The states of a match and what leads from one to the next: the whole state machine is this table.

A trigger that the table does not list for a phase comes too late to matter, and changes nothing.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Final


class Phase(Enum):
    """What a match is doing."""

    NEW = auto()
    OPENING = auto()
    """The initial state is being worked out; nobody was told anything yet."""
    PREVIEWING = auto()
    STARTING = auto()
    PLAYING = auto()
    EVALUATING = auto()
    """All moves are in, and the next state is being worked out."""
    STOPPING = auto()
    ABORTING = auto()
    CLOSED = auto()


class Trigger(Enum):
    """What makes a match go on."""

    BEGIN = auto()
    PREVIEW = auto()
    """The initial state is known, and the players shall see the rules first."""
    GO_ON = auto()
    """A state is known or all answers are in, and the play goes on."""
    OVER = auto()
    """As `GO_ON`, but the state is terminal."""
    ABORT = auto()
    """Somebody aborts the match, or the rules cannot be evaluated."""


TABLE: Final = {
    (Phase.NEW, Trigger.BEGIN): Phase.OPENING,
    (Phase.OPENING, Trigger.PREVIEW): Phase.PREVIEWING,
    (Phase.OPENING, Trigger.GO_ON): Phase.STARTING,
    (Phase.PREVIEWING, Trigger.GO_ON): Phase.STARTING,
    (Phase.STARTING, Trigger.GO_ON): Phase.PLAYING,
    (Phase.STARTING, Trigger.OVER): Phase.STOPPING,
    (Phase.PLAYING, Trigger.GO_ON): Phase.EVALUATING,
    (Phase.EVALUATING, Trigger.GO_ON): Phase.PLAYING,
    (Phase.EVALUATING, Trigger.OVER): Phase.STOPPING,
    (Phase.STOPPING, Trigger.GO_ON): Phase.CLOSED,
    (Phase.ABORTING, Trigger.GO_ON): Phase.CLOSED,
    # Who was told nothing needs no farewell.
    (Phase.OPENING, Trigger.ABORT): Phase.CLOSED,
    (Phase.PREVIEWING, Trigger.ABORT): Phase.ABORTING,
    (Phase.STARTING, Trigger.ABORT): Phase.ABORTING,
    (Phase.PLAYING, Trigger.ABORT): Phase.ABORTING,
    (Phase.EVALUATING, Trigger.ABORT): Phase.ABORTING,
}
