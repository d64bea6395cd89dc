"""Child processes as players: a line in on standard input, a line out on standard output, for one match.

Every line that the child gets is one message, and it answers each with exactly one line (but for `(LEGAL ...)`, which
goes before PLAY where a profile asks for it). A line that comes when its deadline is over is skipped when it comes, so
that no reply is taken for the answer to a later message. Lines that begin with a semicolon are comments and no answers;
one may tell what the player thinks.
"""

import asyncio
import os
import re
import shlex
import signal
import sys
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from gdl.process_limits import end_first, ending
from gdl.wire.insights import MAX_INSIGHT, TAKES_INSIGHT, commented_insight, insight_comment
from server.links.connection import PacedReading, turns
from server.links.errors import PlayerSpecError, RemotePlayerError
from server.match.link import PlayerRequest, ReplyBuffer, end_of

MAX_COMPLAINT_BYTES: Final = 256 * 1024
"""How much of a child's standard error is passed on."""
MAX_UNREAD_BYTES: Final = 1024 * 1024
"""How much may wait for a child that does not read, beside the message that it should read next."""
MAX_COMMENT_BYTES: Final = MAX_INSIGHT + 100
"""How much of a comment is kept."""
MAX_UNASKED_BYTES: Final = 200
"""How much is kept of what a child writes unasked."""
EXIT_LIMIT_S: Final = 0.5
_STDIN, _STDOUT, _STDERR = 0, 1, 2
# Without `)*+`, after which Python before 3.11.5 has skipped a part of what does not match.
_SKIPPED: Final = re.compile(rb"(?:\s++|;[^\r\n]*+[\r\n])*")
_INSIGHT: Final = insight_comment("").rstrip().encode()
_LINE: Final = re.compile(rb"[^\r\n]*+(?:\r\n|\r|\n)?")

Complain: TypeAlias = Callable[[bytes], None]


def to_stderr(complaint: bytes) -> None:
    """Pass on what a child says on standard error."""
    sys.stderr.write(complaint.decode("utf-8", "replace"))


class ChildPlayer:
    """The player that the program *command* is; it is started with the first message.

    What it writes on standard error goes to *complain*, up to a limit. No shell is involved.

    Raises:
        PlayerSpecError: *command* names no program.
    """

    def __init__(self, command: str | Sequence[str], complain: Complain = to_stderr) -> None:
        self._arguments = _arguments(command)
        self._complain = complain
        self._child: _Child | None = None

    async def deliver(self, request: PlayerRequest, reply: ReplyBuffer) -> None:
        """Write *request* and wait for the line that answers it.

        Raises:
            OSError: the program cannot be started.
            RemotePlayerError: it has ended, or does not read.
        """
        if self._child is None:
            self._child = await _start(self._arguments, self._complain)
        await self._child.check()
        owed = self._child.say(request.text, reply)
        try:
            await owed.came.wait()
        finally:
            owed.reply = None
            if not self._child.has_written:
                reply.note_hint("does the program flush its output?")
        if not reply.raw:
            await self._child.check()

    @property
    def unasked(self) -> bytes:
        """The beginning of what the child has written when no line was owed; nothing in a match goes by it."""
        return b"" if self._child is None else bytes(self._child.unasked)

    async def close(self) -> None:
        """End the child and everything that it started; a moment is given to it to end by itself."""
        if self._child is not None:
            await self._child.end()


@dataclass(eq=False, slots=True)
class _OwedLine:
    """A line that the child owes; `reply` is None when the wait for it is over."""

    reply: ReplyBuffer | None
    came: asyncio.Event = field(default_factory=asyncio.Event)


class _Child(asyncio.SubprocessProtocol):
    """A running child and the lines that it owes, the oldest first.

    `has_written` is whether any output came, `unasked` the beginning of that which no line was owed for.
    """

    def __init__(self, complain: Complain) -> None:
        self.has_written = False
        self.unasked = bytearray()
        self._complain = complain
        self._n_complaint_bytes_left = MAX_COMPLAINT_BYTES
        self._owed: deque[_OwedLine] = deque()
        self._is_at_line_start = True
        self._comment: bytearray | None = None
        self._has_closed_output = False
        self._has_exited = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport
        stdin = transport.get_pipe_transport(_STDIN)
        assert isinstance(stdin, asyncio.WriteTransport)
        self._stdin = stdin
        self._readings = {fd: _paced(transport, fd) for fd in (_STDOUT, _STDERR)}

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._readings[fd].note_read(len(data))
        if fd == _STDOUT:
            self.has_written = True
            self._take(data)
        elif self._n_complaint_bytes_left > 0:
            self._complain(data[: self._n_complaint_bytes_left])
            self._n_complaint_bytes_left -= len(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002 -- the caller's signature
        if fd == _STDOUT:
            self._has_closed_output = True
            for owed in self._owed:
                owed.came.set()

    def process_exited(self) -> None:
        self._has_exited.set()

    def _take(self, data: bytes) -> None:
        """Take the lines that are owed; blank lines, comments, and what was not asked for, are skipped in one go."""
        start = 0
        while self._owed and start < len(data):
            if self._is_at_line_start:
                skipped_from, start = start, end_of(_SKIPPED, data, start)
                self._note_insight(data[skipped_from:start])
            end = end_of(_LINE, data, start)
            if end > start:
                self._take_piece(data[start:end])
            start = end
        if start < len(data):
            self._note_unasked(data[start:])

    def _note_unasked(self, data: bytes) -> None:
        """Note what came while no line was owed, blank lines and comments left out."""
        rest = data[end_of(_SKIPPED, data, 0) :]
        if not rest.startswith(b";"):
            self.unasked += rest[: MAX_UNASKED_BYTES - len(self.unasked)]

    def _take_piece(self, piece: bytes) -> None:
        """Take a line that is owed, or a part of it."""
        owed = self._owed[0]
        if self._is_at_line_start and piece.startswith(b";"):
            self._comment = bytearray()
        self._is_at_line_start = piece.endswith((b"\n", b"\r"))
        if self._comment is not None:
            self._take_comment(self._comment, piece)
            return
        if owed.reply is not None:
            owed.reply.feed(piece)
        if self._is_at_line_start:
            self._owed.popleft()
        if self._is_at_line_start or (owed.reply is not None and owed.reply.has_enough):
            owed.came.set()

    def _take_comment(self, comment: bytearray, piece: bytes) -> None:
        """Take a part of a comment, which is no answer."""
        comment += piece[: MAX_COMMENT_BYTES - len(comment)]
        if self._is_at_line_start:
            self._comment = None
            self._note_insight(bytes(comment))

    def _note_insight(self, comments: bytes) -> None:
        """Note what the last of *comments* with an insight tells."""
        reply = self._owed[0].reply
        start = comments.rfind(_INSIGHT)
        if reply is not None and start >= 0:
            line = comments[start : end_of(_LINE, comments, start)]
            reply.note_insight(commented_insight(line.decode("ascii", "replace")))

    async def check(self) -> None:
        """Raise RemotePlayerError when the child can no longer be talked to."""
        n_unread = self._stdin.get_write_buffer_size()
        if n_unread > MAX_UNREAD_BYTES:
            raise RemotePlayerError(f"the child process does not read: {n_unread:,} bytes wait for it")
        if self._has_closed_output:
            await self._wait_for_exit()
            code = self._transport.get_returncode()
            how = "has closed its output" if code is None else ending(code)
            raise RemotePlayerError(f"the child process {how}")

    def say(self, text: str, reply: ReplyBuffer) -> _OwedLine:
        """Write the line or lines *text*, and return the line that is owed for it."""
        owed = _OwedLine(reply)
        self._owed.append(owed)
        for reading in self._readings.values():
            reading.begin()
        self._stdin.write(f"{text}\n".encode())
        return owed

    async def end(self) -> None:
        """Close the child's input, give it a moment, and end its process group."""
        self._stdin.close()
        await self._wait_for_exit()
        # The child itself may be gone, and others of its group still there.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._transport.get_pid(), signal.SIGKILL)
        await self._wait_for_exit()
        # A program of another user, as by sudo, may not be ended: it is left to its closed pipes.
        with suppress(PermissionError):
            self._transport.close()

    async def _wait_for_exit(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._has_exited.wait(), EXIT_LIMIT_S)


def _paced(transport: asyncio.SubprocessTransport, fd: int) -> PacedReading:
    pipe = transport.get_pipe_transport(fd)
    assert isinstance(pipe, asyncio.ReadTransport)
    return PacedReading(pipe, turns())


async def _start(arguments: tuple[str, ...], complain: Complain) -> _Child:
    # A session of its own makes the child and its own children one process group, which can be ended as one.
    transport, child = await asyncio.get_running_loop().subprocess_exec(
        lambda: _Child(complain), *arguments, env={**os.environ, TAKES_INSIGHT: "1"}, start_new_session=True
    )
    end_first(transport.get_pid())
    return child


def _arguments(command: str | Sequence[str]) -> tuple[str, ...]:
    try:
        arguments = tuple(shlex.split(command) if isinstance(command, str) else command)
    except ValueError as error:
        raise PlayerSpecError(str(command), str(error)) from error
    if not arguments or any("\0" in argument for argument in arguments):
        raise PlayerSpecError(str(command), "a program and its arguments expected")
    return arguments
