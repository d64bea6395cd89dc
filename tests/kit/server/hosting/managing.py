"""Game managers on a database: orders of short matches, and how long to wait for what becomes of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from server.hosting.game_manager import GameManager
from server.hosting.order import MatchRequest
from server.hosting.settings import GameManagerSettings
from server.storage.database import Database
from server.storage.rows import MatchRow
from tests.kit.server.peers import replying
from tests.kit.server.plays import TWO_STEPS

YES = replying(lambda body: "(say Yes)" if body.startswith("(PLAY") else "ready")
"""A player of the rules of two steps, which always says yes."""


@asynccontextmanager
async def managing(database: Database, settings: GameManagerSettings | None = None) -> AsyncIterator[GameManager]:
    """Give a game manager that is started, and closed in the end."""
    manager = GameManager(database, settings or GameManagerSettings())
    await manager.start()
    try:
        yield manager
    finally:
        await manager.close(parking=False)


def order(left: str, right: str, **words: Any) -> MatchRequest:
    """Return the order of a match of two steps between *left* and *right*."""
    players = {"left": {"player": left}, "right": {"player": right}}
    told = {"rules": TWO_STEPS, "players": players, "startClock": 5, "playClock": 5, "grace": 0} | words
    return MatchRequest.model_validate(told)


async def until(manager: GameManager, match_id: str, *statuses: str) -> MatchRow:
    """Return the match once it is in one of *statuses*."""
    async with asyncio.timeout(30):
        with manager.notifier.subscribed(match_id) as notifier:
            while True:
                notifier.clear()
                row = await manager.matches.get(match_id)
                assert row is not None
                if row.status in statuses:
                    return row
                await notifier.wait()
