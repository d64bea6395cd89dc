"""Where a reply has said enough."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.wire.replies import decode, is_complete
from server.match.link import ReplyBuffer

BYTES = st.lists(st.sampled_from(b"() \n\r;ab(\xc3\xa9"), max_size=40).map(bytes)


@pytest.mark.parametrize(
    ("pieces", "raw"),
    [
        ([b"(mark 1 1) more"], b"(mark 1 1)"),
        ([b"(mark", b" 1 1) (x)"], b"(mark 1 1)"),
        ([b"noop", b" "], b"noop "),
        ([b" ; said (so)\n", b"(mark 1 1)"], b" ; said (so)\n(mark 1 1)"),
        ([b" ; said (so)\r(mark", b" 1 ; (\r1) more"], b" ; said (so)\r(mark 1 ; (\r1)"),
        ([b"\xef\xbb\xbf(mark 1 1)x"], b"\xef\xbb\xbf(mark 1 1)"),
        ([b")"], b")"),
    ],
)
def test_the_first_term_is_enough(pieces: list[bytes], raw: bytes) -> None:
    reply = ReplyBuffer()
    for piece in pieces:
        assert not reply.has_enough
        reply.feed(piece)
    assert (bytes(reply.raw), reply.has_enough, reply.is_cut) == (raw, True, False)


@pytest.mark.parametrize("unfinished", [b"", b"noop", b"(mark 1 1", b"; (mark 1 1)", b"((a)", b" \r\n\t"])
def test_what_may_go_on_is_not_enough(unfinished: bytes) -> None:
    reply = ReplyBuffer()
    reply.feed(unfinished)
    assert not reply.has_enough


def test_a_name_is_not_in_a_list_and_a_list_is() -> None:
    name, open_list = ReplyBuffer(), ReplyBuffer()
    name.feed(b"noop")
    open_list.feed(b"(mark (1")
    assert (name.is_in_list, open_list.is_in_list) == (False, True)


def test_the_limit_cuts() -> None:
    reply = ReplyBuffer(limit_bytes=5)
    for piece in (b"(abcd", b"efgh", b"", b")"):
        reply.feed(piece)
    assert (bytes(reply.raw), reply.is_cut, reply.is_complete) == (b"(abcd", True, False)


@given(BYTES, st.integers(1, 40))
def test_pieces_make_no_difference_and_the_reader_agrees(data: bytes, size: int) -> None:
    whole, pieces = ReplyBuffer(), ReplyBuffer()
    whole.feed(data)
    for i in range(0, len(data), size):
        pieces.feed(data[i : i + size])
    assert (whole.raw, whole.is_complete) == (pieces.raw, pieces.is_complete)
    assert whole.is_complete == is_complete(decode(data))
