"""A game manager in a process of its own, to be killed; its arguments are a database and the seconds of a lease.

It says how the database calls it as soon as it plays.
"""

from __future__ import annotations

import asyncio
import sys

from server.hosting.game_manager import GameManager
from server.hosting.settings import HostSettings
from server.storage.database import Database


async def host(address: str, lease_s: float) -> None:
    database = await Database.open(address)
    manager = GameManager(database, HostSettings(lease_s=lease_s))
    await manager.start()
    sys.stdout.write(f"{manager.playing.holder}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(host(sys.argv[1], float(sys.argv[2])))
