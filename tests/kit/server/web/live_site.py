"""The whole server on a thread of its own, so that a browser in this one can look at its pages."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from server.access.control import AccessControl
from server.access.settings import AccessSettings
from server.app import Watch, listening, make_app
from server.hosting.game_manager import GameManager
from server.hosting.order import MatchRequest
from server.hosting.settings import GameManagerSettings
from server.storage.accounts import TokenStore
from server.storage.rows import MatchRow
from tests.kit.polling import until
from tests.kit.server.databases import new_sqlite

Answer = TypeVar("Answer")
LIMIT_S = 60.0


@dataclass(frozen=True)
class LiveSite:
    """A server that is up at `url`."""

    url: str
    manager: GameManager
    access: AccessControl
    loop: asyncio.AbstractEventLoop

    def ask(self, work: Callable[[], Awaitable[Answer]]) -> Answer:
        """Return what *work* comes to on the server's thread."""

        async def within_limit() -> Answer:
            async with asyncio.timeout(LIMIT_S):
                return await work()

        return asyncio.run_coroutine_threadsafe(within_limit(), self.loop).result()

    def order(self, **order: Any) -> str:
        """Order a match, and return its id."""
        text = MatchRequest.model_validate({"startClock": 60, "playClock": 60} | order)
        return self.ask(lambda: self.manager.order(text, "ann")).row.id

    def over(self, match_id: str) -> MatchRow:
        """Return the match when it is over."""

        async def over() -> MatchRow | None:
            row = await self.manager.matches.get(match_id)
            assert row is not None
            return row if row.has_ended else None

        return self.ask(lambda: until(over))


@contextmanager
def live_site(folder: Path, settings: AccessSettings = AccessSettings()) -> Iterator[LiveSite]:  # noqa: B008 -- frozen
    """Run a server with its database in *folder* while the block runs."""
    up: list[LiveSite] = []
    is_up, has_ended = threading.Event(), asyncio.Event()

    async def run() -> None:
        database = await new_sqlite(folder, has_library=True)
        manager = GameManager(database, GameManagerSettings())
        access = AccessControl(settings, TokenStore(database))
        await manager.start()
        try:
            async with listening(make_app(manager, access, Watch())) as url:
                up.append(LiveSite(url, manager, access, asyncio.get_running_loop()))
                is_up.set()
                await has_ended.wait()
        finally:
            await manager.close()
            await database.close()

    thread = threading.Thread(target=asyncio.run, args=(run(),))
    thread.start()
    try:
        assert is_up.wait(LIMIT_S)
        yield up[0]
    finally:
        if up:
            up[0].loop.call_soon_threadsafe(has_ended.set)
        thread.join(LIMIT_S)
