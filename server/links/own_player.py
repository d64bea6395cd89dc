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
from typing import BinaryIO, Final, Self, TypeAlias

from gdl.language.terms import Term
from gdl.process_limits import end_first, ending
from gdl.wire.messages import read_message
from players.kit.player_server import PlayerServer, Settings
from players.kit.worker import WorkerLimits
from players.registry import find_player
from server.links import http_player, queued_player, queued_request
from server.links.errors import PlayerStartError, RemotePlayerError
from server.match.link import PlayerRequest, ReplyBuffer
from server.threads import in_own_thread

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
            reply.feed(queued_player.AUTOMATIC_REPLIES.get(queued_request.keyword(request), b"available"))

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
        text = request.text.partition("\n")[2] if request.text.startswith(queued_request.LEGAL) else request.text
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


class _Output:
    """What a process prints, by a pipe of ours: asyncio closes one of its own only when no process has it any more."""

    def __init__(self, reader: asyncio.StreamReader, pipe: asyncio.ReadTransport) -> None:
        self.reader, self._pipe = reader, pipe

    @classmethod
    async def read(cls, file: BinaryIO) -> Self:
        """Begin to read *file*, the end of a pipe, which is closed with the output."""
        reader = asyncio.StreamReader(MAX_LINE_BYTES)
        pipe, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), file)
        return cls(reader, pipe)

    async def drain(self) -> None:
        """Read what is printed until `close`, so that it never holds up the process."""
        while await self.reader.read(65_536):
            pass

    def close(self) -> None:
        """Read nothing more."""
        self._pipe.close()


class OwnPlayer(http_player.HttpPlayer):
    """One of our players, running; it ends with `close`, and also when this process does, however that comes."""

    def __init__(self, url: str, spec: str, child: Process, output: _Output) -> None:
        super().__init__(url, spec)
        self._child, self._output = child, output
        self._draining = asyncio.create_task(output.drain())

    @property
    def process_id(self) -> int:
        """The id of the process that plays."""
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
        with suppress(ProcessLookupError):
            self._child.terminate()
        await _end(self._child)
        self._output.close()
        await self._draining


async def start_own_player(
    spec: str, max_matches: int | None = None, cores: frozenset[int] | None = None, seed: int | None = None
) -> OwnPlayer:
    """Start the player that *spec* names, as `ggp player` understands it, and wait until it listens.

    It plays *max_matches* at once, and *seed* makes its choices repeatable; None leaves either to `ggp player`. It
    runs on *cores* only, with all that it starts; None leaves that to the system.

    Raises:
        PlayerStartError: it ended, or did not say in time where it listens; no process is left.
    """
    numbers = {"--max-matches": max_matches, "--seed": seed}
    options = [word for name, number in numbers.items() if number is not None for word in (name, str(number))]
    child, output = await _started(*_command(), "player", spec, "--port", "0", "--until-eof", *options)
    if cores is not None:
        _pin(child.pid, cores)
    try:
        url = await _address(spec, output)
        if url is None:
            await _end(child)
    except BaseException:
        await _end(child, limit_s=0)
        output.close()
        raise
    if url is None:
        output.close()
        raise PlayerStartError(spec, f"its process {_ending(child)}")
    return OwnPlayer(url, spec, child, output)


def _pipe() -> tuple[BinaryIO, BinaryIO]:
    read_end, write_end = os.pipe()
    return os.fdopen(read_end, "rb", 0), os.fdopen(write_end, "wb", 0)


async def _started(*command: str) -> tuple[Process, _Output]:
    read_end, write_end = _pipe()
    with write_end:
        output = await _Output.read(read_end)
        # A session of its own: Ctrl-C is for the match, which then tells the player. The pipe to its standard input
        # ends with this process, and so does the player.
        try:
            child = await asyncio.create_subprocess_exec(
                *command, stdin=PIPE, stdout=write_end, env=package_environment(), start_new_session=True
            )
        except BaseException:
            output.close()
            raise
    end_first(child.pid)
    return child, output


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


async def _address(spec: str, output: _Output) -> str | None:
    """Return where a player says that it listens; None where its output ends before.

    Raises:
        PlayerStartError: it does not say so in time, or prints a line that is too long.
    """
    try:
        async with asyncio.timeout(START_LIMIT_S):
            while line := await output.reader.readline():
                found = _ADDRESS.match(line)
                if found is not None:
                    return found[1].decode("ascii", "replace")
    except TimeoutError:
        raise PlayerStartError(spec, f"it did not listen within {START_LIMIT_S:g} s") from None
    except ValueError:  # as `readline` raises it
        raise PlayerStartError(spec, f"it printed a line of more than {MAX_LINE_BYTES:,} bytes") from None
    return None


def _ending(child: Process) -> str:
    assert child.returncode is not None
    return ending(child.returncode)


async def _end(child: Process, limit_s: float = EXIT_LIMIT_S) -> None:
    # Else `wait` would go on as long as a process that left the group has the pipe.
    assert child.stdin is not None
    child.stdin.close()
    # In a task that was cancelled before, a time limit that cancels it is none under Python 3.11.2.
    await asyncio.wait([asyncio.ensure_future(child.wait())], timeout=limit_s)
    # The child itself may be gone, and others of its group still there.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    await child.wait()
