"""The hostile players of the load benchmark: each of them sends what it should, for as long as it is read."""

from __future__ import annotations

import asyncio
from pathlib import Path

from benchmarks.load.hostile_players import WAYS
from benchmarks.load.processes import child
from server.links.errors import RemotePlayerError
from server.links.http_player import HttpPlayer
from server.match.link import PlayerRequest, ReplyBuffer

LIMIT_S = 5.0


async def outcome(url: str, kind: int) -> str:
    """Return how a message to the player of *kind* ends."""
    reply = ReplyBuffer()
    try:
        async with asyncio.timeout(LIMIT_S):
            await HttpPlayer(f"{url}/{kind}/x").deliver(PlayerRequest("(INFO)"), reply)
    except TimeoutError:
        return "waits"
    except (OSError, RemotePlayerError):
        return "fails"
    return "cut" if reply.is_cut else "replies"


async def test_every_way_costs_a_bounded_reply(tmp_path: Path) -> None:
    async with child(["benchmarks.load.hostile_players"], tmp_path / "log") as players:
        found = await asyncio.gather(*(outcome(players.url, kind) for kind in range(len(WAYS))))
    assert found == [
        *["fails"] * 6,
        *["cut"] * 7,
        "replies",
        *["waits"] * 2,
        "replies",
        "waits",
        "replies",
        "fails",
    ]
