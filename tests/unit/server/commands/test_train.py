"""`ggp train` where PyTorch is missing."""

from __future__ import annotations

import sys

import pytest

from tests.kit.server.commands.fixtures import Ggp


def test_without_pytorch_it_is_said_how_to_install_it(ggp: Ggp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    ended = ggp("train", "tictactoe", "--minutes", "1", "-o", "net.pt")
    message = "ggp: this needs PyTorch, which is not installed: pip install 'ggp[learn]'\n"
    assert (ended.exit_code, ended.output, ended.errors) == (2, "", message)
