"""Replies of HTTP players, good and odd, without a socket."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.errors import RemotePlayerError
from server.links.http_reply import MAX_HEAD_BYTES, MAX_RECEIVED_BYTES, SLICE_BYTES, HttpReply
from server.match.link import ReplyBuffer
from tests.kit.tracing import lines_of

HEAD = b"HTTP/1.0 200 OK\r\n"


CHUNKED: Final = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
FLOODS: Final = {
    "line ends between chunks": (CHUNKED, b"\n"),
    "line ends with blanks between chunks": (CHUNKED, b" \r\n"),
    "empty extensions": (CHUNKED, b";\n"),
    "extensions": (CHUNKED, b"1;aaaaaaaa\r\n(\r\n"),
    "chunks of a byte": (CHUNKED, b"1\n(\n"),
    "chunks of a blank": (CHUNKED, b"1\n \n"),
    "chunks of a comment": (CHUNKED, b"2\n;\n\n"),
    "interim heads": (b"", b"HTTP/1 100\n\n"),
    "fields": (HEAD, b":\n"),
    "carriage returns in the head": (HEAD, b"\r"),
    "blanks": (HEAD + b"\n", b" "),
    "carriage returns": (HEAD + b"\n", b"\r"),
    "a name": (HEAD + b"\n", b"a"),
    "names": (HEAD + b"\n(", b"a "),
    "comments": (HEAD + b"\n", b";\n"),
    "comments in a list": (HEAD + b"\n(", b";)\n"),
    "pairs": (HEAD + b"\n(", b"()"),
    "open parentheses": (HEAD + b"\n", b"("),
}
"""How an endless reply begins, and how it goes on."""
MAX_LINES_PER_BYTE: Final = 4


def read(data: bytes, size: int = 1_000_000) -> tuple[bytes, bool]:
    """Return the body of the reply *data*, fed in pieces, and whether it was finished before the stream's end."""
    body = ReplyBuffer()
    reply = HttpReply(body)
    for i in range(0, len(data), size):
        if reply.is_finished:
            break
        reply.feed(data[i : i + size])
    return bytes(body.raw), reply.is_finished


@pytest.mark.parametrize(("told", "kept"), [(b'{"value": 5}', '{"value": 5}'), (b"x" * 4_001, ""), (b"", "")])
def test_what_a_player_thinks_is_kept_as_it_came_within_a_limit(told: bytes, kept: str) -> None:
    body = ReplyBuffer()
    HttpReply(body).feed(HEAD + b"ggp-player-insight: " + told + b"\r\n\r\n(a)")
    assert (body.insight, bytes(body.raw)) == (kept, b"(a)")


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize(
    ("data", "body", "is_finished"),
    [
        (HEAD + b"Content-Length: 4\r\n\r\nnoop", b"noop", True),
        (HEAD + b"Content-Type: image/png\r\n\r\n(a b)", b"(a b)", True),
        (HEAD + b"\r\nnoop", b"noop", False),
        (b"HTTP/1.1 200\n\n(a b)", b"(a b)", True),
        (b"HTTP/1 200 OK\r\ncontent-length : 4 \r\n\r\nnoop", b"noop", True),
        (HEAD + b"Content-Length: 3\r\n\r\n(a b)", b"(a b)", True),
        (HEAD + b"Content-Length: minus\r\n\r\nnoop", b"noop", False),
        (HEAD + b"Content-Length: 9\r\n\r\nnoop", b"noop", False),
        (HEAD + b"Content-Length: 0\r\n\r\n", b"", True),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n(a b)", b"(a b)", True),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nno\r\n2;x=y\r\nop\r\n0\r\n\r\n", b"noop", True),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n(a b)\r\n", b"(a b)", True),
        (HEAD + b"garbage without a colon\r\n: x\r\n\r\n(a b)", b"(a b)", True),
    ],
)
def test_bodies_are_found_however_they_are_framed(data: bytes, body: bytes, is_finished: bool, size: int) -> None:
    assert read(data, size) == (body, is_finished)


def test_a_name_ends_where_the_length_says() -> None:
    assert read(HEAD + b"Content-Length: 4\r\n\r\nnoopXYZ") == (b"noop", True)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"SSH-2.0", "no HTTP reply: it begins with b'SSH-2.0'"),
        (b"\x00\xff", "no HTTP reply: it begins with b'\\x00\\xff'"),
        (b"HTTP/9.9 abc\r\n\r\n", "no HTTP reply: it begins with b'HTTP/9.9 abc'"),
        (b"HTTP/1.0 500 Oops\r\n\r\n(a b)", "HTTP status 500"),
        (b"HTTP/1.0 302 Found\r\nLocation: /x\r\n\r\n", "HTTP status 302: redirects are not followed"),
        (HEAD + b"a" * MAX_HEAD_BYTES, "the head of the reply has more than 32,768 bytes"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n", "a chunk of the reply has no length but b'xyz'"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"1" * 2000, "a chunk of the reply has no length"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n\r\n", "a chunk of the reply has no length but b''"),
        (b"HTTP/1.1 100 Go\r\n\r\n" * 9, "more than 8 heads with a status of 1xx, and no reply"),
        (HEAD + b"a: b\r\n" * 101 + b"\r\n", "the head of the reply has more than 100 fields"),
        (CHUNKED + b"1\n \n" * 60_000, "the reply has more than 1,000 chunks"),
        (CHUNKED + b"1;x\n \n" * 60_000, "the reply has more than 1,000 chunks"),
        (CHUNKED + (b"1;" + b"x" * 300 + b"\n \n") * 900, "the reply has more than 196,608 bytes with its framing"),
    ],
)
def test_what_is_no_reply_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(RemotePlayerError) as raised:
        read(data)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "closed without a reply"),
        (b"HTTP/1", "the connection was closed"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n(mark 1 1)", r"a chunk of the reply has no length but b'\(mark"),
    ],
)
def test_an_end_before_the_body_is_refused(data: bytes, message: str) -> None:
    reply = HttpReply(ReplyBuffer())
    reply.feed(data)
    with pytest.raises(RemotePlayerError, match=message):
        reply.feed_end()


@pytest.mark.sampled(11)
@pytest.mark.parametrize("size", [1, 1000, 65_536])
@pytest.mark.parametrize("name", FLOODS)
def test_of_no_endless_reply_more_is_read_than_the_limit(name: str, size: int) -> None:
    head, piece = FLOODS[name]
    data = head + piece * (2 * MAX_RECEIVED_BYTES // len(piece))
    reply = HttpReply(ReplyBuffer())
    with suppress(RemotePlayerError):
        for i in range(0, len(data), size):
            reply.feed(data[i : i + size])
            if reply.is_finished:
                break
        else:
            pytest.fail("all of it was read")
    assert reply.n_received <= MAX_RECEIVED_BYTES + SLICE_BYTES


@pytest.mark.parametrize("name", FLOODS)
def test_the_work_for_a_slice_is_in_proportion_to_it(name: str) -> None:
    head, piece = FLOODS[name]
    reply = HttpReply(ReplyBuffer())
    reply.feed(head)
    for _ in range(4):
        data = (piece * SLICE_BYTES)[:SLICE_BYTES]

        def feed(data: bytes = data) -> None:
            with suppress(RemotePlayerError):
                reply.feed(data)

        assert lines_of(feed) <= MAX_LINES_PER_BYTE * SLICE_BYTES


@given(
    st.lists(
        st.one_of(
            st.binary(max_size=30),
            st.sampled_from(
                [HEAD, b"\r\n", b"HTTP/1.1 100 C\r\n\r\n", b"Transfer-Encoding: chunked\r\n", b"5\r\n", b"(a"]
            ),
            st.integers(-5, 99999).map(lambda n: b"Content-Length: %d\r\n" % n),
        ),
        max_size=12,
    )
)
def test_whatever_comes_is_a_body_or_a_remote_error(pieces: list[bytes]) -> None:
    reply = HttpReply(ReplyBuffer())
    with suppress(RemotePlayerError):
        for piece in pieces:
            reply.feed(piece)
        reply.feed_end()
