"""What goes into a match and what comes out of it: inputs, commands, events, and where a match resumes.

Events, in the order in which they happened, are what records, transcripts and viewers are made of. Every event says
when: `at_ms` is wall-clock time in milliseconds since 1970. A *step* is the number of joint moves made before it, so
the state of step 0 is the initial state, START and the first PLAY belong to step 0, and the joint move of step k leads
to the state of step k + 1. Tuples with one entry per role are in the order of the game's roles, `random` included.

A match emits `Started`, `StateReached` (step 0); then for START, and for every PLAY, the `Sent` and `Answered` of
each player that is asked, `StepFinished`, and after a PLAY `StateReached`; then one of `Completed`, `Aborted`,
`Failed`, the farewells' `Sent` and `Answered`, and last `Closed`. Only `Started`, one of those three, and `Closed`
are sure to come.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeAlias

from gdl.game import JointMove, Role
from gdl.language.rules import Description
from gdl.language.terms import Term
from gdl.wire.insights import Insight
from server.match.position import Position
from server.match.setup import MatchSetup


class Message(StrEnum):
    """The messages of a match; the value is the word on the wire."""

    PREVIEW = "PREVIEW"
    START = "START"
    PLAY = "PLAY"
    STOP = "STOP"
    ABORT = "ABORT"


class MoveOrigin(StrEnum):
    """Where a move of a joint move comes from."""

    PLAYER = "player"
    SUBSTITUTE = "substitute"
    CHANCE = "chance"


@dataclass(frozen=True, slots=True)
class Started:
    """The match has begun; nothing was sent yet."""

    at_ms: int
    setup: MatchSetup
    description: Description
    roles: tuple[Role, ...]


@dataclass(frozen=True, slots=True)
class StateReached:
    """The state of a step is known; `text` has its facts as the public records print them.

    `percepts` holds what each role perceived of the joint move that led here; it is None in GDL-I, where every player
    sees the joint move, and in the initial state. `is_common` is whether every player is certain to know the state,
    as `server.match.position.Position` has it.
    """

    at_ms: int
    step: int
    text: str
    percepts: tuple[tuple[Term, ...], ...] | None
    is_common: bool = False


@dataclass(frozen=True, slots=True)
class Sent:
    """A message went to a player; `text` is the body as it went, in the player's dialect, case and scrambled names."""

    at_ms: int
    step: int
    role: Role
    message: Message
    text: str


@dataclass(frozen=True, slots=True)
class Answered:
    """A player answered, or did not; comes once for every `Sent` unless the match was aborted meanwhile.

    Attributes:
        text: what came, decoded, cut after `MAX_TEXT` characters; empty where nothing came.
        elapsed_ms: from the start of connecting to the end of the answer.
        error: in the words of the public match record: empty when all is well, `TO` time-out, `CE` connection error,
            `IL <term>` illegal. Only answers to PLAY can be illegal.
        detail: the error in one sentence; empty when all is well.
        move: the move that counts, in the game's own names: the player's or its substitute; None but for PLAY.
        failure: what the player says went wrong in its own code; it may have answered a legal move all the same.
        insight: what the player says that it thought when it answered PLAY, its line in the game's own names.
    """

    at_ms: int
    step: int
    role: Role
    message: Message
    text: str
    elapsed_ms: int
    error: str
    detail: str
    move: Term | None
    failure: str = ""
    insight: Insight | None = None

    @property
    def is_substituted(self) -> bool:
        """Whether `move` was chosen in place of the player's."""
        return self.move is not None and self.error != ""


@dataclass(frozen=True, slots=True)
class StepFinished:
    """Every answer to START (`moves` is None) or to PLAY is in.

    Attributes:
        moves: the joint move, in the game's own names.
        errors: as `Answered.error`, empty for `random`.
        details: as `Answered.detail`.
        elapsed_ms: thinking times; None for `random`, which is never asked.
        origins: whose move it is; empty for START.
        failures: as `Answered.failure`; empty where no player tells of one.
        insights: as `Answered.insight`; empty where no player tells.
    """

    at_ms: int
    step: int
    moves: tuple[Term, ...] | None
    errors: tuple[str, ...]
    details: tuple[str, ...]
    elapsed_ms: tuple[int | None, ...]
    origins: tuple[MoveOrigin, ...]
    failures: tuple[str, ...] = ()
    insights: tuple[Insight | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Completed:
    """A terminal state was reached; `goals` holds a value per role, None only for a `random` without one."""

    at_ms: int
    step: int
    goals: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Aborted:
    """The match was aborted by its owner or the server; `reason` is for people."""

    at_ms: int
    step: int
    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The rules could not be evaluated any further, so the match ended: aborted, for the public record.

    `error` is the class name of the error (`LimitExceeded`, `NoLegalMoveError`, ...), `message` its sentence.
    """

    at_ms: int
    step: int
    error: str
    message: str


@dataclass(frozen=True, slots=True)
class Closed:
    """The farewells are answered or overdue: nothing more will happen."""

    at_ms: int


Event: TypeAlias = Started | StateReached | Sent | Answered | StepFinished | Completed | Aborted | Failed | Closed


@dataclass(frozen=True, slots=True)
class ResumeState:
    """A match up to the moment when it broke off.

    Attributes:
        moves: the joint moves that were made, in order.
        n_states: how many states were reported; the one after the last joint move may not have been.
        message: what was asked last, if some answers were not in; STOP or ABORT as soon as the end was decided.
        answers: the answers to `message` that had come, by the name of the role.
        outcome: how it ended, once that was decided.
        was_anything_sent: whether any message was ever sent.
        busy: the names of the roles whose players said to START that they are busy.
    """

    moves: tuple[JointMove, ...] = ()
    n_states: int = 0
    message: Message | None = None
    answers: Mapping[str, Answered] = field(default_factory=dict)
    outcome: Completed | Aborted | Failed | None = None
    was_anything_sent: bool = False
    busy: frozenset[str] = frozenset()


NOT_STARTED: Final = ResumeState()
"""The resume state of a match that begins."""


@dataclass(frozen=True, slots=True)
class AskPlayer:
    """Send `text` to a player, and report an `Answer` after `limit_s` at the latest.

    `question` is the number of the question, by which an answer finds it. `legal_moves` are those of the role, in the
    names that its player knows; nothing but for PLAY. *Units*: seconds from the start of connecting.
    """

    question: int
    role: Role
    step: int
    message: Message
    text: str
    limit_s: float
    legal_moves: Sequence[Term] = ()


@dataclass(frozen=True, slots=True)
class Drop:
    """Wait no longer for the answers to this question."""

    question: int


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
    """How an `AskPlayer` ended.

    `raw` is what came, which may be a part or nothing; `detail` tells what went wrong with the connection, `failure`
    what the player says went wrong in its own code, `insight` what it says that it thinks, not read yet.
    """

    at_ms: int
    question: int
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
