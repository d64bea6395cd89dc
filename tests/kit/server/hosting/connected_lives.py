"""A game manager whose players dial in, well or badly by chance, and whose matches are published where moods change."""

from __future__ import annotations

import asyncio
import json
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

import aiohttp
from aiohttp import web

from server.access.control import AccessControl
from server.access.settings import AccessSettings
from server.app import Watch, listening, make_app
from server.hosting.game_manager import GameManager
from server.hosting.settings import GameManagerSettings, LadderSettings
from server.hosting.supervisor import GameManagerObservers
from server.principal import Role
from server.spectating.public_record import StoredMatches
from server.spectating.publishing import Publisher, PublishSettings, posting
from server.storage.accounts import TokenStore
from server.storage.database import Database
from server.storage.publications import PublicationStore
from tests.kit.server.registry.host import Caller
from tests.kit.server.spectating.spectator_server import SpectatorServer

PLAYERS: Final = "/api/v1/players"
SETTINGS: Final = GameManagerSettings(max_running=20, ladder=LadderSettings(("says",), 1, 1))
PUBLISHING: Final = PublishSettings(games_url="http://127.0.0.1/base/games/", pause_s=0.005)
CUT_OFF: Final = (aiohttp.ClientError, OSError, TimeoutError)
"""What a client meets whose server ends, or ends its connection."""
NO_REPLY: Final[tuple[Any, ...]] = (
    None, 3, [], {}, {"request": 3}, {"request": "", "text": "a"}, {"request": "x" * 5_000, "text": "a"},
    {"request": "m:0:PLAY:7", "text": "\0"}, {"request": "m:0:PLAY", "text": None}, {"request": "m:0:PLAY"},
    {"request": "m:0:PLAY", "letter": "m:0:PLAY", "text": "a"}, {"request": "m:0:PLAY", "text": "x" * 70_000},
)  # fmt: skip
"""What may come in place of a reply."""


class MoodyReceiver(SpectatorServer):
    """A spectator server that is well, fails, hangs, is late, or cuts its connections, as *mood* says."""

    def __init__(self) -> None:
        super().__init__()
        self.mood, self.port = "well", 0
        self._runner: web.AppRunner | None = None

    async def take(self, request: web.Request) -> web.Response:
        """Take a record, or do not."""
        match self.mood:
            case "fails":
                return web.Response(status=500)
            case "hangs" | "late" as mood:
                await asyncio.sleep(60 if mood == "hangs" else 0.05)
            case "cuts" | "takes and cuts" as mood:
                assert request.transport is not None
                if mood == "takes and cuts":
                    await super().take(request)
                request.transport.abort()
        return await super().take(request)

    async def come(self) -> str:
        """Listen, at the same port each time, and return the address."""
        app = web.Application()
        app.router.add_post("/", self.take)
        log = logging.getLogger("receiver")
        log.addFilter(_is_no_race_of_aiohttp)
        self._runner = web.AppRunner(app, logger=log, handler_cancellation=True, shutdown_timeout=0.01)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True).start()
        self.port = self._runner.addresses[0][1]
        return f"http://127.0.0.1:{self.port}/"

    async def go(self) -> bool:
        """Be gone; return whether it was there."""
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()
        return runner is not None


def _is_no_race_of_aiohttp(record: logging.LogRecord) -> bool:
    """Return whether *record* tells of anything but a request that ends just as aiohttp 3.14 stops waiting for it.

    `RequestHandler.shutdown` has cancelled the future then that the request sets.
    """
    return record.exc_info is None or not isinstance(record.exc_info[1], asyncio.InvalidStateError)


@dataclass
class ConnectedLife:
    """A server on the database at *address*, which comes and goes, its players, and the receiver of its records.

    Attributes:
        taken: the moves that were taken, by the player's name and the id of the request.
        n_ends: how often the server has ended.
    """

    address: str
    receiver_address: str
    receiver: MoodyReceiver
    chance: random.Random
    players: dict[str, DialInPlayer] = field(default_factory=dict)
    matches: set[str] = field(default_factory=set)
    taken: dict[tuple[str, str], str] = field(default_factory=dict)
    n_ends: int = 0
    port: int = 0
    root: str = ""

    async def begin(self) -> None:
        """Let the server come."""
        self._stack = AsyncExitStack()
        self.database = await Database.open(self.address)
        self._stack.push_async_callback(self.database.close)
        post = await self._stack.enter_async_context(posting(self.receiver_address))
        source, publications = StoredMatches.of(self.database), PublicationStore(self.database)
        self.publisher = Publisher(source, publications, post, PUBLISHING)
        observers = GameManagerObservers(on_entry=self.publisher.take, on_end=self.publisher.take_end)
        self._stack.push_async_callback(self.publisher.close)
        self.manager = GameManager(self.database, SETTINGS, observers)
        self._stack.push_async_callback(self.manager.close)
        await self.manager.start()
        self.access = AccessControl(AccessSettings(is_public=True), TokenStore(self.database))
        app = make_app(self.manager, self.access, Watch())
        self.url = await self._stack.enter_async_context(listening(app, port=self.port))
        self.port = int(self.url.rpartition(":")[2])

    async def end(self) -> None:
        """Have the server end: what is played is parked."""
        self.n_ends += 1
        await self._stack.aclose()

    async def ask(self, method: str, path: str, body: Any = None, name: str = "") -> tuple[int, Any]:
        """Return status and JSON, of an error its code, of what the server answers the player *name* or an admin."""
        token = self.players[name].token if name else self.root
        status, told = await Caller(self.url, token).ask(method, path, body)
        assert status < 500, (method, path, told)
        return status, told

    async def issue(self, name: str, role: Role = Role.PLAYER) -> str:
        """Return a new token."""
        return str((await self.access.issuing.issue(name, role)).text)

    def check_players(self) -> None:
        """Raise what a player has met that it may not meet."""
        for player in self.players.values():
            if player.living.done():
                player.living.result()


class DialInPlayer:
    """The player *name*, which connects again and again, and then does well or something else.

    Attributes:
        is_good: whether it does well from now on.
    """

    def __init__(self, life: ConnectedLife, name: str, token: str) -> None:
        self.life, self.name, self.token = life, name, token
        self.is_good = False
        self._chance = random.Random(f"{name} {life.chance.random()}")
        self._kept: list[dict[str, Any]] = []
        self._last_id = ""
        self._ways: tuple[Callable[[], Awaitable[None]], ...] = (
            self._play, self._play, self._play, self._read,
            self._double, self._open_half, self._post_late, self._post_none,
        )  # fmt: skip
        self.living = asyncio.create_task(self._live())

    async def _live(self) -> None:
        while True:
            with suppress(*CUT_OFF):
                await (self._play if self.is_good else self._chance.choice(self._ways))()
            await asyncio.sleep(self._chance.choice((0.01, 0.05, 0.1)))

    @asynccontextmanager
    async def _stream(self, past: str = "false", last_id: str = "") -> AsyncIterator[aiohttp.ClientResponse]:
        caller = Caller(self.life.url, self.token)
        path = f"{PLAYERS}/{self.name}/requests?past={past}"
        async with caller.stream(path, Accept="application/x-ndjson", Last_Event_ID=last_id) as stream:
            assert stream.status in (200, 401, 404, 429), await stream.text()
            yield stream

    async def _requests(self, stream: aiohttp.ClientResponse) -> AsyncIterator[dict[str, Any]]:
        """Yield the requests that come in a while, at most 30 of a player that is not good."""
        n_left = 10_000 if self.is_good else self._chance.choice((1, 5, 30))
        until_s = asyncio.get_running_loop().time() + (10 if self.is_good else self._chance.choice((0.3, 1.0)))
        while n_left and stream.status == 200:
            async with asyncio.timeout_at(until_s):
                line = await stream.content.readline()
            if not line:
                break
            event = json.loads(line) if line.strip() else {}
            if event.get("event") == "request":
                n_left -= 1
                self._last_id = event["id"] or self._last_id
                self._kept = [*self._kept[-20:], event["data"]]
                yield event["data"]

    async def _play(self) -> None:
        """Answer requests; all of a match has to come where it was asked for."""
        is_past, known = self._chance.random() < 0.5, set[tuple[str, ...]]()
        last_id = "" if is_past else self._chance.choice(("", self._last_id))
        async with self._stream(str(is_past).lower(), last_id) as stream:
            async for told in self._requests(stream):
                if is_past and told["message"] in ("START", "PLAY"):
                    self._check_past(told, known)
                if "answered" not in told:
                    await self._reply(told)

    def _check_past(self, told: dict[str, Any], known: set[tuple[str, ...]]) -> None:
        """Check that what was before in the match has come on this connection, each once; *known* has what has come."""
        match_id, step, message, *seat = told["request"].split(":")
        before = [(match_id, "0", "START", *seat)] if message == "PLAY" else []
        before += [(match_id, str(i), "PLAY", *seat) for i in range(int(step))]
        here = match_id, step, message, *seat
        assert [one for one in before if one not in known] == [], f"{self.name} misses it before {here}"
        assert here not in known or "answered" not in told, f"{self.name} gets {here} again"
        known.add(here)

    async def _reply(self, told: dict[str, Any]) -> None:
        """Reply to a request, the same each time."""
        moves = told.get("legalMoves", ["ready"])
        text = random.Random(f"{self.name} {told['request']}").choice(moves)
        status, said = await self._post({"request": told["request"], "text": text})
        assert status in (200, 401, 404, 429) or said == "late_reply", (said, told)
        if status == 200 and told["message"] == "PLAY":
            self.life.taken[self.name, told["request"]] = text

    async def _post(self, body: Any) -> tuple[int, Any]:
        path, headers = f"{PLAYERS}/{self.name}/replies", {"Content-Type": "application/json"}
        return await Caller(self.life.url, self.token).ask("POST", path, body, headers)

    async def _read(self) -> None:
        """Read requests, and answer none."""
        async with self._stream() as stream:
            async for _ in self._requests(stream):
                pass

    async def _double(self) -> None:
        """Connect a second time: the first connection ends."""
        n_ends, token = self.life.n_ends, self.token
        async with self._stream() as old, self._stream() as new:
            if old.status == new.status == 200:
                rest = [json.loads(line)["event"] async for line in old.content if line.strip()]
                is_cut = n_ends < self.life.n_ends or token != self.token
                assert is_cut or rest[-1] in ("replaced", "removed"), rest
                async for told in self._requests(new):
                    await self._reply(told)

    async def _open_half(self) -> None:
        """Ask for a stream that is never read, and be gone."""
        head = f"GET {PLAYERS}/{self.name}/requests HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {self.token}"
        _, writer = await asyncio.open_connection("127.0.0.1", self.life.port)
        try:
            writer.write(f"{head}\r\n\r\n".encode())
            await asyncio.sleep(self._chance.choice((0, 0.005, 0.3)))
            writer.transport.abort()
        finally:
            writer.close()

    async def _post_late(self) -> None:
        """Answer what was asked before, perhaps in a match that is over."""
        for told in self._chance.sample(self._kept, min(4, len(self._kept))):
            if "answered" not in told:
                await self._reply(told)

    async def _post_none(self) -> None:
        """Post what is no reply."""
        status, code = await self._post(self._chance.choice(NO_REPLY))
        assert status in (400, 401, 404, 413, 429), code


@asynccontextmanager
async def connected_life(address: str, chance: random.Random) -> AsyncIterator[ConnectedLife]:
    """Yield a server with four players that dial in; in the end all of it ends."""
    receiver = MoodyReceiver()
    life = ConnectedLife(address, await receiver.come(), receiver, chance)
    await life.begin()
    try:
        life.root = await life.issue("root", Role.ADMIN)
        for name in ("ann", "bob", "cid", "dan"):
            life.players[name] = DialInPlayer(life, name, await life.issue(name))
            await life.ask("POST", PLAYERS, {"name": name, "maxMatches": 2}, name)
        yield life
    finally:
        living = [player.living for player in life.players.values()]
        for task in living:
            task.cancel()
        await asyncio.gather(*living, return_exceptions=True)
        await life.end()
        await receiver.go()
