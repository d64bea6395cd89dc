"""Matches that pages show: ordered at the game manager of a whole server, and waited for."""

from __future__ import annotations

from typing import Any

from server.hosting.game_manager import GameManager
from server.hosting.order import DrawnMatch, MatchRequest
from server.storage.rows import MatchRow
from tests.kit.polling import until


async def ordered(manager: GameManager, **order: Any) -> DrawnMatch:
    """Return a match that Ann has ordered."""
    return await manager.order(MatchRequest.model_validate({"startClock": 20, "playClock": 20} | order), "ann")


async def over(manager: GameManager, match_id: str) -> MatchRow:
    """Return a match as soon as it is over."""

    async def ended() -> MatchRow | None:
        row = await manager.matches.get(match_id)
        assert row is not None
        return row if row.has_ended else None

    return await until(ended)
