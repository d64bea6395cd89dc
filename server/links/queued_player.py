"""Links through request queues: to players that dial in, and to people."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from gdl.errors import MessageError
from gdl.language.kif import read_term
from gdl.language.terms import Term
from gdl.wire.messages import Play, read_message
from gdl.wire.replies import find_move, term_of_text
from server.links.errors import IllegalChoiceError
from server.links.queued_request import QueuedRequest, keyword
from server.links.request_queue import RequestQueue, RequestQueues
from server.match.link import PlayerRequest, ReplyBuffer
from server.match.verdicts import says_busy

CAUGHT_UP: Final = frozenset(("START", "PLAY"))
"""The messages that a new process of a player has to know to play on."""
UNKNOWN: Final = "the player is not known any more"
"""Why the seat of a player has no answers that was registered when the match was ordered."""


class QueueLink:
    """The way to a player that dials in, through its *queue*.

    Attributes:
        seat: at which of its seats in a match: the first, until `seating.number_seats` says which it is.
    """

    def __init__(self, queue: RequestQueue) -> None:
        self.queue, self.seat = queue, 1
        self._match_ids: set[str] = set()
        self._is_open = True

    def remember(self, match_id: str, requests: Sequence[PlayerRequest]) -> None:
        """Keep what was answered before, perhaps to another process of the game manager, for the player to catch up."""
        self._match_ids.add(match_id)
        self.queue.remember(match_id, requests, self.seat)

    async def until_connected(self, limit_s: float) -> bool:
        """Wait until the player is connected, *limit_s* at most; return whether it is."""
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                while not self.queue.is_connected:
                    await self.queue.changed.wait()
        return self.queue.is_connected

    async def deliver(self, request: PlayerRequest, reply: ReplyBuffer) -> None:
        """Let *request* wait in the queue until its reply is posted.

        Raises:
            OSError: the player is not registered any more; another one of its name has no part in the match.
        """
        if self.queue.is_closed:
            raise OSError(UNKNOWN)
        self.remember(request.match_id, ())  # the match goes on from now on, also while nothing of it waits
        queued = self.queue.put(request, reply, request.clock_s, self.seat)
        try:
            await queued.answered.wait()
        finally:
            self.queue.withdraw(queued)
            is_busy = queued.message == "START" and says_busy(reply.raw)  # then START comes again
            if self._is_open and queued.message in CAUGHT_UP and not is_busy:
                answered = bytes(reply.raw).decode("utf-8", "replace")
                self.remember(request.match_id, [replace(request, answered=answered, legal_moves=())])
        if queued.is_void:
            raise OSError(UNKNOWN)

    async def close(self) -> None:
        """Keep no more of the matches that were played over this link."""
        self._is_open = False
        for match_id in self._match_ids:
            self.queue.forget_match(match_id)


AUTOMATIC_REPLIES: Final = {"START": b"ready", "PREVIEW": b"ready", "STOP": b"done", "ABORT": b"aborted"}
"""What is answered for a person."""


class HumanLink:
    """The way to a person who plays *role*: only moves are asked for, and of these only what can be chosen.

    The requests have to hold the legal moves. A single move without arguments (a no-op) is made without asking.
    """

    def __init__(self, queues: RequestQueues, role: str) -> None:
        self._queues, self._role = queues, role
        self._match_id: str | None = None

    async def deliver(self, request: PlayerRequest, reply: ReplyBuffer) -> None:
        """Answer *request*, or let it wait for the person."""
        self._match_id = request.match_id
        queue = self._queues.seat(request.match_id, self._role)
        automatic = AUTOMATIC_REPLIES.get(keyword(request)) or _forced_move(request)
        if automatic is not None:
            reply.feed(automatic)
            return
        await QueueLink(queue).deliver(request, reply)

    async def close(self) -> None:
        """Take the queue away."""
        if self._match_id is not None:
            self._queues.leave_seat(self._match_id, self._role)


def _forced_move(request: PlayerRequest) -> bytes | None:
    if request.answered is not None:
        return request.answered.encode("utf-8", "replace")
    moves = QueuedRequest("", 0, request, ReplyBuffer()).legal_moves
    is_forced = len(moves) == 1 and not moves[0].startswith("(")
    return moves[0].encode() if is_forced else None


@dataclass(frozen=True, slots=True)
class Turn:
    """What a person is asked: `told` is the last joint move or the percepts of it, None at first.

    *Units*: `left_s` in seconds, None without a limit.
    """

    step: int
    legal_moves: tuple[Term, ...]
    told: tuple[Term, ...] | None
    left_s: float | None


def turn_of(queue: RequestQueue) -> Turn | None:
    """Return what the person is asked now; None: nothing."""
    queued = _asked(queue)
    if queued is None:
        return None
    play = read_message(queued.text)
    told = play.told if isinstance(play, Play) else None
    return Turn(queued.request.step, tuple(map(read_term, queued.legal_moves)), told, queue.left_s(queued))


def choose(queue: RequestQueue, request_id: str, move: str) -> Term:
    """Answer the question with *request_id* by *move*; return it as the rules write it. The same may come twice.

    Raises:
        IllegalChoiceError: it is no legal move; nothing is lost.
        LateReplyError, OtherReplyError, UnknownRequestError: as `RequestQueue.answer`.
    """
    queued = _asked(queue)
    legal_moves = [] if queued is None or queued.id != request_id else [read_term(text) for text in queued.legal_moves]
    try:
        said = term_of_text(move)
    except MessageError as error:
        raise IllegalChoiceError(move, list(map(str, legal_moves))) from error
    given = queue.reply_to(request_id)
    found = find_move(said, legal_moves if given is None else [read_term(given)])
    if found is None and legal_moves:
        raise IllegalChoiceError(move, list(map(str, legal_moves)))
    found = found or said
    queue.answer(request_id, str(found))
    return found


def _asked(queue: RequestQueue) -> QueuedRequest | None:
    return next((queued for queued in reversed(queue.waiting) if queued.message == "PLAY"), None)
