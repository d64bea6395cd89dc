"""Kernels use no memory that was given back: where that is gone at once they would end their process."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Final

import pytest

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
