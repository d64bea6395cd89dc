"""What goes into a match and what comes out of it: inputs, commands, phases, and where a broken-off match resumes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum, auto
from typing import Final, TypeAlias

from gdl.game import JointMove, Role
from gdl.language.terms import Term
from server.match.events import Aborted, Answered, Completed, Event, Failed, Message
from server.match.position import Position


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


@dataclass(frozen=True, slots=True)
class ResumeState:
    """A match up to the moment when it broke off.

    Attributes:
        moves: the joint moves that were made, in order.
        n_states: how many states were reported; the one after the last joint move may not have been.
        message: what was asked last, if its round was not finished; STOP or ABORT as soon as the end was decided.
        answers: the answers to `message` that had come, by the name of the role.
        outcome: how it ended, once that was decided.
        was_anything_sent: whether any message was ever sent.
    """

    moves: tuple[JointMove, ...] = ()
    n_states: int = 0
    message: Message | None = None
    answers: Mapping[str, Answered] = field(default_factory=dict)
    outcome: Completed | Aborted | Failed | None = None
    was_anything_sent: bool = False


NOT_STARTED: Final = ResumeState()
"""The resume state of a match that begins."""


@dataclass(frozen=True, slots=True)
class AskPlayer:
    """Send `text` to a player, and report an `Answer` after `limit_s` at the latest.

    `round` names the question, so that an answer finds it. `legal_moves` are those of the role, in the names that its
    player knows; nothing but for PLAY. *Units*: seconds from the start of connecting.
    """

    round: int
    role: Role
    step: int
    message: Message
    text: str
    limit_s: float
    legal_moves: Sequence[Term] = ()


@dataclass(frozen=True, slots=True)
class Drop:
    """Wait no longer for the answers of this round."""

    round: int


@dataclass(frozen=True, slots=True)
class Evaluate:
    """Work out the initial state (`position` is None), or the state after the joint move `moves`; it may take long."""

    position: Position | None
    moves: tuple[Term, ...]


Command: TypeAlias = AskPlayer | Drop | Evaluate
Output: TypeAlias = Command | Event


@dataclass(frozen=True, slots=True)
class Begin:
    """Let the match begin."""

    at_ms: int


@dataclass(frozen=True, slots=True)
class Resume:
    """Let the match go on where it broke off; only players that had not answered are asked again."""

    at_ms: int
    resume_state: ResumeState


class ReplyEnding(StrEnum):
    """How the wait for a reply ended."""

    REPLIED = "replied"
    TIMED_OUT = "timed out"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Answer:
    """How an `Ask` ended.

    `raw` is what came, which may be a part or nothing; `detail` tells what went wrong with the connection, `failure`
    what the player says went wrong in its own code, `insight` what it says that it thinks, not read yet.
    """

    at_ms: int
    round: int
    role: Role
    ending: ReplyEnding
    raw: bytes
    elapsed_ms: int
    detail: str = ""
    failure: str = ""
    insight: str = ""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """How an `Evaluate` ended, when all went well."""

    at_ms: int
    position: Position


@dataclass(frozen=True, slots=True)
class EvaluationFailed:
    """How an `Evaluate` ended, when the rules or a limit prevented it."""

    at_ms: int
    error: Exception


@dataclass(frozen=True, slots=True)
class AbortRequest:
    """Let the match end now; `reason` is for people."""

    at_ms: int
    reason: str


Input: TypeAlias = Begin | Resume | Answer | Evaluated | EvaluationFailed | AbortRequest
