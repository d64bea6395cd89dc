"""Warming up."""

from __future__ import annotations

import pytest

from players.kit import forking
from players.kit.worker import prepare_workers, start_warming
from players.player import Player


class Slow(Player):
    preloaded = ("large.library",)


def test_the_modules_of_a_player_are_loaded_before_its_processes_are_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    monkeypatch.setattr(forking.CONTEXT, "set_forkserver_preload", loaded.extend)
    monkeypatch.setattr("players.kit.forking.forkserver.ensure_running", lambda: None)
    prepare_workers(Slow)
    assert loaded[-1] == "large.library"


def test_the_kernels_are_made_by_a_process_that_ends_by_itself() -> None:
    prepare_workers()
    process = start_warming(idle_s=0.0)
    assert process is not None
    process.join(120)
    assert process.exitcode == 0


def test_the_program_does_not_wait_for_it() -> None:
    process = start_warming(idle_s=1000.0)
    assert process is not None
    assert process.daemon
    process.terminate()
    process.join(10)
    assert process.exitcode is not None
