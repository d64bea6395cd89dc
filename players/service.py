"""A player over HTTP: one POST per message, one reply, and the connection is closed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import threading
import time
from collections.abc import AsyncIterator, Callable
from typing import Final

from aiohttp import web

from gdl.errors import MessageError
from gdl.messages import Message, read_message
from gdl.wire import WIRE_LIMITS, decode
from players.desk import Desk, Settings
from players.player import MakePlayer
from players.warming import start_warming
from players.worker import is_worker_importing_main, prepare_workers

LARGE_BYTES: Final = 50_000
BODY_S: Final = 30.0
"""How long the body of a message may take to arrive."""
CORS: Final = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "POST, GET, OPTIONS",
    "Access-Control-Allow-Headers": "Content-Type, Sender, Receiver, GGP-Match-ID, GGP-Match-Step, GGP-Match-Host, "
    "GGP-Match-Answered",
    "Access-Control-Max-Age": "86400",
}
"""What browsers ask for before a game manager in a page may talk to a player."""
STOP_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_DESK: Final = web.AppKey("desk", Desk)
_LOG: Final = logging.getLogger(__name__)


def make_app(desk: Desk) -> web.Application:
    """Return the web application that hands every message to *desk*."""
    app = web.Application(client_max_size=WIRE_LIMITS.max_characters)
    app[_DESK] = desk
    app.router.add_route("POST", "/{path:.*}", _take_message)
    app.router.add_route("GET", "/{path:.*}", _tell_status)
    app.router.add_route("OPTIONS", "/{path:.*}", _allow_browsers)
    return app


@contextlib.asynccontextmanager
async def serving(
    make_player: MakePlayer, settings: Settings, host: str = "127.0.0.1", port: int = 0
) -> AsyncIterator[str]:
    """Serve while the block runs; yield the URL. Port 0 is one that the system chooses.

    Raises:
        OSError: the port is taken.
    """
    await asyncio.to_thread(prepare_workers)
    desk = Desk(make_player, settings)
    runner = web.AppRunner(make_app(desk), access_log=None, keepalive_timeout=BODY_S, shutdown_timeout=1.0)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        await site.start()
        yield f"http://{host}:{runner.addresses[0][1]}"
    finally:
        await desk.close()
        await runner.cleanup()


def run(
    make_player: MakePlayer,
    port: int,
    host: str = "127.0.0.1",
    settings: Settings | None = None,
    is_until_eof: bool = False,
) -> None:
    """Serve a player until Ctrl-C or SIGTERM, or the end of standard input; print where once it listens.

    Raises:
        OSError: the port is taken.
    """
    if is_worker_importing_main():
        return
    settings = settings or Settings(getattr(make_player, "__name__", "player"))
    asyncio.run(_serve_until_stopped(make_player, settings, host, port, is_until_eof))


async def _serve_until_stopped(
    make_player: MakePlayer, settings: Settings, host: str, port: int, is_until_eof: bool
) -> None:
    stopped, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, stopped.set)
    async with serving(make_player, settings, host, port) as url:
        print(f"listening on {url}", flush=True)  # noqa: T201 -- the one line that says where the player is
        if is_until_eof:
            threading.Thread(target=_await_eof, args=(loop, stopped.set), daemon=True).start()
        await asyncio.to_thread(start_warming)
        await stopped.wait()


def _await_eof(loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> None:
    """Stop when standard input ends: the process that started this one is gone then, however it ended."""
    while os.read(0, 4096):
        pass
    with contextlib.suppress(RuntimeError):  # the loop may have ended before
        loop.call_soon_threadsafe(stop)


async def _take_message(request: web.Request) -> web.StreamResponse:
    received_s = time.monotonic()
    desk = request.app[_DESK]
    try:
        async with asyncio.timeout(BODY_S):
            body = await request.read()
        # A large one is read beside the event loop, which others wait for.
        message = _read(body) if len(body) < LARGE_BYTES else await asyncio.to_thread(_read, body)
    except MessageError as error:
        _LOG.warning("refused a message: %s", error)
        return _reply(str(error), status=400)
    except TimeoutError:
        return _reply("the message did not arrive in time", status=408)
    answered = request.headers.get("GGP-Match-Answered")
    response = _reply(await desk.answer(message, received_s, _step(request), answered))
    with contextlib.suppress(ConnectionError):  # nobody waits for the answer any more
        await response.prepare(request)
        await response.write_eof()
        desk.delivered(message)
    return response


def _read(body: bytes) -> Message:
    return read_message(decode(body))


def _step(request: web.Request) -> int | None:
    said = request.headers.get("GGP-Match-Step", "")
    return int(said) if said.isascii() and said.isdecimal() and len(said) < 10 else None


async def _tell_status(request: web.Request) -> web.StreamResponse:
    desk = request.app[_DESK]
    state = "busy" if desk.is_busy else "available"
    return _reply(f"{desk.settings.name} is {state}; it plays {len(desk.seats)} matches\n", "text/plain")


async def _allow_browsers(_request: web.Request) -> web.StreamResponse:
    return _reply("")


def _reply(text: str, content_type: str = "text/acl", status: int = 200) -> web.Response:
    response = web.Response(text=text, content_type=content_type, status=status, headers=CORS)
    response.force_close()
    return response
