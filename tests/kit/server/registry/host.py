"""A whole server on a port of its own, and programs that talk to it, for tests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp

from server.access.control import AccessControl
from server.access.settings import AccessSettings
from server.app import Watch, listening, make_app
from server.hosting.game_manager import GameManager
from server.hosting.order import MatchRequest
from server.hosting.settings import GameManagerSettings
from server.links.queued_player import choose, turn_of
from server.links.queued_request import request_id
from server.principal import Role
from server.spectating.public_record import known_match, public_record
from server.storage.accounts import TokenStore
from server.storage.database import Database
from server.storage.notifications import something_new
from tests.kit.polling import until

DEFAULT = GameManagerSettings()


@dataclass(frozen=True)
class Host:
    """A running server: where it is, its manager, and its tokens by the name of who has them."""

    url: str
    manager: GameManager
    tokens: dict[str, str]

    def caller(self, name: str = "") -> Caller:
        return Caller(self.url, self.tokens.get(name))


class Caller:
    """A client that sends requests, with a token or without."""

    def __init__(self, url: str, token: str | None = None) -> None:
        self.url, self.token = url, token

    @property
    def headers(self) -> dict[str, str]:
        return {} if self.token is None else {"Authorization": f"Bearer {self.token}"}

    async def ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Any]:
        """Return status and JSON of the answer; of an error its code."""
        sent = self.headers | (headers or {})
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=20)) as session,
            session.request(method, self.url + path, json=body, headers=sent) as response,
        ):
            text = await response.text()
            told: Any = json.loads(text) if text else None
            return response.status, told["error"]["code"] if response.status >= 400 else told

    @asynccontextmanager
    async def stream(self, path: str, **headers: str) -> AsyncIterator[aiohttp.ClientResponse]:
        """Open a stream; headers are given with underscores."""
        sent = self.headers | {name.replace("_", "-"): value for name, value in headers.items()}
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60)) as session,
            session.get(self.url + path, headers=sent) as response,
        ):
            yield response


async def event(response: aiohttp.ClientResponse) -> dict[str, Any]:
    """Return the next event of a stream of JSON lines, heartbeats left out."""
    while line := await response.content.readline():
        if line.strip():
            found: dict[str, Any] = json.loads(line)
            return found
    return {"event": "end"}


@asynccontextmanager
async def hosting(
    database: Database,
    tokens: dict[str, Role] | None = None,
    *,
    plays: bool = True,
    port: int = 0,
    settings: GameManagerSettings = DEFAULT,
) -> AsyncIterator[Host]:
    """Run a server; with *tokens* it has accounts, one for each name. Unless it *plays* it starts no match."""
    access = AccessControl(AccessSettings(is_public=True), TokenStore(database))
    found = {}
    if tokens:
        # The first token is always an administrator's.
        await access.issuing.issue("root", Role.ADMIN)
        found = {name: str((await access.issuing.issue(name, role)).text) for name, role in tokens.items()}
    manager = GameManager(database, settings)
    async with listening(make_app(manager, access, Watch()), port=port) as url:
        if not plays:
            yield Host(url, manager, found)
            return
        await manager.start()
        try:
            yield Host(url, manager, found)
        finally:
            await manager.close()


async def finished(host: Host, match_id: str) -> dict[str, Any]:
    """Wait until a match is over, and return its record."""
    with host.manager.notifier.subscribed(match_id) as fresh:
        async with asyncio.timeout(30):
            while not (await known_match(host.manager, match_id)).has_ended:
                await something_new(fresh, 0.5)
                fresh.clear()
    return await public_record(host.manager, match_id)


async def asked(host: Host, match_id: str, role: str, step: int) -> None:
    """Come as the person who plays *role*, and wait until a move is asked for in *step* or later."""
    await host.manager.note_arrival(match_id, role)
    mailbox = host.manager.request_queues.seat(match_id, role)
    async with asyncio.timeout(30):
        while (turn := turn_of(mailbox)) is None or turn.step < step:
            if turn is not None:
                choose(mailbox, request_id(match_id, turn.step, "PLAY"), str(turn.legal_moves[0]))
            await mailbox.changed.wait()


@asynccontextmanager
async def playing_by_hand(host: Host, match_id: str, role: str) -> AsyncIterator[None]:
    """Play *role* as a person would while the block runs: the first move that is legal."""
    playing = asyncio.create_task(asked(host, match_id, role, 1_000_000))
    try:
        yield
    finally:
        playing.cancel()


async def until_registered(host: Host, name: str) -> None:
    """Wait until a player has registered itself."""
    await until(lambda: host.manager.players.get(name), 30)


def order(players: dict[str, str], **words: Any) -> MatchRequest:
    """Return the order of a match of tictactoe."""
    named = {role: {"player": player} for role, player in players.items()}
    return MatchRequest.model_validate(
        {"game": "tictactoe", "players": named, "startClock": 20, "playClock": 20, "seed": 1} | words
    )
