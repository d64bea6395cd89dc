"""A player that dials in: it fetches its messages from a game manager and posts its replies, behind any router."""

import asyncio
import logging
import random
import time
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Final

from gdl.errors import MessageError
from gdl.wire.messages import Abort, Message, Start, Stop, read_message
from players.kit import session
from players.kit.game_manager_client import DialledRequest, GameManagerClient
from players.kit.notebook import STOP_SIGNALS, is_in_main_thread, run_until_stopped
from players.kit.player_server import LARGE_BYTES, PlayerReply, PlayerServer, Settings
from players.kit.worker import is_worker_importing_main, prepare_workers, start_warming
from players.player import GameManagerError, GameManagerUnreachableError, MakePlayer, ReplyRefusedError

_LOG: Final = logging.getLogger(__name__)
FIRST_WAIT_S: Final = 0.5
MAX_WAIT_S: Final = 30.0
"""The longest wait before the game manager is dialled again; each is up to twice as long as the one before."""
MAX_WAIT_IN_MATCH_S: Final = 1.0
"""The same while a match is played, whose clocks run."""
_MAX_DOUBLINGS: Final = 16
"""After more of them a wait has no value as a float some day, and is the longest anyway."""
MAX_TRIES: Final = 10
"""How often a reply is posted while the game manager cannot be reached; it asks again on the next connection."""


class Dialling:
    """Connects *player_server* by *client*, again and again; *say* takes a line for the terminal on each change."""

    def __init__(self, player_server: PlayerServer, client: GameManagerClient, say: Callable[[str], None]) -> None:
        self._player_server, self._client, self._say = player_server, client, say
        self._answering: dict[str, asyncio.Task[object]] = {}
        self._n_failures = 0
        self._reason = ""

    async def run(self) -> None:
        """Stay connected until cancelled.

        Raises:
            GameManagerError: the game manager refuses the player, or another connection of the same player took over.
        """
        try:
            while True:
                await self._stay_connected()
        finally:
            for task in self._answering.values():
                task.cancel()

    async def _stay_connected(self) -> None:
        """Handle the events of one connection, and wait before the next."""
        try:
            async with self._client.requests() as events:
                async for kind, request in events:
                    await self._take(kind, request)
            reason = "the game manager ended it"
        except GameManagerUnreachableError as error:
            reason = str(error)
        self._n_failures += 1
        wait_s = backoff_s(self._n_failures, MAX_WAIT_IN_MATCH_S if self._player_server.seats else MAX_WAIT_S)
        if reason != self._reason:
            self._reason = reason
            self._say(f"connection lost ({reason}); dialling again")
        await asyncio.sleep(wait_s)

    async def _take(self, kind: str, request: DialledRequest | None) -> None:
        """Handle one event; raises GameManagerError where the connection must not be made again."""
        if kind == "connected":
            self._n_failures, self._reason = 0, ""
            self._say(f"connected to {self._client.url} as {self._client.name}")
        elif kind == "removed":
            raise GameManagerError(self._client.url, f"the player {self._client.name} was removed")
        elif kind == "replaced":
            raise GameManagerError(
                self._client.url, f"another program has connected as {self._client.name}; this one gives way"
            )
        elif request is not None and request.id not in self._answering:
            await self._take_request(request)

    async def _take_request(self, request: DialledRequest) -> None:
        """Parse the message of *request*, and begin to answer it."""
        asked_s = time.monotonic() - request.waited_s
        try:
            # A large message is parsed on a thread, and before the next: the messages of a match have an order.
            is_large = len(request.text) > LARGE_BYTES
            message = await asyncio.to_thread(read_message, request.text) if is_large else read_message(request.text)
        except MessageError as error:
            _LOG.warning("a message that cannot be read: %s", error)
            if request.answered is None:
                self._spawn(request, self._post(request, PlayerReply(session.NO_ANSWER)))
            return
        self._announce(message, request.seat)
        if request.answered is not None:
            await self._player_server.answer(message, asked_s, request.step, request.answered, request.seat)
            return
        self._spawn(request, self._answer(request, message, asked_s))

    def _spawn(self, request: DialledRequest, work: Coroutine[None, None, object]) -> None:
        task = self._answering[request.id] = asyncio.create_task(work)
        task.add_done_callback(lambda _: self._answering.pop(request.id, None))

    async def _answer(self, request: DialledRequest, message: Message, asked_s: float) -> None:
        answer = await self._player_server.answer(message, asked_s, request.step, seat=request.seat)
        if await self._post(request, answer):
            answer.delivered()

    async def _post(self, request: DialledRequest, answer: PlayerReply) -> bool:
        """Post *answer* until the game manager takes or refuses it; return whether it was taken."""
        for n_failures in range(1, MAX_TRIES + 1):
            try:
                await self._client.reply(request.id, answer.text, answer.failure, answer.insight)
            except ReplyRefusedError as error:
                self._say(f"match {request.match_id}, step {request.step}: {error}")
                return False
            except GameManagerUnreachableError:
                await asyncio.sleep(backoff_s(n_failures, MAX_WAIT_IN_MATCH_S))
            else:
                return True
        return False

    def _announce(self, message: Message, seat: str) -> None:
        match message:
            case Start(match_id=match_id) if (match_id, seat) not in self._player_server.seats:
                self._say(f"match {match_id}: plays {message.role}")
            case Stop(match_id=match_id) if (match_id, seat) in self._player_server.seats:
                self._say(f"match {match_id}: is over")
            case Abort(match_id=match_id) if (match_id, seat) in self._player_server.seats:
                self._say(f"match {match_id}: was given up")


def backoff_s(n_failures: int, max_s: float) -> float:
    """Return how long to wait after *n_failures* in a row, with jitter, so that clients come back apart."""
    longest_s = min(max_s, FIRST_WAIT_S * 2 ** min(n_failures - 1, _MAX_DOUBLINGS))
    return random.uniform(longest_s / 2, longest_s)


async def dialling(
    make_player: MakePlayer,
    settings: Settings,
    client: GameManagerClient,
    say: Callable[[str], None],
    max_matches: int | None = None,
) -> None:
    """Register the player if the game manager does not know it, and play its matches until cancelled.

    Raises:
        GameManagerError: the game manager refuses the player, or is none.
        GameManagerUnreachableError: the game manager cannot be reached at first.
    """
    async with client:
        if client.is_exposed:
            say(f"warning: {client.url} is not encrypted: every router on the way can read the token")
        registration = await client.register(max_matches)
        if registration.is_new:
            say(f"registered {client.name} at {client.url}")
        if registration.pause_reason is not None:
            say(f"warning: {client.name} is paused there and given no matches ({registration.pause_reason})")
        player_server = PlayerServer(make_player, settings)
        try:
            await Dialling(player_server, client, say).run()
        finally:
            await player_server.close()


def dial_in(
    make_player: MakePlayer,
    settings: Settings,
    client: GameManagerClient,
    say: Callable[[str], None],
    max_matches: int | None = None,
) -> None:
    """Dial in until Ctrl-C or SIGTERM; raises as `dialling`."""
    if is_worker_importing_main():
        return
    prepare_workers(make_player)
    start_warming(make_player)
    run_until_stopped(partial(_until_stopped, make_player, settings, client, say, max_matches))


async def _until_stopped(
    make_player: MakePlayer,
    settings: Settings,
    client: GameManagerClient,
    say: Callable[[str], None],
    max_matches: int | None,
) -> None:
    """Dial in until a signal to stop comes."""
    work = asyncio.create_task(dialling(make_player, settings, client, say, max_matches))
    for number in STOP_SIGNALS if is_in_main_thread() else ():
        asyncio.get_running_loop().add_signal_handler(number, work.cancel)
    try:
        await work
    except asyncio.CancelledError:
        work.cancel()  # where it was this task that was stopped
        await asyncio.gather(work, return_exceptions=True)
