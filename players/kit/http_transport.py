"""A player over HTTP: one POST for each message, one reply, and the connection is closed.

A player server answers the same messages of a player that dials in (`players.kit.dialling`).
"""

import asyncio
import contextlib
import logging
import os
import threading
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Final

from aiohttp import web

from gdl.errors import MessageError
from gdl.quantities import quantity
from gdl.wire.insights import INSIGHT_HEADER
from gdl.wire.messages import Message, read_message
from gdl.wire.replies import WIRE_LIMITS, decode
from players.kit.addresses import listen
from players.kit.notebook import STOP_SIGNALS, is_in_main_thread, run_until_stopped
from players.kit.player_server import LARGE_BYTES, PlayerServer, Settings
from players.kit.request_heads import LenientRunner
from players.kit.worker import is_worker_importing_main, prepare_workers, start_warming
from players.player import MakePlayer

BODY_S: Final = 30.0
"""How long the body of a message may take to arrive."""
CORS: Final = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "POST, GET, OPTIONS",
    "Access-Control-Allow-Headers": "Content-Type, Sender, Receiver, GGP-Match-ID, GGP-Match-Step, GGP-Match-Host, "
    "GGP-Match-Answered, GGP-Match-Seat",
    "Access-Control-Max-Age": "86400",
}
"""What browsers require before a game manager in a page may send requests to a player."""
FAILURE_HEADER: Final = "GGP-Player-Failure"
"""The header with what went wrong in the author's code; the reply is a legal move all the same."""
_PLAYER_SERVER: Final = web.AppKey("player_server", PlayerServer)
_LOG: Final = logging.getLogger(__name__)


def make_app(player_server: PlayerServer) -> web.Application:
    """Return the web application in which *player_server* answers every message."""
    app = web.Application(client_max_size=WIRE_LIMITS.max_characters)
    app[_PLAYER_SERVER] = player_server
    app.router.add_route("POST", "/{path:.*}", _take_message)
    app.router.add_get("/{path:.*}", _status)  # HEAD, too
    app.router.add_route("OPTIONS", "/{path:.*}", _allow_browsers)
    return app


@contextlib.asynccontextmanager
async def serving(
    make_player: MakePlayer, settings: Settings, host: str = "127.0.0.1", port: int = 0
) -> AsyncIterator[str]:
    """Serve while the block runs; yield the URL. Port 0 is one that the system chooses.

    Raises:
        ListenError: the port is taken.
        OSError: the system gives no process that workers are forked from.
    """
    await asyncio.to_thread(prepare_workers, make_player)
    player_server = PlayerServer(make_player, settings)
    runner = LenientRunner(make_app(player_server), access_log=None, keepalive_timeout=BODY_S, shutdown_timeout=1.0)
    await runner.setup()
    try:
        yield await listen(runner, host, port)
    finally:
        await player_server.close()
        await runner.cleanup()


def run_http(
    make_player: MakePlayer,
    port: int,
    host: str = "127.0.0.1",
    settings: Settings | None = None,
    is_until_eof: bool = False,
) -> None:
    """Serve a player until Ctrl-C or SIGTERM, or the end of standard input; print the address once it listens.

    Raises:
        ListenError: the port is taken.
        OSError: the system gives no process that workers are forked from.
    """
    if is_worker_importing_main():
        return
    settings = settings or Settings(getattr(make_player, "__name__", "player"))
    run_until_stopped(partial(_serve_until_stopped, make_player, settings, host, port, is_until_eof))


async def _serve_until_stopped(
    make_player: MakePlayer, settings: Settings, host: str, port: int, is_until_eof: bool
) -> None:
    """Serve until a signal to stop comes, or the end of standard input."""
    stopped, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in STOP_SIGNALS if is_in_main_thread() else ():
        loop.add_signal_handler(number, stopped.set)
    async with serving(make_player, settings, host, port) as url:
        print(f"listening on {url}", flush=True)  # noqa: T201 -- the one line with the address of the player
        if is_until_eof:
            threading.Thread(target=_await_eof, args=(loop, stopped.set), daemon=True).start()
        await asyncio.to_thread(start_warming, make_player)
        await stopped.wait()


def _await_eof(loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> None:
    """Call *stop* when standard input ends: then the process that started this one has ended, too."""
    while os.read(0, 4096):
        pass
    with contextlib.suppress(RuntimeError):  # the loop may have ended before
        loop.call_soon_threadsafe(stop)


async def _take_message(request: web.Request) -> web.StreamResponse:
    """Answer a POST with the reply to its message."""
    received_s = time.monotonic()
    player_server = request.app[_PLAYER_SERVER]
    try:
        async with asyncio.timeout(BODY_S):
            body = await request.read()
        # A large message is parsed on a thread: the other matches need the event loop.
        message = _read(body) if len(body) < LARGE_BYTES else await asyncio.to_thread(_read, body)
    except MessageError as error:
        _LOG.warning("refused a message: %s", error)
        return _reply(str(error), status=400)
    except TimeoutError:
        return _reply("the message did not arrive in time", status=408)
    answered = request.headers.get("GGP-Match-Answered")
    seat = request.headers.get("GGP-Match-Seat", "")
    answer = await player_server.answer(message, received_s, _step(request), answered, seat)
    response = _reply(answer.text)
    if answer.failure:
        response.headers[FAILURE_HEADER] = answer.failure.encode("ascii", "backslashreplace").decode()
    if answer.insight:
        response.headers[INSIGHT_HEADER] = answer.insight
    with contextlib.suppress(ConnectionError):  # the game manager has closed the connection
        await response.prepare(request)
        await response.write_eof()
        answer.delivered()
    return response


def _read(body: bytes) -> Message:
    return read_message(decode(body))


def _step(request: web.Request) -> int | None:
    header = request.headers.get("GGP-Match-Step", "")
    return int(header) if header.isascii() and header.isdecimal() and len(header) < 10 else None


async def _status(request: web.Request) -> web.StreamResponse:
    player_server = request.app[_PLAYER_SERVER]
    state = "busy" if player_server.is_busy else "available"
    played = quantity(len(player_server.match_ids), "match", "matches")
    return _reply(f"{player_server.settings.name} is {state}; it plays {played}\n", "text/plain")


async def _allow_browsers(_request: web.Request) -> web.StreamResponse:
    return _reply("")


def _reply(text: str, content_type: str = "text/acl", status: int = 200) -> web.Response:
    response = web.Response(text=text, content_type=content_type, status=status, headers=CORS)
    response.force_close()
    return response
