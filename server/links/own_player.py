"""Links to our own players: the simplest in this process, others in worker processes or processes that listen."""

import asyncio
import os
import re
import signal
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Final, TypeAlias

from gdl.language.terms import Term
from gdl.process import end_first, ending
from gdl.wire.messages import read_message
from players.kit.player_server import PlayerServer, Settings
from players.kit.worker import WorkerLimits
from players.registry import find_player
from server.errors import PlayerStartError, RemotePlayerError
from server.links import http_player, queued_player, request_queue
from server.match.link import PlayerRequest, ReplyBuffer
from server.match.referee import in_own_thread

Choose: TypeAlias = Callable[[Random, Sequence[Term]], Term]

IN_PROCESS: Final[Mapping[str, Choose]] = MappingProxyType(
    {"random": Random.choice, "legal": lambda _, moves: moves[0]}
)
"""How players that need no process of their own choose: as those of the same names in `players.simple` do."""


class InProcessPlayer:
    """The way to the player called *name*, one of `IN_PROCESS`; equal seeds make equal choices."""

    def __init__(self, name: str, seed: int | None = None) -> None:
        self._choose, self._random = IN_PROCESS[name], Random(seed)

    async def deliver(self, request: PlayerRequest, reply: ReplyBuffer) -> None:
        """Answer *request*: PLAY by one of its legal moves."""
        if request.answered is not None:
            reply.feed(request.answered.encode("utf-8", "replace"))
        elif request.legal_moves:
            reply.feed(str(self._choose(self._random, request.legal_moves)).encode("utf-8", "replace"))
        else:
            reply.feed(queued_player.AUTOMATIC_REPLIES.get(request_queue.keyword(request), b"available"))

    async def close(self) -> None:
        """Do nothing: nothing is held."""


LARGE_CHARACTERS: Final = 50_000
"""Longer messages, which bring large rules or many percepts, are read beside the event loop."""


class WorkerPlayer:
    """One of our players at one seat, named as *spec*; its process ends with `stop`, and with this process.

    Its choices are repeatable by *seed*.

    A process that dies is replaced, and the player goes on where it was.
    """

    def __init__(self, spec: str, limits: WorkerLimits, seed: int | None = None) -> None:
        settings = Settings(spec, max_matches=1, seed=seed, worker_limits=limits)
        self._server = PlayerServer(find_player(spec), settings)

    async def deliver(self, request: PlayerRequest, reply: ReplyBuffer) -> None:
        """Ask the player, which answers in time."""
        received_s = time.monotonic()
        text = request.text.partition("\n")[2] if request.text.startswith(request_queue.LEGAL) else request.text
        read = partial(read_message, text)
        message = read() if len(text) < LARGE_CHARACTERS else await in_own_thread(read)
        answer = await self._server.answer(message, received_s, request.step, request.answered)
        if answer.failure:
            reply.note_failure(answer.failure)
        reply.note_insight(answer.insight)
        reply.feed(answer.text.encode("utf-8", "replace"))
        answer.delivered()

    async def until_caught_up(self) -> None:
        """Wait until the player has taken in all messages so far, among them those that were answered before."""
        await self._server.until_caught_up()

    async def close(self) -> None:
        """Do nothing: `stop` ends the process."""

    async def stop(self) -> None:
        """End the process."""
        await self._server.close()


START_LIMIT_S: Final = 60.0
EXIT_LIMIT_S: Final = 3.0
_END_KNOWN_S: Final = 0.1
MAX_LINE_BYTES: Final = 1024 * 1024
"""How long a line of what it prints may be before it says where it listens."""
_ADDRESS: Final = re.compile(rb"listening on (http://\S+)")
_ROOT: Final = Path(__file__).resolve().parents[2]


class OwnPlayer(http_player.HttpPlayer):
    """One of our players, running; it ends with `close`, and also when this process does, however that comes."""

    def __init__(self, url: str, spec: str, child: Process) -> None:
        super().__init__(url, spec)
        self._child = child
        self._draining = asyncio.create_task(_drain(child))

    @property
    def process_id(self) -> int:
        """The process that plays."""
        return self._child.pid

    @property
    def has_ended(self) -> bool:
        """Whether the process is gone."""
        return self._child.returncode is not None

    async def deliver(self, request: PlayerRequest, reply: ReplyBuffer) -> None:
        """Ask the player as any over HTTP; of a process that is gone the error says so.

        Raises:
            RemotePlayerError: as there, or the process has ended.
            OSError: the connection failed.
        """
        try:
            await super().deliver(request, reply)
        except (OSError, RemotePlayerError) as error:
            with suppress(TimeoutError):  # a connection may be lost a moment before its process is known to be
                await asyncio.wait_for(self._child.wait(), _END_KNOWN_S)
            if not self.has_ended:
                raise
            raise RemotePlayerError(f"its process {_ending(self._child)}") from error

    async def stop(self) -> None:
        """End the process and everything that it started."""
        child = self._child
        assert child.stdin is not None
        child.stdin.close()
        with suppress(ProcessLookupError):
            child.terminate()
        await _end(child)
        try:
            await asyncio.wait_for(self._draining, EXIT_LIMIT_S)
        except TimeoutError:  # a process that left the group may have its output still
            child._transport.close()  # type: ignore[attr-defined]  # typeshed leaves it out; nothing else closes pipes


async def start_own_player(
    spec: str, max_matches: int | None = None, cores: frozenset[int] | None = None, seed: int | None = None
) -> OwnPlayer:
    """Start the player that *spec* names, as `ggp player` understands it, and wait until it listens.

    It plays *max_matches* at once, and *seed* makes its choices repeatable; None leaves either to `ggp player`. It
    runs on *cores* only, with all that it starts; None leaves that to the system.

    Raises:
        PlayerStartError: it ended, or did not say in time where it listens; no process is left.
    """
    # A session of its own: Ctrl-C is for the match, which then tells the player. The pipe to its standard input ends
    # with this process, and so does the player.
    numbers = {"--max-matches": max_matches, "--seed": seed}
    options = [word for name, number in numbers.items() if number is not None for word in (name, str(number))]
    child = await asyncio.create_subprocess_exec(
        *_command(), "player", spec, "--port", "0", "--until-eof", *options,
        stdin=PIPE, stdout=PIPE, env=package_environment(), start_new_session=True, limit=MAX_LINE_BYTES,
    )  # fmt: skip
    end_first(child.pid)
    if cores is not None:
        _pin(child.pid, cores)
    try:
        async with asyncio.timeout(START_LIMIT_S):
            url = await _address(child)
    except TimeoutError:
        await _end(child, limit_s=0)
        raise PlayerStartError(spec, f"it did not listen within {START_LIMIT_S:g} s") from None
    except ValueError:  # as `readline` raises it
        await _end(child, limit_s=0)
        raise PlayerStartError(spec, f"it printed a line of more than {MAX_LINE_BYTES:,} bytes") from None
    except BaseException:
        await _end(child, limit_s=0)
        raise
    if url is None:
        await _end(child)
        raise PlayerStartError(spec, f"its process {_ending(child)}")
    return OwnPlayer(url, spec, child)


def _pin(process_id: int, cores: frozenset[int]) -> None:
    """Keep a process that has just begun, and all that it will start, on *cores*."""
    with suppress(OSError):  # it has ended, which is found out elsewhere
        for thread in Path(f"/proc/{process_id}/task").iterdir():
            os.sched_setaffinity(int(thread.name), cores)


def _command() -> tuple[str, ...]:
    # -P keeps folders that happen to be called like our packages out of the way.
    return sys.executable, "-P", "-m", "server"


def package_environment() -> dict[str, str]:
    """Return the environment in which a child process finds the packages of this one."""
    paths = [str(_ROOT), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


async def _address(child: Process) -> str | None:
    assert child.stdout is not None
    while line := await child.stdout.readline():
        found = _ADDRESS.match(line)
        if found is not None:
            return found[1].decode("ascii", "replace")
    return None


def _ending(child: Process) -> str:
    assert child.returncode is not None
    return ending(child.returncode)


async def _drain(child: Process) -> None:
    assert child.stdout is not None
    while await child.stdout.read(65_536):
        pass


async def _end(child: Process, limit_s: float = EXIT_LIMIT_S) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(limit_s):
            await child.wait()
    # The child itself may be gone, and others of its group still there.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    await child.wait()
