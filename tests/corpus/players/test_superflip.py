"""Rubik's cube, from the position that takes most turns, is among the public rule files."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from typing import Final

import pytest

from gdl.compiler.compiled import CompiledState
from gdl.engines import make_game
from gdl.games.library import find_game
from players.search.evaluator import compiled_game_of
from players.search.planning.patterns.beams import BeamSearch
from players.search.planning.plans import checked_plan

ROOT: Final = Path(__file__).resolve().parents[3]
RULES: Final = ROOT / os.environ.get("GGP_SHARED", "../shared") / "conformance" / "rules" / "rubiksCubeSuperflip.kif"


@pytest.mark.exhaustive
@pytest.mark.skipif(not RULES.is_file(), reason=f"no public rules at {RULES}; GGP_SHARED names their folder")
def test_the_cube_is_solved_within_the_turns_that_its_rules_allow() -> None:
    game = compiled_game_of(make_game(find_game(str(RULES)).read(), "compiled"))
    assert isinstance(game.initial_state, CompiledState)
    packed = game.initial_state.packed
    search = BeamSearch(game, packed, Random(1))
    while not search.is_done:
        search.advance(100)
    plan = checked_plan(game, packed, search.plan)
    assert plan is not None
    assert plan.goal == 100
