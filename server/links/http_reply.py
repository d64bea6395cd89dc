"""Replies of HTTP players, read as leniently as they are written: no input or output, only what to make of the bytes.

Real players send no length, a wrong type, HTTP/1.0 with the connection left open, bare line feeds. Whatever comes,
the outcome is a body, a wait for more, or `RemotePlayerError`.
"""

import re
from http import HTTPStatus
from typing import Final, Protocol

from gdl.wire.insights import INSIGHT_HEADER
from server.links.errors import HttpStatusError, RemotePlayerError
from server.match.link import ReplyBuffer

MAX_HEAD_BYTES: Final = 32 * 1024
MAX_FIELDS: Final = 100
MAX_INTERIM_HEADS: Final = 8
"""How many heads with a status of 1xx may come before the one that counts."""
MAX_RECEIVED_BYTES: Final = 192 * 1024
"""How much is read of a reply with all its framing; its body has a limit of its own, which is lower."""
SLICE_BYTES: Final = 4 * 1024
"""How much is looked at in one go."""
MAX_CHUNKS: Final = 1_000
"""How many chunks a reply may have: each costs as much time as hundreds of bytes."""
_MAX_CHUNK_LINE_BYTES: Final = 1024
_CHUNK_LINE: Final = re.compile(rb"\r?\n([0-9A-Fa-f]{1,12})(?:;[^\n]{0,200})?\r?\n")
"""The end of a chunk and the length of the next one, as nearly all are written."""
_STATUS: Final = re.compile(rb"HTTP/[0-9](?:\.[0-9])?[ \t]+([0-9]{3})(?![0-9])")
_HEAD_END: Final = re.compile(rb"\r?\n\r?\n")
_FAILURE: Final = b"ggp-player-failure"
"""The field in which players of our kit tell what went wrong in their author's code."""
_INSIGHT: Final = INSIGHT_HEADER.lower().encode()
_FIELD: Final = re.compile(
    rb"\n[ \t\r\f\v]*(content-length|transfer-encoding|%s|%s)[ \t\r\f\v]*:([^\n]*)" % (_FAILURE, re.escape(_INSIGHT)),
    re.IGNORECASE,
)
"""A field that says something to us; most players send more."""
_START: Final = b"HTTP/"


class _Framing(Protocol):
    @property
    def is_finished(self) -> bool: ...

    @property
    def refusal(self) -> str:
        """Why what came last is no part of a reply, if it is none: what came before it may be the whole of one."""

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        """Return what of *data* belongs to the body, and what comes after its end."""

    def feed_end(self) -> None: ...


class HttpReply:
    """A reply as its bytes come in; the body goes into *body*."""

    def __init__(self, body: ReplyBuffer) -> None:
        self._body = body
        self._head = bytearray()
        self._framing: _Framing | None = None
        self._has_ended = False
        self._n_interim_heads = self._n_received = 0

    @property
    def n_received(self) -> int:
        """How many bytes were looked at."""
        return self._n_received

    @property
    def is_finished(self) -> bool:
        """Whether nothing more is waited for; a list that is still open may exceed a length that was given wrong."""
        if self._has_ended or self._body.has_enough:
            return True
        return self._framing is not None and self._framing.is_finished and not self._body.is_in_list

    def feed(self, data: bytes) -> None:
        """Take bytes that came.

        Raises:
            RemotePlayerError: this is no HTTP reply, one without a usable body, or one longer than any may be.
        """
        # Slice by slice, so that not all of an endless reply is looked at.
        for i in range(0, len(data), SLICE_BYTES):
            if self.is_finished:
                return
            piece = data[i : i + SLICE_BYTES]
            self._n_received += len(piece)
            if self._n_received > MAX_RECEIVED_BYTES:
                raise RemotePlayerError(f"the reply has more than {MAX_RECEIVED_BYTES:,} bytes with its framing")
            self._feed_piece(piece)

    def _feed_piece(self, data: bytes) -> None:
        while data and self._framing is None:
            data = self._feed_head(data)
        if self._framing is not None:
            body, rest = self._framing.feed(data)
            self._body.feed(body)
            self._check_framing(self._framing)
            if self._body.is_in_list:
                self._body.feed(rest)

    def _check_framing(self, framing: _Framing) -> None:
        if framing.refusal and not self._body.has_enough:
            raise RemotePlayerError(framing.refusal)

    def feed_end(self) -> None:
        """Take the end of the stream.

        Raises:
            RemotePlayerError: it came before the body.
        """
        if self._framing is None:
            raise RemotePlayerError(
                "the connection was closed in the head of the reply" if self._head else "closed without a reply"
            )
        self._framing.feed_end()
        self._check_framing(self._framing)
        self._has_ended = True

    def _feed_head(self, data: bytes) -> bytes:
        """Take bytes of the head, and return those after its end."""
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
        """Read a whole head: the status, how the body is framed, what the player tells beside it."""
        found = _STATUS.match(head)
        if found is None:
            raise RemotePlayerError(f"no HTTP reply: it begins with {head[:20]!r}")
        status = int(found[1])
        self._head.clear()
        if head.count(b"\n") > MAX_FIELDS:
            raise RemotePlayerError(f"the head of the reply has more than {MAX_FIELDS} fields")
        if status < 200:
            self._n_interim_heads += 1
            if self._n_interim_heads > MAX_INTERIM_HEADS:
                raise RemotePlayerError(f"more than {MAX_INTERIM_HEADS} heads with a status of 1xx, and no reply")
        else:
            _check_status(status)
            fields = {name.lower(): value.strip() for name, value in _FIELD.findall(head)}
            self._framing = _framing(fields, status)
            self._body.note_failure(fields.get(_FAILURE, b"").decode("ascii", "replace"))
            self._body.note_insight(fields.get(_INSIGHT, b"").decode("ascii", "replace"))


def _check_status(status: int) -> None:
    if status >= 300:
        raise HttpStatusError(status)


def _framing(fields: dict[bytes, bytes], status: int) -> _Framing:
    if b"chunked" in fields.get(b"transfer-encoding", b"").lower():
        return _Chunks()
    length = fields.get(b"content-length", b"")
    # A length that is no number, or is absurd, says nothing: the stream's end decides then.
    if length.isdigit() and len(length) < 16:
        return _Length(int(length))
    return _Length(0) if status == HTTPStatus.NO_CONTENT else _Stream()


class _Stream:
    """Everything up to the end of the stream."""

    is_finished = False
    refusal = ""

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        return data, b""

    def feed_end(self) -> None:
        """Do nothing: it is the end of the body."""


class _Length:
    """As many bytes as `Content-Length` says."""

    refusal = ""

    def __init__(self, n_bytes: int) -> None:
        self._n_missing = n_bytes

    @property
    def is_finished(self) -> bool:
        return self._n_missing <= 0

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        body, rest = data[: self._n_missing], data[self._n_missing :]
        self._n_missing -= len(body)
        return body, rest

    def feed_end(self) -> None:
        """Do nothing: many players give a length that is wrong."""


class _Chunks:
    """Pieces with their lengths in hex digits before them; the last one is empty."""

    def __init__(self) -> None:
        self.is_finished = False
        self.refusal = ""
        self._line = bytearray()
        self._n_missing = self._n_chunks = 0
        self._is_after_piece = False

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        """Return the body in *data*, and what comes after the last chunk."""
        body = bytearray()
        i = 0
        while i < len(data) and not self.is_finished and not self.refusal:
            if self._n_missing:
                piece = data[i : i + self._n_missing]
                body += piece
                self._n_missing -= len(piece)
                self._is_after_piece = True
                i += len(piece)
            elif self._is_after_piece and not self._line and (usual := _CHUNK_LINE.match(data, i)) is not None:
                self._take_size(usual[1])
                i = usual.end()
            else:
                i = self._feed_line(data, i)
        if self._n_chunks > MAX_CHUNKS:
            self.refusal = f"the reply has more than {MAX_CHUNKS:,} chunks"
        return bytes(body), data[i:]

    def feed_end(self) -> None:
        """Refuse a body that is not in chunks: nothing of it was read."""
        if not self._n_chunks and self._line:
            self._take_line(bytes(self._line).strip())

    def _feed_line(self, data: bytes, start: int) -> int:
        """Take bytes of the line before a chunk, and return where the next ones begin."""
        newline = data.find(b"\n", start)
        end = len(data) if newline < 0 else newline
        self._line += data[start:end]
        if len(self._line) > _MAX_CHUNK_LINE_BYTES:
            self.refusal = "a chunk of the reply has no length"
        elif newline >= 0:
            self._take_line(bytes(self._line).partition(b";")[0].strip())
            self._line.clear()
        return end + 1

    def _take_line(self, size: bytes) -> None:
        is_line_end, self._is_after_piece = self._is_after_piece and not self._line.strip(), False
        if is_line_end:
            return
        if re.fullmatch(rb"[0-9A-Fa-f]{1,12}", size) is None:
            self.refusal = f"a chunk of the reply has no length but {size[:20]!r}"
        else:
            self._take_size(size)

    def _take_size(self, size: bytes) -> None:
        self._n_chunks, self._n_missing = self._n_chunks + 1, int(size, 16)
        self.is_finished = self._n_missing == 0
