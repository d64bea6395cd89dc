"""Amazons: moves, arrows, counts and the end."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from gdl.game import State
from tests.kit.players.games import game
from tests.kit.rules.positions import after, facts, goals, legal, position

Cell = tuple[int, int]

AMAZONS = game("amazons")
WHITE = frozenset({(1, 4), (4, 1), (7, 1), (10, 4)})
BLACK = frozenset({(1, 7), (4, 10), (7, 10), (10, 7)})
DIRECTIONS = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy]

BLACK_IS_SHUT_IN = """
    (cell 1 1 black) (cell 1 2 arrow) (cell 2 1 arrow) (cell 2 2 white) (cell 9 9 white) (control black) (phase moving)
"""


def reached(occupied: frozenset[Cell], x: int, y: int) -> Iterator[Cell]:
    """Yield where a queen's move or an arrow from (x, y) can end."""
    for dx, dy in DIRECTIONS:
        u, v = x + dx, y + dy
        while 1 <= u <= 10 and 1 <= v <= 10 and (u, v) not in occupied:
            yield u, v
            u, v = u + dx, v + dy


def turns(own: frozenset[Cell], others: frozenset[Cell]) -> Iterator[tuple[frozenset[Cell], Cell, list[Cell]]]:
    """Yield each move of a side: its amazons, the one that moved, and where its arrow can land."""
    for cell in own:
        rest = (own | others) - {cell}
        for moved in reached(rest, *cell):
            yield own - {cell} | {moved}, moved, list(reached(rest | {moved}, *moved))


def replies(white: frozenset[Cell], arrow: Cell) -> tuple[int, int]:
    """Return black's moves, and pairs of move and arrow, after white's first turn."""
    arrows = [len(found) for _, _, found in turns(BLACK, white | {arrow})]
    return len(arrows), sum(arrows)


def test_the_first_position_has_80_moves_and_one_for_the_waiting_side() -> None:
    assert (len(legal(AMAZONS.initial_state, "white")), legal(AMAZONS.initial_state, "black")) == (80, {"noop"})


def test_the_first_turn_has_2176_pairs_of_move_and_arrow() -> None:
    start = AMAZONS.initial_state
    arrows = [len(legal(after(start, [f"{move} noop"]), "white")) for move in legal(start, "white")]
    assert sum(arrows) == 2176


@pytest.mark.exhaustive
def test_two_full_turns_have_4307152_plays_by_an_independent_count() -> None:
    counts = [replies(white, arrow) for white, _, arrows in turns(WHITE, BLACK) for arrow in arrows]
    assert [sum(column) for column in zip(*counts, strict=True)] == [168_420, 4_307_152]


def test_the_independent_count_is_that_of_the_rules_after_sampled_first_turns() -> None:
    rng = random.Random(3)
    first_turns = [(white, cell, arrow) for white, cell, arrows in turns(WHITE, BLACK) for arrow in arrows]
    for white, cell, arrow in rng.sample(first_turns, 3):
        (left,) = WHITE - white
        state = after(
            AMAZONS.initial_state,
            [f"(move {left[0]} {left[1]} {cell[0]} {cell[1]}) noop", f"(fire {arrow[0]} {arrow[1]}) noop"],
        )
        moves = legal(state, "black")
        arrows = [len(legal(after(state, [f"noop {move}"]), "black")) for move in moves]
        assert (len(moves), sum(arrows)) == replies(white, arrow)


def test_a_move_leaves_a_free_cell_and_the_same_side_shoots_from_the_new_one() -> None:
    state = after(AMAZONS.initial_state, ["(move 4 1 4 3) noop"])
    assert "(cell 4 3 white)" in facts(state, "cell")
    assert "(cell 4 1 white)" not in facts(state, "cell")
    assert {"(fire 4 1)", "(fire 4 9)", "(fire 1 3)"} <= legal(state, "white")
    assert legal(state, "white") & {"(fire 4 10)", "(fire 4 3)", "(fire 10 4)", "noop"} == set()
    assert legal(state, "black") == {"noop"}


def test_an_arrow_closes_its_cell_and_the_turn_goes_to_the_other_side() -> None:
    state = after(AMAZONS.initial_state, ["(move 4 1 4 3) noop", "(fire 4 9) noop"])
    assert "(cell 4 9 arrow)" in facts(state, "cell")
    assert legal(state, "white") == {"noop"}
    assert {move for move in legal(state, "black") if move.startswith("(move 4 10 4 ")} == set()


def test_the_side_that_cannot_move_in_its_turn_has_lost() -> None:
    state = position(AMAZONS, BLACK_IS_SHUT_IN)
    assert (state.is_terminal, goals(AMAZONS, state), legal(state, "black")) == (True, [100, 0], set())


def test_a_side_that_cannot_move_has_not_lost_while_the_other_one_moves() -> None:
    state = position(AMAZONS, BLACK_IS_SHUT_IN.replace("control black", "control white"))
    assert (state.is_terminal, goals(AMAZONS, state)) == (False, [None, None])


def test_who_has_just_moved_can_always_shoot_back() -> None:
    shut_in = """(cell 1 1 white) (cell 3 1 arrow) (cell 3 2 arrow) (cell 1 2 arrow) (cell 2 2 arrow)
        (cell 9 9 black) (control white) (phase moving)"""
    state = after(position(AMAZONS, shut_in), ["(move 1 1 2 1) noop"])
    assert (state.is_terminal, legal(state, "white")) == (False, {"(fire 1 1)"})


def test_every_turn_of_a_random_play_keeps_eight_amazons_and_adds_an_arrow() -> None:
    rng = random.Random(11)
    state: State = AMAZONS.initial_state
    arrows = 0
    while not state.is_terminal:
        for _ in range(2):
            state = state.next_state([rng.choice(state.legal_moves(role)) for role in AMAZONS.roles])
        arrows += 1
        cells = facts(state, "cell")
        colours = [sum(colour in cell for cell in cells) for colour in ("white", "black", "arrow")]
        assert (colours, len({cell.rsplit(" ", 1)[0] for cell in cells})) == ([4, 4, arrows], 8 + arrows)
    assert sorted(str(goal) for goal in goals(AMAZONS, state)) == ["0", "100"]
