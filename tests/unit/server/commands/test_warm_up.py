"""`ggp warm-up`: kernels are compiled once, and it is said how many were."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from numba.core import event

from gdl.compiler.kernels.jit import KERNELS, UNKEPT
from tests.kit.server.commands.fixtures import Ggp


def compile_some(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the first *n* kernels be compiled where those of the players are."""

    def warm_up_all() -> None:
        for dispatcher in KERNELS[:n]:
            with event.trigger_event("numba:compile", data={"dispatcher": dispatcher}):
                pass

    monkeypatch.setattr("players.stock.warm_up_all", warm_up_all)
    monkeypatch.setattr("players.environments.vector.load_environment_kernels", lambda: None)
    monkeypatch.setattr("players.learning.forest.load_forest_kernels", lambda: None)


def test_it_says_how_many_kernels_were_compiled(ggp: Ggp, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_some(3, monkeypatch)
    ended = ggp("warm-up")
    assert (ended.exit_code, ended.errors) == (0, "")
    assert re.fullmatch(r"3 kernels compiled, in \d+ s\n", ended.output)
    told = ggp("warm-up", "--json").output
    found = json.loads(told)
    assert (found["compiled"], found["kernels"], told) == (3, len(KERNELS), json.dumps(found, indent=2) + "\n")


def test_one_kernel_is_no_kernels(ggp: Ggp, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_some(1, monkeypatch)
    assert re.fullmatch(r"1 kernel compiled, in \d+ s\n", ggp("warm-up").output)


def test_a_second_time_there_is_nothing_to_do(ggp: Ggp, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_some(0, monkeypatch)
    assert ggp("warm-up").output == "all kernels are on disk already\n"


def test_where_the_disk_keeps_nothing_it_says_where_and_why(ggp: Ggp, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_some(2, monkeypatch)
    for dispatcher, folder in zip(KERNELS, ("engine", "players"), strict=False):
        monkeypatch.setitem(UNKEPT, dispatcher.py_func, (Path("/read-only", folder), "Read-only file system"))
    ended = ggp("warm-up", "--json")
    assert (ended.exit_code, json.loads(ended.output)["kept"], ended.errors) == (
        1,
        0,
        "ggp: 2 kernels could not be kept on disk below /read-only (Read-only file system); "
        "NUMBA_CACHE_DIR names another folder for them\n",
    )
