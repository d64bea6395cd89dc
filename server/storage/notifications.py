"""Wakes those who wait for something new: tasks of this process, and the other game managers on one PostgreSQL.

These send each other messages by its notifications (`LISTEN` and `NOTIFY`). Nothing is kept: a message reaches the
managers that listen just then. After each time that a manager could not listen, it has to find out anew what it may
have missed; `on_listening` is called for that.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, Final, TypeAlias

import sqlalchemy as sa

from server.storage.database import FAILURES, Database
from server.storage.engines import make_listening_engine

Message: TypeAlias = dict[str, Any]
OnMessage: TypeAlias = Callable[[str, Message], None]
"""Takes the name of the manager that sent a message, and the message."""
ALL: Final = "ggp_managers"
"""The channel of all managers; each listens to one of its own besides."""
MAX_PAYLOAD: Final = 7_800
"""How many characters of a message one notification carries: PostgreSQL takes fewer than 8,000 bytes, all told."""
MAX_WAITING: Final = 100_000
"""How many notifications wait for the database; what comes then is dropped, as while it cannot be reached."""
RETRY_S: Final = 0.5
_SEND: Final = "SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS sent(channel, payload)"
_NOW: Final = sa.text("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")
_LOG: Final = logging.getLogger(__name__)


async def something_new(fresh: asyncio.Event, limit_s: float) -> None:
    """Wait until *fresh* is set, but no longer than *limit_s*."""
    with suppress(TimeoutError):
        async with asyncio.timeout(limit_s):
            await fresh.wait()


class Notifier:
    """Wakes the tasks that wait for something new in a match, or in any match."""

    def __init__(self) -> None:
        self._waiting: dict[str | None, set[asyncio.Event]] = {}

    def tell(self, match_ids: Collection[str]) -> None:
        """Say that something happened in the matches."""
        for match_id in (*match_ids, None):
            for event in self._waiting.get(match_id, ()):
                event.set()

    @contextmanager
    def subscribed(self, match_id: str | None = None) -> Iterator[asyncio.Event]:
        """Yield an event that is set when something happens in the match (None: in any); clear it before looking."""
        event = asyncio.Event()
        self._waiting.setdefault(match_id, set()).add(event)
        try:
            yield event
        finally:
            waiting = self._waiting[match_id]
            waiting.discard(event)
            if not waiting:
                del self._waiting[match_id]


class Notifications:
    """Sends messages as the manager *name*, and takes those of others, while `run` runs."""

    def __init__(self, database: Database, name: str, on_message: OnMessage, on_listening: Callable[[], None]) -> None:
        self.name = name
        self._database, self._on_message, self._on_listening = database, on_message, on_listening
        self._waiting: list[tuple[str, str]] = []
        self._wake, self._is_idle = asyncio.Event(), asyncio.Event()
        self._is_listening = False
        self._n_sent = 0
        self._parts: dict[str, tuple[str, list[str]]] = {}

    def send(self, message: Message, to: str | None = None) -> None:
        """Send *message* to one manager, or to all others; it is lost while the database cannot be reached."""
        if not self._is_listening or len(self._waiting) > MAX_WAITING:
            return
        self._n_sent += 1
        text = json.dumps(message, separators=(",", ":"))  # of ASCII alone, so that characters are bytes
        pieces = [text[i : i + MAX_PAYLOAD] for i in range(0, len(text), MAX_PAYLOAD)]
        channel = ALL if to is None else _channel(to)
        self._waiting += [
            (channel, f"{self.name} {self._n_sent} {len(pieces) - place} {piece}")
            for place, piece in enumerate(pieces, 1)
        ]
        self._wake.set()

    async def stamp(self) -> int:
        """Return the time by the clock of the database, which all managers share. *Units*: microseconds.

        Raises:
            StorageError: the database failed.
        """
        return int(await self._database.scalar(_NOW))

    async def flush(self, limit_s: float = 1.0) -> None:
        """Wait until everything is sent, *limit_s* at most."""
        if self._is_listening and self._waiting:
            self._is_idle.clear()
            await something_new(self._is_idle, limit_s)

    async def run(self) -> None:
        """Listen and send until cancelled, whatever becomes of the connection."""
        has_failed = False
        while True:
            try:
                async with self._connected() as connection:
                    has_failed = False
                    await self._send_all(connection)
            except FAILURES as error:
                if not has_failed:
                    _LOG.error("other game managers cannot be reached through the database: %s", error)
                has_failed = True
            await asyncio.sleep(RETRY_S)

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[Any]:
        """Listen while the block runs, and yield the connection of the driver."""
        engine = make_listening_engine(self._database.address)
        try:
            async with engine.connect() as pooled:
                connection: Any = (await pooled.get_raw_connection()).driver_connection
                connection.add_termination_listener(lambda _: self._wake.set())
                for channel in (ALL, _channel(self.name)):
                    await connection.add_listener(channel, self._take)
                self._parts.clear()
                self._waiting.clear()
                self._is_listening = True
                self._on_listening()
                yield connection
        finally:
            self._is_listening = False
            await engine.dispose()

    async def _send_all(self, connection: Any) -> None:
        """Send what waits, and what comes, until the connection has ended."""
        while not connection.is_closed():
            self._wake.clear()
            if self._waiting:
                self._is_idle.clear()
                sent, self._waiting = self._waiting, []
                await connection.execute(_SEND, *map(list, zip(*sent, strict=True)))
            else:
                self._is_idle.set()
                await self._wake.wait()

    def _take(self, _connection: object, _process: int, _channel: str, payload: object) -> None:
        """Take a notification; the pieces of a message come one after the other."""
        sender, number, left, piece = str(payload).split(" ", 3)
        if sender == self.name:
            return
        begun, pieces = self._parts.pop(sender, ("", []))
        pieces = [*pieces, piece] if begun == number else [piece]
        if left != "0":
            self._parts[sender] = number, pieces
            return
        try:
            self._on_message(sender, json.loads("".join(pieces)))
        except Exception:  # a message of another version must not end what listens
            _LOG.exception("a message of another game manager makes no sense")


def _channel(name: str) -> str:
    return f"ggp_manager_{name}"
