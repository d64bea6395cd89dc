"""The player `net` before PyTorch is there."""

from __future__ import annotations

import importlib
import threading

import pytest

from players.learning import player
from players.learning.player import NetPlayer
from players.registry import PlayerMaker
from tests.kit.players.games import game


def test_pytorch_is_loaded_by_the_main_thread_before_the_match_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the clock it would keep the alarm from the main thread."""
    loaded: list[tuple[str, threading.Thread]] = []
    monkeypatch.setattr(player, "check_extra", lambda *_: None)
    monkeypatch.setattr(importlib, "import_module", lambda name: loaded.append((name, threading.current_thread())))
    monkeypatch.setattr(NetPlayer, "_made", lambda _: None)
    of = game("tictactoe")
    NetPlayer("four.pt").join(of, of.roles[0], 1)
    assert loaded == [("players.learning.checkpoints", threading.main_thread())]


def test_the_process_that_its_own_are_forked_from_loads_pytorch() -> None:
    assert PlayerMaker("net:four.pt", "players.learning.player", "NetPlayer").preloaded == (
        "players.learning.checkpoints",
    )
