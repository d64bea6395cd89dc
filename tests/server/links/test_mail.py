"""What a player is told of a letter."""

import pytest

from server.links.mail import Mail, keyword
from server.match.link import Letter, ReplyBuffer


def mail(text: str) -> Mail:
    return Mail("id", 1, Letter(text, "m.1", 3), ReplyBuffer())


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
def test_the_keyword_of_a_letter(text: str, message: str) -> None:
    assert keyword(Letter(text)) == message


@pytest.mark.parametrize(
    ("text", "legal_moves"),
    [
        ("(LEGAL m ((mark 1 1) noop))\n(PLAY m NIL)", ("(mark 1 1)", "noop")),
        ("(LEGAL m ())\n(PLAY m NIL)", ()),
        ("(LEGAL m ((\n(PLAY m NIL)", ()),
        ("(PLAY m (a b))", ()),
    ],
)
def test_the_legal_moves_are_told_apart_from_the_message(text: str, legal_moves: tuple[str, ...]) -> None:
    assert (mail(text).legal_moves, mail(text).text) == (legal_moves, text.splitlines()[-1])
