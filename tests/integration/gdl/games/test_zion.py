"""The generator of Zion: what it makes is what the library holds, of any size, and sound."""

from __future__ import annotations

import random

import pytest

from gdl.boards.metadata import metadata_of
from gdl.engines import make_game
from gdl.errors import SizeError
from gdl.games.library import find_game
from gdl.games.zion import MAX_ROBOTS, ZionArena, default_turns, score, zion_metadata, zion_rules
from gdl.language.rules import read_rules

LIBRARY = {
    "zion": ZionArena(rows=8, columns=10, robots=6, turns=40, seed=6),
    "zionsmall": ZionArena(rows=4, columns=4, robots=2, turns=20, seed=2),
}
SHAPES = [
    ZionArena(1, 2, 1, 1),
    ZionArena(7, 1, 1, 3),
    ZionArena(2, 2, 12, 5, 8),
    ZionArena(20, 30, 25, default_turns(25), 4),
]


@pytest.mark.parametrize("name", LIBRARY)
def test_the_library_holds_what_the_generator_makes(name: str) -> None:
    path = find_game(name).path
    made = zion_rules(LIBRARY[name]), zion_metadata(LIBRARY[name])
    assert (path.read_text(encoding="utf-8"), path.with_suffix(".toml").read_text(encoding="utf-8")) == made


@pytest.mark.sampled(3)
@pytest.mark.parametrize("arena", SHAPES)
def test_an_arena_of_any_shape_can_be_played_to_its_end(arena: ZionArena) -> None:
    game = make_game(read_rules(zion_rules(arena)))
    rng = random.Random(arena.seed)
    state = game.initial_state
    n_steps = 0
    while not state.is_terminal:
        state = state.next_state([rng.choice(state.legal_moves(role)) for role in game.roles])
        n_steps += 1
    assert n_steps <= arena.turns * (arena.robots + 2)
    assert state.goal(game.roles[0]) in {0, *(score(n, arena.robots) for n in range(arena.robots + 1))}


@pytest.mark.parametrize("arena", SHAPES)
def test_the_description_of_any_arena_is_one_that_can_be_read(arena: ZionArena) -> None:
    board = metadata_of(zion_metadata(arena).encode()).board
    names = [tuple(map(str, range(1, n + 1))) for n in (arena.columns, arena.rows)]
    assert [board.columns, board.rows] == names


@pytest.mark.parametrize("robots", [1, 2, 6, MAX_ROBOTS])
def test_each_robot_destroyed_adds_to_the_goal_up_to_100(robots: int) -> None:
    goals = [score(destroyed, robots) for destroyed in range(robots + 1)]
    assert (goals == sorted(set(goals)), goals[0] > 0, goals[-1]) == (True, True, 100)


def test_no_robot_begins_in_the_players_cell_or_outside() -> None:
    cells = {cell for seed in range(50) for cell in ZionArena(2, 3, 9, 1, seed).robot_cells}
    assert cells == {(x, y) for x in (1, 2, 3) for y in (1, 2)} - {ZionArena(2, 3, 9, 1).player}


@pytest.mark.parametrize(
    ("shape", "what"),
    [
        ((0, 4, 1, 1), "rows"),
        ((4, 101, 1, 1), "columns"),
        ((1, 1, 1, 1), "cells"),
        ((4, 4, 0, 1), "robots"),
        ((4, 4, 100, 1), "robots"),
        ((4, 4, 1, 0), "turns"),
    ],
)
def test_an_arena_out_of_range_is_refused(shape: tuple[int, int, int, int], what: str) -> None:
    with pytest.raises(SizeError) as refused:
        ZionArena(*shape)
    assert refused.value.what == what
