"""The protocol between a player server and its worker processes: instructions and reports, as lines of JSON."""

import json
from dataclasses import asdict, dataclass
from typing import Any, Final, TypeAlias

MAX_LINE_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Join:
    """A match begins; with `thinks` False nothing of the player's own code is run.

    `follow_s` limits the search for the states that agree with a step. *Units*: seconds; moments are those of the
    monotonic clock, which all processes of a machine share.
    """

    rules: str
    role: str
    seed: int
    deadline_s: float
    interrupt_s: float
    follow_s: float
    thinks: bool = True


@dataclass(frozen=True, slots=True)
class Follow:
    """A step was made: the own move if it is known, and the percepts; in GDL-I these are the joint move."""

    own_move: str | None
    percepts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ask:
    """Find a move in the state as it is now. *Units*: as in `Join`."""

    step: int
    deadline_s: float
    interrupt_s: float
    thinks: bool = True


@dataclass(frozen=True, slots=True)
class Leave:
    """The match is over; `is_abort` says whether it was given up."""

    is_abort: bool


@dataclass(frozen=True, slots=True)
class Confirm:
    """Report that all instructions before this one are carried out."""


@dataclass(frozen=True, slots=True)
class Joined:
    """The rules are understood; `roles` are those of the game, in order."""

    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ready:
    """The player has done its preparations."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The rules cannot be played."""

    why: str


@dataclass(frozen=True, slots=True)
class Best:
    """The best move so far, at first merely a legal one."""

    step: int
    move: str


@dataclass(frozen=True, slots=True)
class Done:
    """The move that the player chose; None if it has no legal one."""

    step: int
    move: str | None


@dataclass(frozen=True, slots=True)
class Thought:
    """What the player thinks after its search for a move, as `gdl.wire.insights` writes it."""

    step: int
    text: str


@dataclass(frozen=True, slots=True)
class Confirmed:
    """All instructions before `Confirm` are carried out."""


@dataclass(frozen=True, slots=True)
class PlayerFailed:
    """The author's code failed, or returned what is no legal move: what went wrong, on one line."""

    what: str


Instruction: TypeAlias = Join | Follow | Ask | Leave | Confirm
Report: TypeAlias = Joined | Ready | Refused | Best | Done | Thought | Confirmed | PlayerFailed

_INSTRUCTIONS: Final = {kind.__name__: kind for kind in (Join, Follow, Ask, Leave, Confirm)}
_REPORTS: Final = {
    kind.__name__: kind for kind in (Joined, Ready, Refused, Best, Done, Thought, Confirmed, PlayerFailed)
}


def to_line(said: Instruction | Report) -> bytes:
    """Return *said* as one line of JSON."""
    return json.dumps([type(said).__name__, asdict(said)]).encode() + b"\n"


def read_instruction(line: bytes) -> Instruction:
    """Return the instruction that *line* holds."""
    name, fields = json.loads(line)
    return _INSTRUCTIONS[name](**_with_tuples(fields))


def read_report(line: bytes) -> Report:
    """Return the report that *line* holds."""
    name, fields = json.loads(line)
    return _REPORTS[name](**_with_tuples(fields))


def _with_tuples(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()}
