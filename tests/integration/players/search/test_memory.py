"""Kernels use no memory that was given back, and a search that begins has the memory that it needs at once."""

from __future__ import annotations

import ctypes
import mmap
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any, Final

import pytest
from numpy.typing import NDArray

from gdl.compiler.compiled import CompiledGame
from gdl.engines import make_game
from gdl.language.rules import read_rules
from players.search.evaluator import compiled_game_of
from players.search.tree.search import CompiledSearch
from players.search.tree.settings import SearchSettings
from tests.kit.players.weights import breakthrough

GONE_AT_ONCE: Final = {"MALLOC_MMAP_THRESHOLD_": "256"}
"""With this, glibc has the system take back whatever is as large, as soon as it is given back."""
GAME: Final = """
from gdl.compiler.compiled import CompiledState
from players.deadline import SearchBudget
from players.search.evaluator import compiled_game_of
from tests.kit.players.games import compiled
game = compiled_game_of(compiled("connectfour"))
"""
WORK: Final = {
    "plays": "found = game.playouts(game.initial_state, 2_000, seed=1).n_plays",
    "tree": """
from players.search.tree.search import CompiledSearch
search = CompiledSearch(game, 1)
search.think(game.initial_state, game.roles[0], SearchBudget(2_000))
found = search.counts["walks"]
""",
    "proofs": """
from players.search.proof.solver import ProofSearch
proofs = ProofSearch(game, 1)
proofs.solve(game.initial_state, game.roles[0], SearchBudget(2_000))
found = proofs.n_nodes
""",
}


@pytest.mark.sampled(3)
@pytest.mark.skipif(sys.platform != "linux", reason="the variable is one of glibc")
@pytest.mark.parametrize("work", WORK)
def test_kernels_use_no_memory_that_was_given_back(work: str) -> None:
    command = (sys.executable, "-c", f"{GAME}\n{WORK[work]}\nprint(found)")
    done = subprocess.run(command, env={**os.environ, **GONE_AT_ONCE}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "2000\n"), done.stderr


AT_ONCE: Final = """
(role left) (role right) (init start)
(<= (legal ?role low) (role ?role)) (<= (legal ?role high) (role ?role))
(<= (next over) (true start)) (<= terminal (true over)) (<= (goal ?role 50) (role ?role))
"""
"""A game in which both roles choose at once."""


def at_once() -> CompiledGame:
    """Return that game, compiled."""
    return compiled_game_of(make_game(read_rules(AT_ONCE), "compiled"))


def is_in_memory(array: NDArray[Any]) -> bool:
    """Return whether the system has given all whole pages of an array their memory."""
    page, address = mmap.PAGESIZE, array.ctypes.data
    begin, end = -(-address // page) * page, (address + array.nbytes) // page * page
    states = (ctypes.c_ubyte * ((end - begin) // page))()
    assert ctypes.CDLL(None, use_errno=True).mincore(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin), states) == 0
    return all(state & 1 for state in bytes(states))


@pytest.mark.skipif(sys.platform != "linux", reason="the call is one of Linux")
@pytest.mark.parametrize(
    ("make", "names"),
    [
        (breakthrough, {"table"}),
        (at_once, {"table", "joint_key", "joint_edge"}),
    ],
)
def test_a_search_that_begins_has_the_memory_of_its_tables(make: Callable[[], CompiledGame], names: set[str]) -> None:
    arrays = CompiledSearch(make(), 1, SearchSettings(memory_mb=64.0)).tree.arrays
    tables = {name: getattr(arrays, name) for name in ("table", "joint_key", "joint_edge")}
    assert {name for name, array in tables.items() if is_in_memory(array)} >= names  # others may have had it before
