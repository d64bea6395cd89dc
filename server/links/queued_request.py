"""A request in a queue: its id, which message it holds, and the legal moves that come with it."""

import asyncio
from dataclasses import dataclass, field
from typing import Final

from gdl.errors import MessageError
from gdl.wire.replies import elements
from server.match.link import PlayerRequest, ReplyBuffer

LEGAL: Final = "(LEGAL "


@dataclass(eq=False, slots=True)
class QueuedRequest:
    """A request that waits until it is answered or its clock is over.

    Attributes:
        id: the same for the same message, also when another process of the game manager sends it again; it says
            nothing of the role, whose own name the player need not know.
        number: the position among all requests of the queue, in the order in which they came.
        reply: takes what is answered.
        came_s: when it came, by the clock of the queue.
        limit_s: how long the player may think, as its messages say; None: no limit is known.
        answered: is set when it waits no longer: it is answered or void.
        is_void: whether no answer will come, as the player is not registered any more.
    """

    id: str
    number: int
    request: PlayerRequest
    reply: ReplyBuffer
    came_s: float = 0.0
    limit_s: float | None = None
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    is_void: bool = False

    @property
    def text(self) -> str:
        """The message itself, in one line of KIF."""
        return self.request.text.rpartition("\n")[2]

    @property
    def message(self) -> str:
        """Which message it is: `START`, `PLAY`, `STOP`, ..."""
        return keyword(self.request)

    @property
    def legal_moves(self) -> tuple[str, ...]:
        """The texts of the legal moves, if the request has them."""
        first, newline, _ = self.request.text.partition("\n")
        if not (newline and first.startswith(LEGAL)):
            return ()
        try:
            *_, moves = elements(first) or ("",)
            return elements(moves) or ()
        except MessageError:
            return ()


def keyword(request: PlayerRequest) -> str:
    """Return which message *request* holds."""
    return request.text.rpartition("\n")[2].lstrip("(").partition(" ")[0].rstrip(")").upper()


def request_id(match_id: str, step: int, message: str, seat: int = 1) -> str:
    """Return the id of the request with *message* of *step* to a player's seat number *seat* in the match."""
    return f"{match_id}:{step}:{message}" + (f":{seat}" if seat > 1 else "")


def id_of(request: PlayerRequest, seat: int) -> str:
    """Return the id of *request* to a player's seat number *seat* in its match."""
    return request_id(request.match_id, request.step, keyword(request), seat)
