"""What a service and its worker say to each other: orders down, reports up, one JSON line each."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Final, TypeAlias

MAX_LINE_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Join:
    """Sit down at a match; with `thinks` False nothing of the player's own code is run.

    `follow_s` is how long the states that fit a step may be looked for. *Units*: seconds; moments are those of the
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
    """A step was made: the own move if it is known, and what was told (see `gdl.messages.Play`)."""

    own_move: str | None
    told: tuple[str, ...]


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


Order: TypeAlias = Join | Follow | Ask | Leave
Report: TypeAlias = Joined | Ready | Refused | Best | Done

_ORDERS: Final = {kind.__name__: kind for kind in (Join, Follow, Ask, Leave)}
_REPORTS: Final = {kind.__name__: kind for kind in (Joined, Ready, Refused, Best, Done)}


def to_line(said: Order | Report) -> bytes:
    """Return *said* as one line of JSON."""
    return json.dumps([type(said).__name__, asdict(said)]).encode() + b"\n"


def read_order(line: bytes) -> Order:
    """Return the order that *line* holds."""
    name, fields = json.loads(line)
    return _ORDERS[name](**_with_tuples(fields))


def read_report(line: bytes) -> Report:
    """Return the report that *line* holds."""
    name, fields = json.loads(line)
    return _REPORTS[name](**_with_tuples(fields))


def _with_tuples(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()}
