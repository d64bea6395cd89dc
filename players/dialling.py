"""A player that dials in: it fetches its letters from a game manager and posts its replies, behind any router.

An author notices no difference to a player over HTTP: the same desk answers the same messages.
"""

from __future__ import annotations

import asyncio
import logging
import random
import signal
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Final

from gdl.errors import MessageError
from gdl.messages import Abort, Message, Start, Stop, read_message
from players.desk import Desk, Settings
from players.errors import HostAwayError, HostError, ReplyRefusedError
from players.host import DialledLetter, Host
from players.player import MakePlayer
from players.session import NO_ANSWER
from players.warming import start_warming
from players.worker import is_worker_importing_main, prepare_workers

FIRST_WAIT_S: Final = 0.5
MAX_WAIT_S: Final = 30.0
"""The longest wait before the game manager is dialled again; each is up to twice as long as the one before."""
MAX_WAIT_IN_MATCH_S: Final = 1.0
"""The same while a match is played, whose clocks run."""
MAX_TRIES: Final = 10
"""How often a reply is posted while the game manager cannot be reached; it asks again on the next connection."""
LARGE: Final = 50_000
STOP_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_LOG: Final = logging.getLogger(__name__)


class Dialling:
    """Connects *desk* with *host*, again and again; *say* tells a person what happens."""

    def __init__(self, desk: Desk, host: Host, say: Callable[[str], None]) -> None:
        self._desk, self._host, self._say = desk, host, say
        self._answering: dict[str, asyncio.Task[object]] = {}
        self._n_failures = 0
        self._reason = ""

    async def run(self) -> None:
        """Stay connected until cancelled.

        Raises:
            HostError: the game manager refuses the player, or another connection of the same player took over.
        """
        try:
            while True:
                await self._stay_connected()
        finally:
            for task in self._answering.values():
                task.cancel()

    async def _stay_connected(self) -> None:
        try:
            async with self._host.letters() as events:
                async for kind, letter in events:
                    await self._take(kind, letter)
            reason = "the game manager ended it"
        except HostAwayError as error:
            reason = str(error)
        self._n_failures += 1
        wait_s = backoff_s(self._n_failures, MAX_WAIT_IN_MATCH_S if self._desk.seats else MAX_WAIT_S)
        if reason != self._reason:
            self._reason = reason
            self._say(f"connection lost ({reason}); dialling again")
        await asyncio.sleep(wait_s)

    async def _take(self, kind: str, letter: DialledLetter | None) -> None:
        if kind == "connected":
            self._n_failures, self._reason = 0, ""
            self._say(f"connected to {self._host.url} as {self._host.name}")
        elif kind == "removed":
            raise HostError(self._host.url, f"the player {self._host.name} was removed")
        elif kind == "replaced":
            raise HostError(self._host.url, f"another program has connected as {self._host.name}; this one gives way")
        elif letter is not None and letter.id not in self._answering:
            await self._take_letter(letter)

    async def _take_letter(self, letter: DialledLetter) -> None:
        asked_s = time.monotonic() - letter.waited_s
        try:
            # A large one is read beside the event loop, and before the next: the messages of a match have an order.
            is_large = len(letter.text) > LARGE
            message = await asyncio.to_thread(read_message, letter.text) if is_large else read_message(letter.text)
        except MessageError as error:
            _LOG.warning("a message that cannot be read: %s", error)
            self._spawn(letter, self._post(letter, NO_ANSWER))
            return
        self._tell(message)
        if letter.answered is not None:
            await self._desk.answer(message, asked_s, letter.step, letter.answered)
            return
        self._spawn(letter, self._answer(letter, message, asked_s))

    def _spawn(self, letter: DialledLetter, work: Coroutine[None, None, object]) -> None:
        task = self._answering[letter.id] = asyncio.create_task(work)
        task.add_done_callback(lambda _: self._answering.pop(letter.id, None))

    async def _answer(self, letter: DialledLetter, message: Message, asked_s: float) -> None:
        reply = await self._desk.answer(message, asked_s, letter.step)
        if await self._post(letter, reply):
            self._desk.delivered(message)

    async def _post(self, letter: DialledLetter, reply: str) -> bool:
        for n_failures in range(1, MAX_TRIES + 1):
            try:
                await self._host.reply(letter.id, reply)
            except ReplyRefusedError as error:
                self._say(f"match {letter.match_id}, step {letter.step}: {error}")
                return False
            except HostAwayError:
                await asyncio.sleep(backoff_s(n_failures, MAX_WAIT_IN_MATCH_S))
            else:
                return True
        return False

    def _tell(self, message: Message) -> None:
        match message:
            case Start(match_id=match_id) if match_id not in self._desk.seats:
                self._say(f"match {match_id}: plays {message.role}")
            case Stop(match_id=match_id) if match_id in self._desk.seats:
                self._say(f"match {match_id}: is over")
            case Abort(match_id=match_id) if match_id in self._desk.seats:
                self._say(f"match {match_id}: was given up")


def backoff_s(n_failures: int, max_s: float) -> float:
    """Return how long to wait after so many failures in a row; by chance, so that many do not come back at once."""
    longest_s = min(max_s, FIRST_WAIT_S * 2 ** (n_failures - 1))
    return random.uniform(longest_s / 2, longest_s)


async def dialling(
    make_player: MakePlayer,
    settings: Settings,
    host: Host,
    say: Callable[[str], None],
    max_matches: int | None = None,
) -> None:
    """Register the player if *host* does not know it, and play what comes until cancelled.

    Raises:
        HostError: *host* refuses the player, or is no game manager.
        HostAwayError: *host* cannot be reached at first.
    """
    async with host:
        if host.is_exposed:
            say(f"warning: {host.url} is not encrypted: everybody on the way can read the token")
        registration = await host.register(max_matches)
        if registration.is_new:
            say(f"registered {host.name} at {host.url}")
        if registration.pause_reason is not None:
            say(f"warning: {host.name} is paused there and given no matches ({registration.pause_reason})")
        desk = Desk(make_player, settings)
        try:
            await Dialling(desk, host, say).run()
        finally:
            await desk.close()


def run(
    make_player: MakePlayer,
    settings: Settings,
    host: Host,
    say: Callable[[str], None],
    max_matches: int | None = None,
) -> None:
    """Dial in until Ctrl-C or SIGTERM; raises as `dialling`."""
    if is_worker_importing_main():
        return
    prepare_workers()
    start_warming()
    asyncio.run(_until_stopped(make_player, settings, host, say, max_matches))


async def _until_stopped(
    make_player: MakePlayer,
    settings: Settings,
    host: Host,
    say: Callable[[str], None],
    max_matches: int | None,
) -> None:
    work = asyncio.create_task(dialling(make_player, settings, host, say, max_matches))
    for number in STOP_SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, work.cancel)
    with suppress(asyncio.CancelledError):
        await work
