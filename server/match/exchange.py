"""What goes into a match and what comes out of it, apart from its events: commands to carry out, and how they ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from gdl.game import Role
from gdl.terms import Term
from server.match.events import Event, Message
from server.match.past import Past
from server.match.position import Position


@dataclass(frozen=True, slots=True)
class Ask:
    """Send `text` to a player, and report an `Answer` after `limit_s` at the latest.

    `round` names the question, so that an answer finds it. *Units*: seconds from the start of connecting.
    """

    round: int
    role: Role
    step: int
    message: Message
    text: str
    limit_s: float


@dataclass(frozen=True, slots=True)
class Drop:
    """Nobody waits for the answers of this round any more."""

    round: int


@dataclass(frozen=True, slots=True)
class Evaluate:
    """Work out the initial state (`position` is None), or the state after the joint move `moves`; it may take long."""

    position: Position | None
    moves: tuple[Term, ...]


Command: TypeAlias = Ask | Drop | Evaluate
Output: TypeAlias = Command | Event


@dataclass(frozen=True, slots=True)
class Begin:
    """Let the match begin."""

    at_ms: int


@dataclass(frozen=True, slots=True)
class Resume:
    """Let the match go on where it broke off; nobody is asked again who had answered."""

    at_ms: int
    past: Past


class Ending(Enum):
    """How the wait for a reply ended."""

    REPLIED = "replied"
    TIMED_OUT = "timed out"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Answer:
    """How an `Ask` ended.

    `raw` is what came, which may be a part or nothing; `detail` tells what went wrong with the connection.
    """

    at_ms: int
    round: int
    role: Role
    ending: Ending
    raw: bytes
    elapsed_ms: int
    detail: str = ""


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
