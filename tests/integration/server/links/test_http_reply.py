"""Replies of HTTP players, good and odd, without a socket."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.links.errors import RemotePlayerError
from server.links.http_reply import (
    MAX_CHUNKS,
    MAX_FIELDS,
    MAX_HEAD_BYTES,
    MAX_INTERIM_HEADS,
    MAX_RECEIVED_BYTES,
    SLICE_BYTES,
    HttpReply,
)
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


@pytest.mark.parametrize(
    ("field", "failure", "insight"),
    [
        (b'ggp-player-insight: {"value": 5}', "", '{"value": 5}'),
        (b"GGP-Player-Insight: " + b"x" * 4_001, "", ""),
        (b"ggp-player-insight: caf\xe9", "", "caf\ufffd"),
        (b"GGP-Player-Failure: it fell ", "it fell", ""),
        (b"ggp-player-failure: caf\xe9", "caf\ufffd", ""),
        (b"ggp-player-failures: none", "", ""),
    ],
)
def test_what_a_player_tells_beside_its_reply_is_kept_within_a_limit(field: bytes, failure: str, insight: str) -> None:
    body = ReplyBuffer()
    HttpReply(body).feed(HEAD + field + b"\r\n\r\n(a)")
    assert (body.failure, body.insight, bytes(body.raw)) == (failure, insight, b"(a)")


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
        (HEAD + b"Content-Length: 000000000000004\r\n\r\nnoops", b"noop", True),
        (HEAD + b"Content-Length: 0000000000000004\r\n\r\nnoops", b"noops", False),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n(a b)", b"(a b)", True),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nno\r\n2;x=y\r\nop\r\n0\r\n\r\n", b"noop", True),
        (CHUNKED + b"5\r\n(a b)\r\n", b"(a b)", True),
        (CHUNKED + b"5\r\n(a b)\r\n\n", b"(a b)", True),
        (CHUNKED + b"5\r\n(a b)no end", b"(a b)", True),
        (CHUNKED + b"A\r\n(123456789\r\na\r\n123456789)", b"(123456789123456789)", True),
        (CHUNKED + b"10\r\n(a b c d e f gh)\r\n", b"(a b c d e f gh)", True),
        (CHUNKED + b"10\r\n(a b c d e f g h\r\n", b"(a b c d e f g h", False),
        (CHUNKED + b"4\r\n(a b\r\n0\r\n)", b"(a b)", True),
        (HEAD + b"garbage without a colon\r\n: x\r\n\r\n(a b)", b"(a b)", True),
    ],
)
def test_bodies_are_found_however_they_are_framed(data: bytes, body: bytes, is_finished: bool, size: int) -> None:
    assert read(data, size) == (body, is_finished)


@pytest.mark.parametrize(
    ("data", "body"),
    [
        (b"HTTP/1.1 100 Go\r\n\r\n" * MAX_INTERIM_HEADS + HEAD + b"\r\n(a)", b"(a)"),
        (HEAD + b"a: b\r\n" * MAX_FIELDS + b"\r\n(a)", b"(a)"),
        (HEAD.ljust(MAX_HEAD_BYTES, b"x") + b"\r\n\r\n(a)", b"(a)"),
        (CHUNKED + b"3;" + b"x" * 1021 + b"\r\n(a)", b"(a)"),
    ],
)
def test_as_much_as_a_limit_says_is_read(data: bytes, body: bytes) -> None:
    assert read(data) == (body, True)


def test_as_many_chunks_as_a_limit_says_are_read() -> None:
    assert read(CHUNKED + b"1\n(\n" + b"1\na\n" * (MAX_CHUNKS - 1)) == (b"(" + b"a" * (MAX_CHUNKS - 1), False)


def test_a_name_ends_where_the_length_says() -> None:
    assert read(HEAD + b"Content-Length: 4\r\n\r\nnoopXYZ") == (b"noop", True)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"SSH-2.0", "no HTTP reply: it begins with b'SSH-2.0'"),
        (b"SSH-2.0-OpenSSH_9.2p1 Debian", "no HTTP reply: it begins with b'SSH-2.0-OpenSSH_9.2p'"),
        (b"HTTP/9.9 a status in words\r\n\r\n", "no HTTP reply: it begins with b'HTTP/9.9 a status in'"),
        (b"\x00\xff", "no HTTP reply: it begins with b'\\x00\\xff'"),
        (b"HTTP/9.9 abc\r\n\r\n", "no HTTP reply: it begins with b'HTTP/9.9 abc'"),
        (b"HTTP/1.0 500 Oops\r\n\r\n(a b)", "HTTP status 500"),
        (b"HTTP/1.0 302 Found\r\nLocation: /x\r\n\r\n", "HTTP status 302: redirects are not followed"),
        (HEAD + b"a" * MAX_HEAD_BYTES, "the head of the reply has more than 32,768 bytes"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n", "a chunk of the reply has no length but b'xyz'"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"1" * 2000, "a chunk of the reply has no length"),
        (CHUNKED + b"123456789012345678901\r\n", "a chunk of the reply has no length but b'12345678901234567890'"),
        (CHUNKED + b"1\r\na\r\n\r\n", "a chunk of the reply has no length but b''"),
        (CHUNKED + b"3;" + b"x" * 1022 + b"\r\n(a)", "a chunk of the reply has no length"),
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
        (b"HTTP/1", "the connection was closed in the head of the reply"),
        (CHUNKED + b"(mark 1 1)", "a chunk of the reply has no length but b'(mark 1 1)'"),
    ],
)
def test_an_end_before_the_body_is_refused(data: bytes, message: str) -> None:
    reply = HttpReply(ReplyBuffer())
    reply.feed(data)
    with pytest.raises(RemotePlayerError) as raised:
        reply.feed_end()
    assert (str(raised.value), reply.is_finished) == (message, False)


@pytest.mark.parametrize(
    "data",
    [
        HEAD + b"\r\nnoop",
        HEAD + b"Content-Length: 9\r\n\r\nnoop",
        CHUNKED + b"4\r\nnoop",
        CHUNKED + b"4\r\nnoop\r\nno end",
    ],
)
def test_a_body_may_end_with_its_connection(data: bytes) -> None:
    body = ReplyBuffer()
    reply = HttpReply(body)
    reply.feed(data)
    reply.feed_end()
    assert (bytes(body.raw), reply.is_finished) == (b"noop", True)


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


PIECES: Final = st.lists(
    st.one_of(
        st.binary(max_size=30),
        st.sampled_from(
            [HEAD, b"\r\n", b"HTTP/1.1 100 C\r\n\r\n", b"Transfer-Encoding: chunked\r\n", b"5\r\n", b"(a", b"(a b)\r\n"]
        ),
        st.integers(-5, 99999).map(lambda n: b"Content-Length: %d\r\n" % n),
    ),
    max_size=12,
)


@given(PIECES)
def test_whatever_comes_is_a_body_or_a_remote_error(pieces: list[bytes]) -> None:
    reply = HttpReply(ReplyBuffer())
    with suppress(RemotePlayerError):
        for piece in pieces:
            reply.feed(piece)
        reply.feed_end()


def is_read(data: bytes, size: int) -> tuple[bytes, bool] | None:
    """Return what `read` does, None where it is no reply."""
    try:
        return read(data, size)
    except RemotePlayerError:
        return None


@given(st.sampled_from([b"", HEAD, CHUNKED]), PIECES)
def test_how_a_reply_is_cut_on_its_way_does_not_matter(head: bytes, pieces: list[bytes]) -> None:
    data = head + b"".join(pieces)
    assert [is_read(data, size) for size in (1, 3)] == [is_read(data, len(data) or 1)] * 2
