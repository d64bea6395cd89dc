"""Of the replies of HTTP players only those with a status of 2xx count, whatever is in them."""

from __future__ import annotations

import pytest

from server.links.errors import RemotePlayerError
from server.links.http_reply import HttpReply
from server.match.link import ReplyBuffer


def body_of(status: int) -> bytes:
    body = ReplyBuffer()
    HttpReply(body).feed(b"HTTP/1.1 %d Word\r\nContent-Length: 5\r\n\r\n(a b)" % status)
    return bytes(body.raw)


@pytest.mark.parametrize("status", [200, 201, 204, 299])
def test_a_success_counts(status: int) -> None:
    assert body_of(status) == b"(a b)"


@pytest.mark.parametrize(("status", "is_finished"), [(204, True), (200, False)])
def test_after_no_content_nothing_is_waited_for(status: int, is_finished: bool) -> None:
    reply = HttpReply(ReplyBuffer())
    reply.feed(b"HTTP/1.1 %d Word\r\n\r\n" % status)
    assert reply.is_finished == is_finished


@pytest.mark.parametrize("status", [400, 401, 404, 405, 408, 413, 429, 499, 500, 503, 599, 999])
def test_an_error_does_not(status: int) -> None:
    with pytest.raises(RemotePlayerError) as raised:
        body_of(status)
    assert str(raised.value) == f"HTTP status {status}"


@pytest.mark.parametrize("status", [300, 301, 302, 307, 399])
def test_a_redirect_is_not_followed(status: int) -> None:
    with pytest.raises(RemotePlayerError) as raised:
        body_of(status)
    assert str(raised.value) == f"HTTP status {status}: redirects are not followed"
