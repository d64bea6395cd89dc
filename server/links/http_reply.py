"""Replies of HTTP players, read as leniently as they are written: no input or output, only what to make of the bytes.

Real players send no length, a wrong type, HTTP/1.0 with the connection left open, bare line feeds. Whatever comes,
the outcome is a body, a wait for more, or `RemotePlayerError`.
"""

from __future__ import annotations

import re
from typing import Final, Protocol

from server.errors import RemotePlayerError
from server.match.link import ReplyBuffer

MAX_HEAD_BYTES: Final = 32 * 1024
_MAX_CHUNK_LINE_BYTES: Final = 1024
_PIECE_BYTES: Final = 8 * 1024
_STATUS: Final = re.compile(rb"HTTP/[0-9](?:\.[0-9])?[ \t]+([0-9]{3})(?![0-9])")
_HEAD_END: Final = re.compile(rb"\r?\n\r?\n")
_START: Final = b"HTTP/"


class _Framing(Protocol):
    @property
    def is_finished(self) -> bool: ...

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        """Return what of *data* belongs to the body, and what comes after its end."""


class HttpReply:
    """A reply as its bytes come in; the body goes into *body*."""

    def __init__(self, body: ReplyBuffer) -> None:
        self._body = body
        self._head = bytearray()
        self._framing: _Framing | None = None
        self._has_ended = False

    @property
    def is_finished(self) -> bool:
        """Whether nothing more is waited for; a list that is still open may exceed a length that was given wrong."""
        if self._has_ended or self._body.has_enough:
            return True
        return self._framing is not None and self._framing.is_finished and not self._body.is_in_list

    def feed(self, data: bytes) -> None:
        """Take bytes that came.

        Raises:
            RemotePlayerError: this is no HTTP reply, or one without a usable body.
        """
        # Piece by piece, so that not all of an endless reply is looked at.
        for i in range(0, len(data), _PIECE_BYTES):
            if self.is_finished:
                return
            self._feed_piece(data[i : i + _PIECE_BYTES])

    def _feed_piece(self, data: bytes) -> None:
        while data and self._framing is None:
            data = self._feed_head(data)
        if self._framing is not None:
            body, rest = self._framing.feed(data)
            self._body.feed(body)
            if self._body.is_in_list:
                self._body.feed(rest)

    def feed_end(self) -> None:
        """Take the end of the stream.

        Raises:
            RemotePlayerError: it came before the body.
        """
        if self._framing is None:
            raise RemotePlayerError(
                "the connection was closed in the head of the reply" if self._head else "closed without a reply"
            )
        self._has_ended = True

    def _feed_head(self, data: bytes) -> bytes:
        searched = max(0, len(self._head) - 4)
        self._head += data
        if not self._head.startswith(_START[: len(self._head)]):
            raise RemotePlayerError(f"no HTTP reply: it begins with {bytes(self._head[:20])!r}")
        end = _HEAD_END.search(self._head, searched)
        if end is None:
            if len(self._head) > MAX_HEAD_BYTES:
                raise RemotePlayerError(f"the head of the reply has more than {MAX_HEAD_BYTES:,} bytes")
            return b""
        rest = bytes(self._head[end.end() :])
        self._take_head(bytes(self._head[: end.start()]))
        return rest

    def _take_head(self, head: bytes) -> None:
        found = _STATUS.match(head)
        if found is None:
            raise RemotePlayerError(f"no HTTP reply: it begins with {head[:20]!r}")
        status = int(found[1])
        self._head.clear()
        if status >= 200:
            _check_status(status)
            fields = (line.partition(b":") for line in head.split(b"\n")[1:])
            self._framing = _framing({name.strip().lower(): value.strip() for name, _, value in fields})


def _check_status(status: int) -> None:
    if 300 <= status < 400:
        raise RemotePlayerError(f"HTTP status {status}: redirects are not followed")
    if status >= 300:
        raise RemotePlayerError(f"HTTP status {status}")


def _framing(fields: dict[bytes, bytes]) -> _Framing:
    if b"chunked" in fields.get(b"transfer-encoding", b"").lower():
        return _Chunks()
    length = fields.get(b"content-length", b"")
    # A length that is no number, or is absurd, says nothing: the stream's end decides then.
    return _Length(int(length)) if length.isdigit() and len(length) < 16 else _Stream()


class _Stream:
    """Everything up to the end of the stream."""

    is_finished = False

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        return data, b""


class _Length:
    """As many bytes as `Content-Length` says."""

    def __init__(self, n_bytes: int) -> None:
        self._n_missing = n_bytes

    @property
    def is_finished(self) -> bool:
        return self._n_missing <= 0

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        body, rest = data[: self._n_missing], data[self._n_missing :]
        self._n_missing -= len(body)
        return body, rest


class _Chunks:
    """Pieces with their lengths in hex digits before them; the last one is empty."""

    def __init__(self) -> None:
        self.is_finished = False
        self._line = bytearray()
        self._n_missing = 0

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        body = bytearray()
        i = 0
        while i < len(data) and not self.is_finished:
            if self._n_missing:
                piece = data[i : i + self._n_missing]
                body += piece
                self._n_missing -= len(piece)
                i += len(piece)
            else:
                i = self._feed_line(data, i)
        return bytes(body), data[i:]

    def _feed_line(self, data: bytes, start: int) -> int:
        newline = data.find(b"\n", start)
        end = len(data) if newline < 0 else newline
        self._line += data[start:end]
        if len(self._line) > _MAX_CHUNK_LINE_BYTES:
            raise RemotePlayerError("a chunk of the reply has no length")
        if newline >= 0:
            self._take_line(bytes(self._line).partition(b";")[0].strip())
            self._line.clear()
        return end + 1

    def _take_line(self, size: bytes) -> None:
        if not size:
            return  # the line end after a chunk
        if re.fullmatch(rb"[0-9A-Fa-f]{1,12}", size) is None:
            raise RemotePlayerError(f"a chunk of the reply has no length but {size[:20]!r}")
        self._n_missing = int(size, 16)
        self.is_finished = self._n_missing == 0
