"""Connections to players: how one is opened, and how much is read at a time.

`create_connection` takes some twelve turns of the event loop to open and close a connection, which most of a message to
a player was; `PlainConnection`, on readers and writers of the loop, takes one when the reply has come, and one before
when it is open, unless it is open at once, as on this machine. TLS is left to asyncio.

Reading is work of the event loop, which all matches share: the first reads are made at once, then each connection waits
for its turn. A short reply is never held up; players that go on sending share one slice of reading for each pause,
however many they are, and with it a fortieth of the time.
"""

import asyncio
import errno
import os
import socket
from collections import deque
from collections.abc import Callable
from typing import Any, Final
from weakref import WeakKeyDictionary

from server.links.http_reply import SLICE_BYTES

_UNDER_WAY: Final = (0, errno.EINPROGRESS)
N_FREE_READS: Final = 16
N_FREE_BYTES: Final = 4 * 1024
PAUSE_S: Final = 0.002
PAUSE_FACTOR: Final = 39
"""How many times as long as the last slices took the loop does other things before the next one."""
_SMOOTHING: Final = 0.25
"""How much the last slice counts in the mean."""
_NO_PROTOCOL: Final = asyncio.BufferedProtocol()
CallLater = Callable[[float, Callable[[], None]], Any]


class PlainConnection(asyncio.Transport):
    """A connection to the numeric *address* and *port* that is being opened, for *protocol*.

    The protocol gets `connection_made` when it is open, perhaps before this returns, then what comes, and
    `connection_lost` once, also where it could not be opened; nothing more when this side has aborted it. There is
    nothing to be written before it is open.

    Raises:
        OSError: it cannot even be begun.
    """

    def __init__(self, protocol: asyncio.BufferedProtocol, address: str, port: int) -> None:
        super().__init__()
        self._protocol, self._loop = protocol, asyncio.get_running_loop()
        self._unsent: memoryview = memoryview(b"")
        self._is_open = self._is_closing = self._is_reading = self._is_writing = False
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        # By its number: of what it does not know yet, the selector would print the whole socket into an error.
        self._number = self._socket.fileno()
        try:
            code = self._socket.connect_ex((address, port))
            if code not in _UNDER_WAY:
                raise OSError(code, os.strerror(code))
            if code == 0 or self._has_peer():
                self._open()
            else:
                self._start_writing()
        except BaseException:
            self.abort()
            raise

    def _has_peer(self) -> bool:
        try:
            self._socket.getpeername()
        except OSError:  # not yet, or no more: its writer will learn which
            return False
        return True

    def _open(self) -> None:
        self._is_open = True
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.resume_reading()
        self._protocol.connection_made(self)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send *data*, which is to be all that is sent; what does not go out at once follows as it can."""
        self._unsent = memoryview(data)
        self._send()
        if self._unsent:
            self._start_writing()

    def _write_ready(self) -> None:
        if self._is_open:
            self._send()
        else:
            code = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if code:
                self._lose(OSError(code, os.strerror(code)))
                return
            self._open()
        if not self._unsent:
            self._stop_writing()

    def _start_writing(self) -> None:
        if not self._is_writing:
            self._is_writing = True
            self._loop.add_writer(self._number, self._write_ready)

    def _stop_writing(self) -> None:
        if self._is_writing:
            self._is_writing = False
            self._loop.remove_writer(self._number)

    def _send(self) -> None:
        try:
            n_sent = self._socket.send(self._unsent)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            # The peer may have answered before it closed: reading tells, as it tells of the error.
            n_sent = len(self._unsent)
        self._unsent = self._unsent[n_sent:]

    def _read_ready(self) -> None:
        try:
            n_bytes = self._socket.recv_into(self._protocol.get_buffer(-1))
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._lose(error)
            return
        if n_bytes:
            self._protocol.buffer_updated(n_bytes)
        else:
            self._lose(None)

    def _lose(self, error: OSError | None) -> None:
        protocol = self._protocol
        self.abort()
        protocol.connection_lost(error)

    def pause_reading(self) -> None:
        """Read nothing until `resume_reading`."""
        if self._is_reading:
            self._is_reading = False
            self._loop.remove_reader(self._number)

    def resume_reading(self) -> None:
        """Read on."""
        if not self._is_reading and not self._is_closing:
            self._is_reading = True
            self._loop.add_reader(self._number, self._read_ready)

    def is_reading(self) -> bool:
        """Return whether it is read from."""
        return self._is_reading

    def is_closing(self) -> bool:
        """Return whether it is closed."""
        return self._is_closing

    def abort(self) -> None:
        """Close the connection at once, without waiting for the peer; the protocol is not called any more."""
        if self._is_closing:
            return
        self.pause_reading()
        self._is_closing = True
        self._stop_writing()
        self._socket.close()
        self._protocol = _NO_PROTOCOL  # which knows this transport: the cycle would outlive the message


class Turns:
    """The connections of an event loop that wait for their next slice: one reads after each pause, the first first.

    *call_later* is the event loop's.

    Attributes:
        slice: what all connections of the loop read into; what was read must be copied before anything else is.
    """

    def __init__(self, call_later: CallLater) -> None:
        self._call_later = call_later
        self.slice = memoryview(bytearray(SLICE_BYTES))
        self._slice_s = 0.0
        self._waiting: deque[asyncio.ReadTransport] = deque()

    def is_reading(self, transport: asyncio.ReadTransport) -> bool:
        """Return whether *transport* reads, as far as it says: pipes of early Pythons 3.11, as Debian's, do not."""
        try:
            return transport.is_reading()
        except NotImplementedError:
            return transport not in self._waiting

    def pause(self, transport: asyncio.ReadTransport, slice_s: float) -> None:
        """Let *transport*, whose last slice took *slice_s* seconds, read nothing until its turn comes."""
        self._slice_s += _SMOOTHING * (slice_s - self._slice_s)
        transport.pause_reading()
        self._waiting.append(transport)
        if len(self._waiting) == 1:
            self._call_later(self._pause_s, self._resume_next)

    @property
    def _pause_s(self) -> float:
        return max(PAUSE_S, PAUSE_FACTOR * self._slice_s)

    def _resume_next(self) -> None:
        while self._waiting and self._waiting[0].is_closing():
            self._waiting.popleft()
        if self._waiting:
            self._waiting.popleft().resume_reading()
        if self._waiting:
            self._call_later(self._pause_s, self._resume_next)


_TURNS: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, Turns]] = WeakKeyDictionary()


def turns() -> Turns:
    """Return the turns of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _TURNS:
        _TURNS[loop] = Turns(loop.call_later)
    return _TURNS[loop]


class PacedReading:
    """The reads of one connection; after the free ones for each message it waits for its turn before each."""

    def __init__(self, transport: asyncio.ReadTransport, turns: Turns) -> None:
        self._transport, self._turns = transport, turns
        self._n_reads = self._n_bytes = 0

    def begin(self) -> None:
        """Let the reply to a message begin."""
        self._n_reads = self._n_bytes = 0

    def note_read(self, n_bytes: int, slice_s: float = 0.0) -> None:
        """Note that *n_bytes* were read, which took *slice_s* seconds, and pause if that was enough for now."""
        self._n_reads += 1
        self._n_bytes += n_bytes
        is_free = self._n_reads <= N_FREE_READS and self._n_bytes <= N_FREE_BYTES
        if not is_free and self._turns.is_reading(self._transport):
            self._turns.pause(self._transport, slice_s)
