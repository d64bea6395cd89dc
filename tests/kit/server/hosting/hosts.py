"""Game managers that are killed, players that answer every manager the same, and what came of their matches."""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from server.hosting.game_manager import GameManager
from server.hosting.order import MatchRequest
from server.hosting.settings import GameManagerSettings
from server.records.record import record_of
from server.spectating.public_record import StoredMatches
from server.storage.database import Database
from server.storage.engines import WAIT_S
from server.storage.matches import MatchStore
from server.storage.rows import MatchStatus
from server.storage.writer import RETRIES_S
from tests.kit.polling import until
from tests.kit.server.peers import OK, request

FOLDER = Path(__file__).parent
GAMES = ("long.kif", "long_dealt.kif")
COMPARED = ("states", "moves", "errors", "goalValues", "x-goals", "x-percepts", "x-origins", "isCompleted", "isAborted")


async def scripted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Be a player that answers by its address (`/SEED/ROLE`) and the step alone: mostly well."""
    head, body = await request(reader)
    path = head.split(" ", 2)[1]
    step = re.search(r"GGP-Match-Step: ([0-9]+)", head)
    chance = random.Random(f"{path} {step[1] if step else ''} {body.split(' ', 1)[0]}")
    await asyncio.sleep(random.uniform(0.02, 0.2))
    fate = chance.random()
    if fate < 0.01:
        await asyncio.sleep(60)
    if fate < 0.05:
        writer.transport.abort()
        return
    reply = chance.choice(("(say yes)", "(say no)")) if fate < 0.9 else "(say what)"
    writer.write(OK + b"\r\n" + (reply if body.startswith("(PLAY") else "ready").encode())


async def ordered(address: str, players: str, n: int) -> list[str]:
    """Order *n* matches with seeds 0, 1, ... in the database; nothing plays them yet."""
    return await kept(address, [_order(players, seed) for seed in range(n)])


async def kept(address: str, orders: Sequence[MatchRequest]) -> list[str]:
    """Put *orders* into the database, and return the ids of the matches."""
    database = await Database.open(address, exclusive=False)
    manager = GameManager(database, GameManagerSettings())
    try:
        return [(await manager.order(order)).row.id for order in orders]
    finally:
        await database.close()


def _order(players: str, seed: int) -> MatchRequest:
    named = {role: {"player": f"{players}/{seed}/{role}"} for role in ("left", "right")}
    rules = (FOLDER / GAMES[seed % len(GAMES)]).read_text("utf-8")
    words = {"rules": rules, "players": named, "startClock": 4, "playClock": 4, "grace": 1, "seed": seed}
    return MatchRequest.model_validate(words)


@dataclass
class Host:
    """A game manager in a process of its own, and what the database calls it."""

    process_id: int
    holder: str
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def kill(self) -> None:
        """End it without a warning."""
        if not self.reader.at_eof():
            os.kill(self.process_id, signal.SIGKILL)
        with suppress(ConnectionError):
            await self.reader.read()
        self.writer.close()


@cache
def _forking_hosts() -> str:
    """Return the socket of a process that forks hosts until this process ends: loading the server takes seconds."""
    folder = tempfile.mkdtemp(prefix="ggp-hosts-")
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.kit.server.hosting.host_process", f"{folder}/socket"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=FOLDER.parents[3],
    )  # fmt: skip
    atexit.register(shutil.rmtree, folder)
    # It closes the pipes and waits; reading to the end of the output would wait for every host that holds it.
    atexit.register(process.__exit__, None, None, None)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n", "the hosts cannot be forked"
    return f"{folder}/socket"


@asynccontextmanager
async def hosting(
    address: str, lease_s: float = 10.0, wait_s: float = WAIT_S, retries_s: Sequence[float] = RETRIES_S
) -> AsyncIterator[Host]:
    """Run a game manager in a process of its own; in the end it is killed."""
    order = {"address": address, "lease_s": lease_s, "wait_s": wait_s, "retries_s": list(retries_s)}
    reader, writer = await asyncio.open_unix_connection(_forking_hosts())
    writer.write(f"{json.dumps(order)}\n".encode())
    process_id, _, holder = (await reader.readline()).decode().strip().partition(" ")
    assert holder, "the game manager did not start"
    host = Host(int(process_id), holder, reader, writer)
    try:
        yield host
    finally:
        await host.kill()


@asynccontextmanager
async def looking(address: str) -> AsyncIterator[StoredMatches]:
    """Open the matches and journals of a database that others play."""
    database = await Database.open(address, exclusive=False)
    try:
        yield StoredMatches.of(database)
    finally:
        await database.close()


async def all_over(address: str, match_ids: Sequence[str]) -> bool:
    """Return whether the matches are over."""
    async with looking(address) as stored:
        return all(
            [(row := await stored.matches.get(match_id)) is not None and row.has_ended for match_id in match_ids]
        )


async def held(address: str, match_ids: Sequence[str]) -> Counter[str]:
    """Return how many of the matches each game manager plays."""
    async with looking(address) as stored:
        rows = [await stored.matches.get(match_id) for match_id in match_ids]
    return Counter(
        row.holder for row in rows if row is not None and row.holder is not None and row.status == MatchStatus.RUNNING
    )


async def until_all_over(address: str, match_ids: Sequence[str], limit_s: float = 90.0) -> None:
    """Return when the matches are over."""
    await until(lambda: all_over(address, match_ids), limit_s, pause_s=0.2)


async def until_steps(
    address: str,
    match_ids: Sequence[str],
    n_steps: int,
    enough: Callable[[Iterable[bool]], bool] = all,
    limit_s: float = 60.0,
) -> None:
    """Return when *enough* of the matches have made so many steps: all, or any."""
    async with looking(address) as stored:

        async def have_made() -> bool:
            return enough([await _has_made(stored.matches, key, n_steps) for key in match_ids])

        await until(have_made, limit_s, pause_s=0.05)


async def _has_made(matches: MatchStore, match_id: str, n_steps: int) -> bool:
    row = await matches.get(match_id)
    return row is not None and (row.n_steps >= n_steps or row.has_ended)


async def came_of(address: str, match_ids: Sequence[str]) -> list[dict[str, Any]]:
    """Return what may not depend on who played the matches when."""
    async with looking(address) as stored:
        wholes = [record_of(await stored.journals.entries(match_id)).as_json() for match_id in match_ids]
    return [{name: whole[name] for name in COMPARED if name in whole} for whole in wholes]


async def n_resumed(address: str, match_ids: Sequence[str]) -> int:
    """Return how many of the matches went on in another process than they began in."""
    async with looking(address) as stored:
        rows = [await stored.matches.get(match_id) for match_id in match_ids]
    return sum(row is not None and row.epoch > 1 for row in rows)


async def undisturbed(address: str, players: str, n: int) -> list[dict[str, Any]]:
    """Return what comes of *n* matches of an undisturbed game manager."""
    match_ids = await ordered(address, players, n)
    async with hosting(address):
        await until_all_over(address, match_ids)
    return await came_of(address, match_ids)
