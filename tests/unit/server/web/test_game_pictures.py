"""Pictures of games without a board: what the rules and titles of others say is text, and nothing else."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from server.web.game_list import initial_picture, lines_picture


@pytest.mark.parametrize(
    ("picture", "texts"),
    [
        (lines_picture(["p: <b>", "q: \x0b\u202e", "x" * 40]), ["p: <b>", "q: ??", "x" * 34]),
        (lines_picture([str(n) for n in range(9)]), [str(n) for n in range(6)]),
        (initial_picture("\x0bodd"), ["?"]),
        (initial_picture("<b>"), ["<"]),
    ],
)
def test_text_of_others_is_text(picture: bytes, texts: list[str]) -> None:
    found = ElementTree.fromstring(picture)
    assert [one.text for one in found.iter("{http://www.w3.org/2000/svg}text")] == texts
