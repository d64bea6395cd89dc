"""The phases of a match, and what takes it from one to the next: its state machine as a table."""

from enum import IntEnum, auto
from typing import Final


class MatchPhase(IntEnum):
    """What a match is doing."""

    NEW = auto()
    OPENING = auto()
    """The initial state is being worked out; no message was sent yet."""
    PREVIEWING = auto()
    STARTING = auto()
    PLAYING = auto()
    EVALUATING = auto()
    """All moves are in, and the next state is being worked out."""
    STOPPING = auto()
    ABORTING = auto()
    CLOSED = auto()


class Trigger(IntEnum):
    """What makes a match go on."""

    BEGIN = auto()
    PREVIEW = auto()
    """The initial state is known, and the players shall see the rules first."""
    GO_ON = auto()
    """A state is known or all answers are in, and the play goes on."""
    OVER = auto()
    """As `GO_ON`, but the state is terminal."""
    ABORT = auto()
    """The match is aborted, or the rules cannot be evaluated."""


TABLE: Final = {
    (MatchPhase.NEW, Trigger.BEGIN): MatchPhase.OPENING,
    (MatchPhase.OPENING, Trigger.PREVIEW): MatchPhase.PREVIEWING,
    (MatchPhase.OPENING, Trigger.GO_ON): MatchPhase.STARTING,
    (MatchPhase.PREVIEWING, Trigger.GO_ON): MatchPhase.STARTING,
    (MatchPhase.STARTING, Trigger.GO_ON): MatchPhase.PLAYING,
    (MatchPhase.STARTING, Trigger.OVER): MatchPhase.STOPPING,
    (MatchPhase.PLAYING, Trigger.GO_ON): MatchPhase.EVALUATING,
    (MatchPhase.EVALUATING, Trigger.GO_ON): MatchPhase.PLAYING,
    (MatchPhase.EVALUATING, Trigger.OVER): MatchPhase.STOPPING,
    (MatchPhase.STOPPING, Trigger.GO_ON): MatchPhase.CLOSED,
    (MatchPhase.ABORTING, Trigger.GO_ON): MatchPhase.CLOSED,
    # A player that was sent nothing needs no farewell.
    (MatchPhase.OPENING, Trigger.ABORT): MatchPhase.CLOSED,
    (MatchPhase.PREVIEWING, Trigger.ABORT): MatchPhase.ABORTING,
    (MatchPhase.STARTING, Trigger.ABORT): MatchPhase.ABORTING,
    (MatchPhase.PLAYING, Trigger.ABORT): MatchPhase.ABORTING,
    (MatchPhase.EVALUATING, Trigger.ABORT): MatchPhase.ABORTING,
}
