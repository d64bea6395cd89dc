"""Run as a child process that is killed: begins matches and prints what is flushed of them, line by line, for ever."""

from __future__ import annotations

import asyncio
import sys
from typing import Final

from server.match.exchange import Message
from server.records.entries import SentEntry
from server.storage.database import Database
from server.storage.matches import MatchStore
from server.storage.queue import MatchQueue
from server.storage.writer import EventWriter
from tests.kit.server.storage.samples import add, match

N_MATCHES: Final = 20


async def play(writer: EventWriter, match_id: str) -> None:
    """Write pairs of entries, and say so when each pair is flushed."""
    number = 0
    while True:
        for _ in range(2):
            writer.put(match_id, number, SentEntry(number, number, "x", Message.PLAY, "." * 200))
            number += 1
        await writer.flush(match_id)
        sys.stdout.write(f"{match_id} {number}\n")
        sys.stdout.flush()


async def main(address: str) -> None:
    """Write until the test kills this process."""
    database = await Database.open(address)
    store, writer = MatchStore(database), EventWriter(database, "child")
    names = [f"m{number:02}" for number in range(N_MATCHES)]
    for name in names:
        await add(store, match(name))
        await MatchQueue(database).claim([name], "child", 1_000)
    await asyncio.gather(*(play(writer, name) for name in names))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
