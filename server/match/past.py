"""What had happened in a match that broke off: enough to go on where it was, told by the events that were kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from gdl.game import JointMove
from server.match.events import Aborted, Answered, Completed, Failed, Message


@dataclass(frozen=True, slots=True)
class Past:
    """A match up to the moment when it broke off.

    Attributes:
        moves: the joint moves that were made, in order.
        n_states: how many states were told; the one after the last joint move may not have been.
        message: what was asked last, if its round was not finished; STOP or ABORT as soon as the end was decided.
        answers: the answers to `message` that had come, by the name of the role.
        outcome: how it ended, once that was decided.
        was_anybody_told: whether anything was ever sent.
    """

    moves: tuple[JointMove, ...] = ()
    n_states: int = 0
    message: Message | None = None
    answers: Mapping[str, Answered] = field(default_factory=dict)
    outcome: Completed | Aborted | Failed | None = None
    was_anybody_told: bool = False


NOTHING: Final = Past()
"""The past of a match that begins."""
