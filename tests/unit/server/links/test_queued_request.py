"""What a queued request says of itself."""

import pytest

from server.links.queued_request import QueuedRequest, keyword
from server.match.link import PlayerRequest, ReplyBuffer


def queued(text: str) -> QueuedRequest:
    return QueuedRequest("id", 1, PlayerRequest(text, "m.1", 3), ReplyBuffer())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(INFO)", "INFO"),
        ("(START m x ((role x)) 10 5)", "START"),
        ("(LEGAL m (a b))\n(PLAY m NIL)", "PLAY"),
        ("(abort m)", "ABORT"),
        ("", ""),
    ],
)
def test_the_keyword_of_a_request(text: str, message: str) -> None:
    assert keyword(PlayerRequest(text)) == message


@pytest.mark.parametrize(
    ("text", "legal_moves"),
    [
        ("(LEGAL m ((mark 1 1) noop))\n(PLAY m NIL)", ("(mark 1 1)", "noop")),
        ("(LEGAL m ())\n(PLAY m NIL)", ()),
        ("(LEGAL m ((\n(PLAY m NIL)", ()),
        ("(PLAY m (a b))", ()),
    ],
)
def test_the_legal_moves_are_split_from_the_message(text: str, legal_moves: tuple[str, ...]) -> None:
    assert (queued(text).legal_moves, queued(text).text) == (legal_moves, text.splitlines()[-1])
