"""`ggp lsp` where the package that it needs is missing; the server itself is tested in `tests/server/editor`."""

from __future__ import annotations

import importlib.util

import pytest

from tests.server.commands.conftest import Ggp


def test_without_pygls_the_command_says_how_to_install_it(ggp: Ggp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", {"click": object()}.get)
    ended = ggp("lsp")
    assert (ended.exit_code, ended.output) == (2, "")
    assert ended.errors.endswith("Error: the editor server needs pygls: pip install 'ggp[lsp]'\n")
