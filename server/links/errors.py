"""What can go wrong on the way to a player, and with the replies of dial-in players and people.

What a remote player does wrong never raises out of a match: it is an event of the match.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from gdl.errors import CallerError, derived
from server.errors import ServerError


class PlayerSpecError(CallerError):
    """What should say where a player is says nothing of the kind; `hint` says what to do, where that is known."""

    template: ClassVar[str] = "no player at {spec!r}: {reason}"
    spec: str
    reason: str
    hint: str = ""


class PlayerStartError(ServerError):
    """A player that this process should run did not come up."""

    template: ClassVar[str] = "the player {spec} could not be started: {reason}"
    spec: str
    reason: str


class RemotePlayerError(ServerError):
    """A remote player answered with something that is no reply; a match records it and goes on."""

    template: ClassVar[str] = "{message}"
    message: str


class HttpStatusError(RemotePlayerError):
    """A remote player answered with a *status* that is no success."""

    message: str = derived("HTTP status {status}{note}")
    status: int

    @property
    def note(self) -> str:
        """What is done about it, where the status asks for something."""
        return ": redirects are not followed" if 300 <= self.status < 400 else ""


class ForbiddenTargetError(RemotePlayerError):
    """A player is at an address that this server does not call, which the message does not name: records are public."""

    message: str = derived("the address is in a network that this server calls no players in")


class UnknownRequestError(CallerError):
    """The player has no request of that id, or it is too long ago."""

    template: ClassVar[str] = "no request {request_id[:200]!r} waits for this player"
    request_id: str


class LateReplyError(CallerError):
    """The reply to a request comes after its clock or its match has ended."""

    template: ClassVar[str] = "the reply to the request {request_id[:200]!r} is too late"
    request_id: str


class OtherReplyError(CallerError):
    """The request has another reply already, which counts."""

    template: ClassVar[str] = "the request {request_id[:200]!r} was answered before, with something else, which counts"
    request_id: str


class IllegalChoiceError(CallerError):
    """What a person wants to play is no legal move; `legal_moves` are."""

    template: ClassVar[str] = "{move[:200]!r} is no legal move{instead}"
    move: str
    legal_moves: Sequence[str]

    @property
    def instead(self) -> str:
        """The first of the legal moves, or nothing where there are none."""
        shown = ", ".join(self.legal_moves[:20]) + (", ..." if len(self.legal_moves) > 20 else "")
        return shown and f"; these are: {shown}"


class NotAskedError(CallerError):
    """A person moves in a step, a number that the caller brings, in which no move is asked for."""

    template: ClassVar[str] = "no move is asked for in that step: see what is asked now"
    step: int
