"""A stand-in for an old spectator server: it takes records that are posted to it, and checks them as it would."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from aiohttp import web
from aiohttp.test_utils import TestServer

from server.records.signature import has_valid_signature

NEEDED: Final = (
    "matchId", "startTime", "randomToken", "startClock", "playClock", "states", "moves", "stateTimes", "gameMetaURL",
)  # fmt: skip
CONSTANT: Final = ("matchId", "startTime", "randomToken", "matchHostPK", "startClock", "playClock", "gameMetaURL")
GROWING: Final = ("moves", "errors", "states", "stateTimes")


class SpectatorServer:
    """Keeps the latest record of each match.

    Attributes:
        updates: all records that were taken, in order.
        refusals: why others were not.
        n_failing: so many requests more are answered with an error.
    """

    def __init__(self) -> None:
        self.updates: list[dict[str, Any]] = []
        self.refusals: list[str] = []
        self.n_failing = 0
        self._kept: dict[str, tuple[str, dict[str, Any]]] = {}

    async def take(self, request: web.Request) -> web.Response:
        """Take a record."""
        form = await request.post()
        if self.n_failing > 0:
            self.n_failing -= 1
            return web.Response(status=500)
        record, authority = json.loads(str(form["DATA"])), str(form["AUTH"])
        problem = self._problem(record, authority)
        if problem:
            self.refusals.append(problem)
            return web.Response(status=500, text=problem)
        self._kept[record["randomToken"]] = authority, record
        self.updates.append(record)
        return web.Response(text="key\n")

    def _problem(self, record: dict[str, Any], authority: str) -> str:
        missing = [name for name in NEEDED if name not in record]
        if missing:
            return f"missing: {missing}"
        if not record["gameMetaURL"].rstrip("/").rpartition("/v")[2].isdecimal():
            return "the game's address has no version"
        lengths = {len(record[name]) for name in ("states", "stateTimes", "errors") if name in record}
        if lengths != {len(record["moves"]) + 1}:
            return "lengths"
        if sorted(record["stateTimes"]) != record["stateTimes"] or record["startTime"] > record["stateTimes"][0]:
            return "time goes backwards"
        if "matchHostPK" in record and not has_valid_signature(record):
            return "signature"
        known = self._kept.get(record["randomToken"])
        return "" if known is None else self._change(known[1], record, is_same=known[0] == authority)

    def _change(self, old: dict[str, Any], new: dict[str, Any], *, is_same: bool) -> str:
        if not is_same:
            return "unauthorized"
        if any(old.get(name) != new.get(name) for name in CONSTANT):
            return "something changed that may not"
        if any(new.get(name, [])[: len(old[name])] != old[name] for name in GROWING if name in old):
            return "the past changed"
        return "completed before" if old["isCompleted"] and not new["isCompleted"] else ""


@asynccontextmanager
async def spectator_server() -> AsyncIterator[tuple[SpectatorServer, str]]:
    """Yield a spectator server, and its address."""
    found, app = SpectatorServer(), web.Application()
    app.router.add_post("/", found.take)
    server = TestServer(app)
    await server.start_server()
    yield found, str(server.make_url("/"))
    await server.close()
