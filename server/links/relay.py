"""Requests and replies between game managers: a player that dials in, or a person, may reach any of them.

The manager that plays a match keeps its request queues and clocks, and takes each reply once. The others pass on: the
requests to a player that is connected to them, its replies, and the questions and moves of people.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from server.links import errors
from server.links.queued_player import Turn, choose, turn_of
from server.links.queued_request import request_id
from server.links.remote_calls import RemoteCalls, read_turn, turn_json
from server.links.request_queue import RequestQueues
from server.storage.database import Database
from server.storage.errors import StorageError
from server.storage.match_queries import holder_query
from server.storage.notifications import Message, Notifications
from server.storage.rows import MatchRow, MatchStatus

PRESENCE_S: Final = 5.0
"""How often a manager says who is connected to it."""
SILENCE_S: Final = 30.0
"""After how long a silence the players of a manager are not connected any more."""
MAX_SEEN: Final = 10_000
"""How many of the last requests a connection remembers, so that none is passed on twice."""
_MATCH: Final = re.compile(r"(?P<match>.+):[0-9]+:[A-Z]+(?::[0-9]+)?")


@dataclass(eq=False)
class Connection:
    """A connection of the player *player* to this manager, made at *stamp*, and the requests of other managers."""

    player: str
    stamp: int
    last_event_id: str
    with_answered: bool
    passed_on: asyncio.Queue[tuple[str, Message]] = field(default_factory=asyncio.Queue)
    seen: dict[tuple[str, str], None] = field(default_factory=dict)

    def put(self, event_id: str, told: Message) -> None:
        """Take a request that another manager passes on, unless it came before."""
        key = event_id, told["request"]
        if key in self.seen:
            return
        self.seen[key] = None
        while len(self.seen) > MAX_SEEN:
            del self.seen[next(iter(self.seen))]
        self.passed_on.put_nowait((event_id, told))

    async def requests(self) -> AsyncIterator[tuple[str, Message]]:
        """Yield the requests of other managers as they come, each with the id of its event; it never ends."""
        while True:
            yield await self.passed_on.get()

    def as_json(self) -> list[Any]:
        """Return what other managers have to know."""
        return [self.stamp, self.last_event_id, self.with_answered]


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A connection of a player to another manager, and the task that passes its requests on."""

    manager: str
    there: Connection
    passing: asyncio.Task[None]


class Relay:
    """Passes on what reached another manager than the one that plays the match; alone, it asks *queues* alone.

    *name* is what this manager is called in the database. Of all connections of a player the one that was made last,
    by the clock of the database, is the player's.
    """

    def __init__(self, database: Database, name: str, queues: RequestQueues) -> None:
        self._database, self._name, self._queues = database, name, queues
        self._bus = Notifications(database, name, self._take, self._greet)
        self._here: dict[str, Connection] = {}
        self._elsewhere: dict[str, Elsewhere] = {}
        self._heard_s: dict[str, float] = {}
        self._calls = RemoteCalls(database.name, self._bus.send, self._answer_call)
        self._tasks: list[asyncio.Task[None]] = []
        queues.on_forgotten = lambda player: self._bus.send({"kind": "removed", "player": player})

    def start(self) -> None:
        """Find other managers and be found by them, where the database lets several work on it."""
        if not self._database.is_sqlite:
            self._tasks = [asyncio.create_task(loop) for loop in (self._bus.run(), self._tell_presence())]

    async def close(self) -> None:
        """Pass on nothing more."""
        self._bus.send({"kind": "present", "players": {}})
        await self._bus.flush()
        passing = [one.passing for one in self._elsewhere.values()]
        self._elsewhere.clear()
        for task in (*self._tasks, *passing):
            task.cancel()
        await asyncio.gather(*self._tasks, *passing, return_exceptions=True)

    async def stamp(self) -> int:
        """Return when a connection is made, by the clock that all managers share.

        Raises:
            StorageError: the database failed.
        """
        return await self._bus.stamp() if self._tasks else 0

    @contextmanager
    def connected(self, player: str, stamp: int, last_event_id: str, *, with_answered: bool) -> Iterator[Connection]:
        """Tell other managers while the block runs that *player* is connected here, since *stamp*."""
        found = self._here[player] = Connection(player, stamp, last_event_id, with_answered)
        self._bus.send({"kind": "present", "players": {player: found.as_json()}, "more": True})
        known = self._elsewhere.get(player)
        if known is not None and known.there.stamp < stamp:
            self._drop(player)
        elif known is not None:
            self._pass_on(known.manager, known.there)
        try:
            yield found
        finally:
            if self._here.get(player) is found:
                del self._here[player]
                self._bus.send({"kind": "gone", "player": player, "stamp": stamp})

    async def answer(self, player: str, request: str, text: str, failure: str = "", insight: str = "") -> None:
        """Take the reply of *player* to the request with id *request*, or have the manager take it that waits for it.

        Raises:
            LateReplyError, OtherReplyError, UnknownRequestError: as `RequestQueue.answer`.
            StorageError: the database failed, or the other manager does not answer: the same may come again.
        """
        queue = self._queues.of_player(player)
        holder = None if queue.waits(request) else await self._holder_of_request(request)
        if holder is None:
            queue.answer(request, text, failure, insight)
            return
        words = {"player": player, "request": request, "text": text, "failure": failure, "insight": insight}
        await self._calls.ask(holder, "reply", words)

    async def turn(self, match: MatchRow, role: str) -> Turn | None:
        """Return what the person who plays *role* is asked now, wherever the match is played; None: nothing.

        Raises:
            StorageError: the manager that plays the match does not answer.
        """
        if not self._is_played_elsewhere(match):
            return self._turn_here(match.id, role)
        assert match.holder is not None
        told = (await self._calls.ask(match.holder, "turn", {"match": match.id, "role": role}))["turn"]
        return None if told is None else read_turn(told)

    async def choose(self, match: MatchRow, role: str, step: int, move: str) -> str:
        """Make the move of the person who plays *role*, wherever the match is played; return it as the rules write it.

        Raises:
            IllegalChoiceError, LateReplyError, OtherReplyError: as `queued_player.choose`.
            NotAskedError: no move is asked for in that step.
            StorageError: the manager that plays the match does not answer: the same may come again.
        """
        if not self._is_played_elsewhere(match):
            return self._choose_here(match.id, role, step, move)
        assert match.holder is not None
        words = {"match": match.id, "role": role, "step": step, "move": move}
        return str((await self._calls.ask(match.holder, "move", words))["move"])

    def _turn_here(self, match_id: str, role: str) -> Turn | None:
        return turn_of(self._queues.seat(match_id, role)) if self._queues.has_seat(match_id, role) else None

    def _choose_here(self, match_id: str, role: str, step: int, move: str) -> str:
        if not self._queues.has_seat(match_id, role):
            raise errors.NotAskedError(step)
        try:
            return str(choose(self._queues.seat(match_id, role), request_id(match_id, step, "PLAY"), move))
        except errors.UnknownRequestError:
            raise errors.NotAskedError(step) from None

    def _is_played_elsewhere(self, match: MatchRow) -> bool:
        is_running = match.status == MatchStatus.RUNNING and match.holder is not None
        return bool(self._tasks) and is_running and match.holder != self._name

    async def _holder_of_request(self, request: str) -> str | None:
        """Return the other manager that plays the match of *request*, or that played it to its end and is there."""
        found = _MATCH.fullmatch(request)
        if not self._tasks or found is None:
            return None
        rows = await self._database.rows(holder_query(found["match"]))
        if not rows or rows[0]["holder"] == self._name:
            return None
        holder, is_running = rows[0]["holder"], rows[0]["status"] == MatchStatus.RUNNING
        if holder is None and is_running:  # the next manager asks again
            raise StorageError(self._database.name, "the match is between two game managers")
        return str(holder) if is_running or holder in self._heard_s else None

    def _answer_call(self, what: str, words: Message) -> Message:
        """Return the answer to a question of another manager; raises as what it asks."""
        match what:
            case "reply":
                self._queues.of_player(words["player"]).answer(
                    words["request"], words["text"], words["failure"], words["insight"]
                )
                return {}
            case "turn":
                turn = self._turn_here(words["match"], words["role"])
                return {"turn": None if turn is None else turn_json(turn)}
            case "move":
                return {"move": self._choose_here(words["match"], words["role"], words["step"], words["move"])}
            case _:
                raise ValueError(what)

    # Who is connected where

    def _greet(self) -> None:
        """Tell who is here, learn who is elsewhere, and have sent again what may have been missed."""
        self._bus.send({"kind": "hello"})
        self._send_presence()
        self._pass_on_again()

    async def _tell_presence(self) -> None:
        while True:
            await asyncio.sleep(PRESENCE_S)
            self._send_presence()
            for manager in [name for name, heard_s in self._heard_s.items() if time.monotonic() - heard_s > SILENCE_S]:
                del self._heard_s[manager]
                self._take_presence(manager, {})

    def _send_presence(self, to: str | None = None) -> None:
        players = {player: connection.as_json() for player, connection in self._here.items()}
        self._bus.send({"kind": "present", "players": players}, to)

    def _take(self, sender: str, message: Message) -> None:
        self._heard_s[sender] = time.monotonic()
        match message["kind"]:
            case "hello":
                self._send_presence(sender)
                self._pass_on_again(sender)
            case "present":
                self._take_presence(sender, message["players"], is_all=not message.get("more"))
            case "gone":
                known = self._elsewhere.get(message["player"])
                if known is not None and (known.manager, known.there.stamp) == (sender, message["stamp"]):
                    self._drop(message["player"])
            case "removed":
                self._forget(message["player"])
            case "request":
                here = self._here.get(message["player"])
                if here is not None and here.stamp == message["stamp"]:
                    here.put(message["event"], message["told"])
            case "call":
                self._calls.answer(sender, message)
            case "answer":
                self._calls.take_answer(message)

    def _forget(self, player: str) -> None:
        """Take a queue away that another manager took away, without telling it again."""
        telling, self._queues.on_forgotten = self._queues.on_forgotten, lambda _: None
        try:
            self._queues.forget(player)
        finally:
            self._queues.on_forgotten = telling

    def _take_presence(self, manager: str, players: Mapping[str, list[Any]], *, is_all: bool = True) -> None:
        """Take who is connected to *manager*: all of them, or some more."""
        if is_all:
            for player in [name for name, known in self._elsewhere.items() if known.manager == manager]:
                if player not in players:
                    self._drop(player)
        for player, (stamp, last_event_id, with_answered) in players.items():
            here, known = self._here.get(player), self._elsewhere.get(player)
            newest = max(0 if here is None else here.stamp, 0 if known is None else known.there.stamp)
            if stamp > newest:
                self._pass_on(manager, Connection(player, stamp, last_event_id, with_answered))

    def _pass_on(self, manager: str, there: Connection) -> None:
        """Pass the requests of a player on to *manager*, from now on; a connection here is replaced."""
        self._drop(there.player)
        passing = asyncio.create_task(self._passing_on(manager, there))
        self._elsewhere[there.player] = Elsewhere(manager, there, passing)

    async def _passing_on(self, manager: str, there: Connection) -> None:
        queue = self._queues.of_player(there.player)
        with queue.reading(there.last_event_id, with_answered=there.with_answered) as reader:
            while (queued := await reader.next()) is not None:
                words = {"player": there.player, "stamp": there.stamp, "event": queue.event_id(queued)}
                self._bus.send({"kind": "request", "told": queue.told(queued)} | words, manager)

    def _pass_on_again(self, manager: str | None = None) -> None:
        """Forget who is connected to *manager*, or elsewhere at all: what it says next begins anew."""
        for player in [name for name, known in self._elsewhere.items() if manager in (None, known.manager)]:
            self._drop(player)

    def _drop(self, player: str) -> None:
        known = self._elsewhere.pop(player, None)
        if known is not None:
            known.passing.cancel()
