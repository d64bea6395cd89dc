"""Request queues: where requests wait for players that dial in, and for people, until their replies are posted."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from server.clock import SYSTEM_CLOCK, Clock
from server.links.errors import LateReplyError, OtherReplyError, UnknownRequestError
from server.links.queued_request import QueuedRequest, id_of
from server.match.link import PlayerRequest, ReplyBuffer

MAX_ENDED: Final = 1_000
"""How many requests a queue remembers that are answered or overdue."""


class RequestQueue:
    """The requests of one player: those that wait, and what became of the last ones; *clock* measures the waits."""

    def __init__(self, clock: Clock = SYSTEM_CLOCK, on_connection: Callable[[], None] = lambda: None) -> None:
        self._clock, self._on_connection = clock, on_connection
        self._epoch = secrets.token_hex(4)
        self._n = 0
        self._waiting: dict[str, QueuedRequest] = {}
        self._ended: dict[str, str | None] = {}
        self._answered: dict[str, list[tuple[PlayerRequest, int]]] = {}
        self._is_closed = False
        self._changed = asyncio.Event()
        self._reader: Reader | None = None

    @property
    def is_connected(self) -> bool:
        """Whether the player would get a request at once."""
        return self._reader is not None

    @property
    def waiting(self) -> tuple[QueuedRequest, ...]:
        """The requests without an answer, the oldest first."""
        return tuple(self._waiting.values())

    def waits(self, request_id: str) -> bool:
        """Return whether a reply to the request with that id is still waited for."""
        return request_id in self._waiting

    @property
    def is_closed(self) -> bool:
        """Whether no more requests will come: the player is not registered under that name any more."""
        return self._is_closed

    @property
    def changed(self) -> asyncio.Event:
        """An event that is set when the next request comes, or another reader."""
        return self._changed

    def put(
        self, request: PlayerRequest, reply: ReplyBuffer, limit_s: float | None = None, seat: int = 1
    ) -> QueuedRequest:
        """Let *request* wait; the reply that is posted fills *reply*.

        *limit_s* is the limit that the player knows, *seat* the number among its seats in the match.
        """
        self._n += 1
        queued = QueuedRequest(id_of(request, seat), self._n, request, reply, self._clock.now_s(), limit_s)
        for known in (self._waiting, self._ended):
            known.pop(queued.id, None)
        self._waiting[queued.id] = queued
        self._note_change()
        return queued

    def withdraw(self, queued: QueuedRequest) -> None:
        """Let a request wait no longer: a reply is too late from now on."""
        if self._waiting.get(queued.id) is queued:
            self._end(queued, None)

    def answer(self, request_id: str, text: str, failure: str = "", insight: str = "") -> None:
        """Take the reply to a request; the same may come twice.

        *failure* is what the player says of its own failure, *insight* what it says that it thinks.

        Raises:
            LateReplyError: its clock is over.
            OtherReplyError: something else was answered before.
            UnknownRequestError: there is no such request, or none that is remembered.
        """
        queued = self._waiting.get(request_id)
        if queued is not None:
            # Here and now: the wait may end before its task runs.
            queued.reply.note_failure(failure)
            queued.reply.note_insight(insight)
            queued.reply.feed(text.encode("utf-8", "replace"))
            queued.answered.set()
            self._end(queued, text)
        elif request_id not in self._ended:
            raise UnknownRequestError(request_id)
        elif (ended := self._ended[request_id]) is None:
            raise LateReplyError(request_id)
        elif ended != text:
            raise OtherReplyError(request_id)

    def reply_to(self, request_id: str) -> str | None:
        """Return what was answered to a request, as far as it is remembered; None where nothing was."""
        return self._ended.get(request_id)

    def _end(self, queued: QueuedRequest, text: str | None) -> None:
        del self._waiting[queued.id]
        self._ended[queued.id] = text
        while len(self._ended) > MAX_ENDED:
            del self._ended[next(iter(self._ended))]

    def remember(self, match_id: str, requests: Sequence[PlayerRequest], seat: int = 1) -> None:
        """Keep what was answered in a match at a seat, in order, for a new process of the player."""
        self._answered.setdefault(match_id, []).extend((request, seat) for request in requests)

    def forget_match(self, match_id: str) -> None:
        """Keep what was answered in a match no longer."""
        self._answered.pop(match_id, None)

    def answered_in(self, match_id: str, known: Container[str] = ()) -> list[QueuedRequest]:
        """Return the requests of a match that were answered, in order, each with the answer; no reply is needed.

        Those with ids that are *known* are left out.
        """
        answered = [(id_of(request, seat), request) for request, seat in self._answered.get(match_id, ())]
        return [QueuedRequest(key, 0, request, ReplyBuffer()) for key, request in answered if key not in known]

    def keeps(self, match_id: str) -> bool:
        """Return whether the match may go on: a request of it waits, or what was answered in it is kept."""
        return match_id in self._answered or any(queued.request.match_id == match_id for queued in self.waiting)

    def close(self) -> None:
        """Close the queue: its reader gets no more requests, and those that wait are void."""
        self._is_closed, self._reader = True, None
        for queued in self.waiting:
            queued.is_void = True
            queued.answered.set()
        self._note_change()

    def left_s(self, queued: QueuedRequest) -> float | None:
        """Return how long the player may still think about *queued*; None: no limit is known."""
        return None if queued.limit_s is None else max(0.0, queued.limit_s - self.waited_s(queued))

    def waited_s(self, queued: QueuedRequest) -> float:
        """Return how long ago *queued* came."""
        return max(0.0, self._clock.now_s() - queued.came_s)

    def event_id(self, queued: QueuedRequest) -> str:
        """Return what a reader that has got *queued* may say when it comes again; nothing for an answered one."""
        return f"{self._epoch}.{queued.number}" if queued.number else ""

    def told(self, queued: QueuedRequest) -> dict[str, Any]:
        """Return *queued* as its player reads it. *Units*: seconds."""
        left_s = self.left_s(queued)
        found: dict[str, Any] = {
            "request": queued.id,
            "match": queued.request.match_id,
            "step": queued.request.step,
            "message": queued.message,
            "text": queued.text,
            "secondsLeft": None if left_s is None else round(left_s, 3),
            "secondsWaited": round(self.waited_s(queued), 3),
        }
        if queued.legal_moves:
            found["legalMoves"] = list(queued.legal_moves)
        if queued.request.answered is not None:
            found["answered"] = queued.request.answered
        return found

    @contextmanager
    def reading(self, last_event_id: str = "", *, with_answered: bool = False) -> Iterator[Reader]:
        """Connect the player while the block runs; this reader takes the place of one from before.

        A queue that is closed connects no player: its reader gets nothing.

        Requests up to the one with *last_event_id* are not sent again. A reader *with_answered* gets, before each
        request, what was answered in the match before and it has not got: all of a match that began without it, and
        what was over before its turn came.
        """
        epoch, _, number = last_event_id.partition(".")
        is_known = epoch == self._epoch and number.isascii() and number.isdecimal() and len(number) < 10
        reader = Reader(self, int(number) if is_known else 0, with_answered=with_answered)
        if self._is_closed:
            yield reader
            return
        self._reader = reader
        self._note_change()
        self._on_connection()
        try:
            yield reader
        finally:
            if self._reader is reader:
                self._reader = None
                self._on_connection()

    def is_read_by(self, reader: Reader) -> bool:
        """Return whether *reader* is the player's latest."""
        return self._reader is reader

    def _note_change(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class Reader:
    """A connection of a player to its *queue*, which has got the requests up to the one with *number*."""

    def __init__(self, queue: RequestQueue, number: int, *, with_answered: bool) -> None:
        self._queue, self._number, self._with_answered = queue, number, with_answered
        self._sent: dict[str, set[str]] = {}
        self._to_repeat: list[QueuedRequest] = []

    async def next(self) -> QueuedRequest | None:
        """Wait for a request that this connection has not got; return None once there will be none.

        Then another connection has taken over, or the queue is closed.
        """
        while self._queue.is_read_by(self):
            found = self._next()
            if found is not None:
                return found
            await self._queue.changed.wait()
        return None

    def _next(self) -> QueuedRequest | None:
        for queued in self._queue.waiting:
            if queued.number > self._number:
                if self._with_answered:
                    self._queue_missed(queued.request.match_id)
                if self._to_repeat:
                    return self._to_repeat.pop(0)
                self._number = queued.number
                if self._with_answered:
                    self._sent[queued.request.match_id].add(queued.id)
                return queued
        return None

    def _queue_missed(self, match_id: str) -> None:
        if match_id not in self._sent:
            self._sent = {key: sent for key, sent in self._sent.items() if self._queue.keeps(key)} | {match_id: set()}
        missed = self._queue.answered_in(match_id, self._sent[match_id])
        self._sent[match_id].update(queued.id for queued in missed)
        self._to_repeat += missed


class RequestQueues:
    """The queues of all players that dial in, by name, and of the seats that people have taken.

    *on_connection* is called with the name of a player that has come or gone.

    Attributes:
        on_forgotten: called with the name of a player whose queue was taken away.
    """

    def __init__(self, clock: Clock = SYSTEM_CLOCK, on_connection: Callable[[str], None] = lambda _: None) -> None:
        self._clock, self._on_connection = clock, on_connection
        self._queues: dict[str, RequestQueue] = {}
        self._seats: dict[tuple[str, str], RequestQueue] = {}
        self.on_forgotten: Callable[[str], None] = lambda _: None

    def of_player(self, player_name: str) -> RequestQueue:
        """Return the queue of a player."""
        if player_name not in self._queues:
            self._queues[player_name] = RequestQueue(self._clock, partial(self._on_connection, player_name))
        return self._queues[player_name]

    def is_connected(self, player_name: str) -> bool:
        """Return whether a player would get a request at once."""
        return player_name in self._queues and self._queues[player_name].is_connected

    def forget(self, player_name: str) -> None:
        """Take a player's queue away, with all that waits in it."""
        queue = self._queues.pop(player_name, None)
        if queue is not None:
            queue.close()
        self.on_forgotten(player_name)

    def seat(self, match_id: str, role: str) -> RequestQueue:
        """Return the queue of the person who plays *role* in a match."""
        return self._seats.setdefault((match_id, role), RequestQueue(self._clock))

    def has_seat(self, match_id: str, role: str) -> bool:
        """Return whether a person plays *role* in a match that is being played here."""
        return (match_id, role) in self._seats

    def leave_seat(self, match_id: str, role: str) -> None:
        """Take the queue of a seat away: the match is over."""
        self._seats.pop((match_id, role), None)
