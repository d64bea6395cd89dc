"""A game manager in a process of its own, to be killed; its arguments are a database and, as JSON, its patience.

It says how the database calls it as soon as it plays.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from server.hosting.game_manager import GameManager
from server.hosting.order import HostSettings
from server.storage.database import Database


async def host(address: str, lease_s: float, wait_s: float, retries_s: list[float]) -> None:
    database = await Database.open(address, wait_s=wait_s)
    manager = GameManager(database, HostSettings(lease_s=lease_s, retries_s=tuple(retries_s)))
    await manager.start()
    sys.stdout.write(f"{manager.playing.holder}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    patience: dict[str, Any] = json.loads(sys.argv[2])
    asyncio.run(host(sys.argv[1], **patience))
