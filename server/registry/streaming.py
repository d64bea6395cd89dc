"""Events as they happen, in one HTTP answer that goes on: server-sent events, or a JSON object a line.

Source: https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from aiohttp import web

SSE: Final = "text/event-stream"
NDJSON: Final = "application/x-ndjson"
HEARTBEAT_S: Final = 15.0
"""How often something is sent when nothing happens: routers on the way forget connections that are silent for long."""
WRITE_LIMIT_S: Final = 30.0
"""How long somebody may take to read what was sent."""
_DEAD_MS: Final = 45_000
"""After how long a connection is dead whose other end does not even confirm heartbeats."""


class EventStream:
    """The answer to *request*: JSON lines where it accepts these by name, server-sent events otherwise."""

    def __init__(self, request: web.Request) -> None:
        self._request = request
        self._is_ndjson = "ndjson" in request.headers.get("Accept", "").lower()
        # A proxy that collects what passes before it hands it on would hold up everything.
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        self.response = web.StreamResponse(headers=headers)
        self.response.content_type = NDJSON if self._is_ndjson else SSE
        self.response.charset = "utf-8"

    async def open(self) -> None:
        """Send the head."""
        _notice_dead_peers(self._request)
        await self.response.prepare(self._request)

    async def send(self, kind: str, data: dict[str, Any], event_id: str = "") -> None:
        """Send an event of *kind*; whoever comes again may say that *event_id* was the last one that came.

        Raises:
            ConnectionError: nobody is there any more.
            TimeoutError: nobody reads what was sent.
        """
        if self._is_ndjson:
            await self._write(json.dumps({"event": kind, "id": event_id, "data": data}) + "\n")
        else:
            id_line = f"id: {event_id}\n" if event_id else ""
            await self._write(f"{id_line}event: {kind}\ndata: {json.dumps(data)}\n\n")

    async def heartbeat(self) -> None:
        """Send what means nothing; raises as `send`."""
        await self._write("\n" if self._is_ndjson else ": heartbeat\n\n")

    def cut(self) -> None:
        """Cut the connection, which ends what answers the request, whatever it waits for."""
        if self._request.transport is not None:
            self._request.transport.abort()

    async def _write(self, text: str) -> None:
        async with asyncio.timeout(WRITE_LIMIT_S):
            await self.response.write(text.encode())


@asynccontextmanager
async def streaming(request: web.Request) -> AsyncIterator[EventStream]:
    """Yield a stream that answers *request*, and keep it alive; the block ends when nobody reads any more."""
    stream = EventStream(request)
    with suppress(ConnectionError, TimeoutError):
        await stream.open()
        beating = asyncio.create_task(_beat(stream))
        try:
            yield stream
        finally:
            beating.cancel()


async def _beat(stream: EventStream) -> None:
    try:
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            await stream.heartbeat()
    except (ConnectionError, TimeoutError):
        stream.cut()


def _notice_dead_peers(request: web.Request) -> None:
    wire = None if request.transport is None else request.transport.get_extra_info("socket")
    if wire is not None and wire.family in (socket.AF_INET, socket.AF_INET6) and sys.platform == "linux":
        wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _DEAD_MS)
