"""Commands that need a library of an extra say so where it is missing, and how to install it."""

from __future__ import annotations

import sys

import pytest

from gdl import extras
from tests.kit.server.commands.fixtures import Ggp


@pytest.mark.parametrize(
    ("library", "words", "message"),
    [
        ("torch", ("train", "tictactoe", "--minutes", "1", "-o", "net.pt"), "learning needs torch|learn"),
        ("pygls", ("lsp",), "the editor server needs pygls|lsp"),
        ("mcp", ("mcp",), "this needs mcp|llm"),
        ("resvg_py", ("show", "tictactoe", "--png", "-o", "board.png"), "a picture of pixels needs resvg_py|pictures"),
    ],
)
def test_the_command_says_how_to_install_it(
    library: str, words: tuple[str, ...], message: str, ggp: Ggp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.setattr(extras, "install_command", "pip adds {}".format)
    ended = ggp(*words)
    needs, extra = message.split("|")
    expected = f"ggp: {needs}, which is not installed: pip adds {extra}\n"
    assert (ended.exit_code, ended.output, ended.errors) == (2, "", expected)
