"""The other end of the wire in tests: a game manager that says one thing at a time."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp

from gdl.games.library import find_game
from gdl.wire.replies import one_line
from players import Settings, Timing
from players.kit.http_transport import serving
from players.player import MakePlayer

RULES = {name: one_line(find_game(name).path.read_text()) for name in ("tictactoe", "rockpaperscissors", "montyhall")}


def start_text(
    match_id: str = "m", role: str = "x", game: str = "tictactoe", clock_s: int = 10, play_s: int = 3
) -> str:
    return f"(START {match_id} {role} ({RULES[game]}) {clock_s} {play_s})"


def settings(**changes: object) -> Settings:
    return Settings("tested", timing=Timing(0.4), seed=1, **changes)  # type: ignore[arg-type]  # as Settings says


class Peer:
    """Sends messages to a player at *url*, each over a connection of its own."""

    def __init__(self, url: str) -> None:
        self.url = url

    async def say(self, text: str | bytes, headers: dict[str, str] | None = None, method: str = "POST") -> str:
        """Return what the player answers."""
        return (await self.exchange(text, headers, method))[1]

    async def exchange(
        self, text: str | bytes, headers: dict[str, str] | None = None, method: str = "POST"
    ) -> tuple[int, str, dict[str, str]]:
        """Return status, body and headers of the answer."""
        body = io.BytesIO(text.encode() if isinstance(text, str) else text)
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=30)) as session,
            session.request(method, self.url, data=body, headers=headers) as response,
        ):
            return response.status, await response.text(), dict(response.headers)


@contextlib.asynccontextmanager
async def playing(make_player: MakePlayer, **changes: object) -> AsyncIterator[Peer]:
    """Serve a player while the block runs; yield the peer that talks to it."""
    async with serving(make_player, settings(**changes)) as url:
        yield Peer(url)


def workers() -> set[int]:
    """Return the ids of the processes that were forked for workers of this process, dead ones not counted."""
    parents = {int(path.name): _parent(path) for path in Path("/proc").iterdir() if path.name.isdecimal()}
    servers = {pid for pid, parent in parents.items() if parent == os.getpid() and _is_fork_server(pid)}
    return {pid for pid, parent in parents.items() if parent in servers}


def _is_fork_server(process_id: int) -> bool:
    # Servers of databases and browsers of other tests have children, too.
    try:
        return b"multiprocessing.forkserver" in Path(f"/proc/{process_id}/cmdline").read_bytes()
    except OSError:
        return False


def _parent(process: Path) -> int:
    try:
        state, parent = process.joinpath("stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return 0
    return 0 if state == "Z" else int(parent)


async def until_no_workers(timeout_s: float = 5.0) -> set[int]:
    """Return the workers that are still there after *timeout_s*, none as soon as there are none."""
    end_s = time.monotonic() + timeout_s
    while (left := workers()) and time.monotonic() < end_s:  # noqa: ASYNC110 -- no event tells of their end
        await asyncio.sleep(0.05)
    return left
