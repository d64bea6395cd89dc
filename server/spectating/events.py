"""Public events: what every viewer may know of the entries of a journal, and their JSON in feeds.

What is withheld is None, and has no key in the JSON.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from gdl.wire.insights import Insight
from server.match.exchange import Message, MoveOrigin
from server.records.codec import insights_json

Words: TypeAlias = tuple[str, ...]
Origins: TypeAlias = tuple[MoveOrigin, ...]


@dataclass(frozen=True, slots=True)
class PublicStart:
    """The match has begun; `is_hidden` is whether states and moves are withheld until its end."""

    kind: ClassVar[str] = "started"
    at_ms: int
    match_id: str
    start_clock_s: int
    play_clock_s: int
    players: Words
    is_hidden: bool
    game: str | None = None
    rules_sha256: str | None = None
    roles: Words | None = None

    def data(self) -> dict[str, Any]:
        """Return the event as JSON."""
        found = {
            "at": self.at_ms,
            "matchId": self.match_id,
            "startClock": self.start_clock_s,
            "playClock": self.play_clock_s,
            "players": list(self.players),
        }
        if self.roles is not None:
            found |= {"game": self.game, "rulesSha256": self.rules_sha256, "roles": list(self.roles)}
        return found | {"isHidden": self.is_hidden}


@dataclass(frozen=True, slots=True)
class PublicState:
    """A state; `moves` and `origins` are those that led to it, where they were not public with their step."""

    kind: ClassVar[str] = "state"
    at_ms: int
    step: int
    state: str | None = None
    moves: Words | None = None
    origins: Origins | None = None
    percepts: tuple[Words, ...] | None = None

    def data(self) -> dict[str, Any]:
        """Return the event as JSON."""
        found: dict[str, Any] = {"at": self.at_ms, "step": self.step}
        if self.state is not None:
            found["state"] = self.state
        if self.origins is not None:
            found |= {"moves": _list(self.moves), "origins": _words(self.origins)}
        return found if self.percepts is None else found | {"percepts": list(map(list, self.percepts))}


@dataclass(frozen=True, slots=True)
class PublicQuestion:
    """A player is asked; an answer counts until `deadline_ms`, `grace_ms` after its clock has ended."""

    kind: ClassVar[str] = "asked"
    at_ms: int
    step: int
    seat: int
    message: Message
    role: str | None
    deadline_ms: int
    grace_ms: int

    def data(self) -> dict[str, Any]:
        """Return the event as JSON."""
        return _addressed(self) | {"deadlineMs": self.deadline_ms, "graceMs": self.grace_ms}


@dataclass(frozen=True, slots=True)
class PublicAnswer:
    """A player answered, or did not in time."""

    kind: ClassVar[str] = "answered"
    at_ms: int
    step: int
    seat: int
    message: Message
    role: str | None
    elapsed_ms: int

    def data(self) -> dict[str, Any]:
        """Return the event as JSON."""
        return _addressed(self) | {"elapsedMs": self.elapsed_ms}


@dataclass(frozen=True, slots=True)
class PublicStep:
    """All answers to START (`is_start`) or PLAY are in; `origins` is None where the joint move is withheld.

    `insights` is None where what the players think is withheld, or none of them tells; `failures`, what players tell of
    their own code, likewise.
    """

    kind: ClassVar[str] = "step"
    at_ms: int
    step: int
    is_start: bool
    elapsed_ms: tuple[int | None, ...]
    errors: Words
    moves: Words | None = None
    origins: Origins | None = None
    insights: tuple[Insight | None, ...] | None = None
    failures: Words | None = None

    def data(self) -> dict[str, Any]:
        """Return the event as JSON."""
        elapsed_ms, errors = list(self.elapsed_ms), list(self.errors)
        found = {"at": self.at_ms, "step": self.step, "isStart": self.is_start, "elapsedMs": elapsed_ms}
        if self.origins is None:
            found |= {"errors": errors}
        else:
            found |= {"moves": _list(self.moves), "errors": errors, "origins": _words(self.origins)}
        if self.insights is not None:
            found |= {"insights": insights_json(self.insights)}
        return found if self.failures is None else found | {"failures": list(self.failures)}


@dataclass(frozen=True, slots=True)
class PublicEnd:
    """The match was completed, and `goals` are known, or it was aborted or failed for the `reason`."""

    kind: str
    at_ms: int
    step: int
    goals: tuple[int | None, ...] | None = None
    reason: str = ""

    def data(self) -> dict[str, Any]:
        """Return the event as JSON."""
        found: dict[str, Any] = {"at": self.at_ms, "step": self.step}
        return found | ({"reason": self.reason} if self.goals is None else {"goals": list(self.goals)})


@dataclass(frozen=True, slots=True)
class PublicClose:
    """Nothing more happens."""

    kind: ClassVar[str] = "closed"
    at_ms: int

    def data(self) -> dict[str, Any]:
        """Return the event as JSON."""
        return {"at": self.at_ms}


PublicContent: TypeAlias = (
    PublicStart | PublicState | PublicQuestion | PublicAnswer | PublicStep | PublicEnd | PublicClose
)


@dataclass(frozen=True, slots=True)
class PublicEvent:
    """An event as every viewer may know it: `number` is its place in the journal."""

    number: int
    content: PublicContent

    @property
    def kind(self) -> str:
        """What happened, in a word."""
        return self.content.kind

    @property
    def data(self) -> dict[str, Any]:
        """The event as JSON, for those who follow a match."""
        return self.content.data()


def _addressed(event: PublicQuestion | PublicAnswer) -> dict[str, Any]:
    found = {"at": event.at_ms, "step": event.step, "seat": event.seat, "message": event.message.value}
    return found if event.role is None else found | {"role": event.role}


def _list(words: Words | None) -> list[str] | None:
    return None if words is None else list(words)


def _words(origins: Origins) -> list[str]:
    return [origin.value for origin in origins]
