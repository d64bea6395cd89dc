"""Zombies: the line of fire, the zombies' answer, the entry cells and the three ends."""

from __future__ import annotations

import random

import pytest

from tests.kit.players.games import game
from tests.kit.rules.positions import after, facts, goals, legal, position

ZOMBIES = game("zombies")
START = "(at 5 5) (phase moving) (step 1) (bodycount 0) (door 1) (outside 0)"
SHOOTING = "(at 5 5) (phase shooting) (step 2) (bodycount 0) (door 1) (outside 0)"


def zombies_after(text: str, move: str) -> set[str]:
    """Return where the zombies of a position are after a move of the hero."""
    return facts(after(position(ZOMBIES, text), [move]), "zombie")


def test_the_first_position_is_that_of_the_brief() -> None:
    start = ZOMBIES.initial_state
    cells = {"(zombie 1 3)", "(zombie 9 7)", "(zombie 7 1)", "(zombie 3 9)", "(zombie 1 1)", "(zombie 9 9)"}
    assert (facts(start, "at"), facts(start, "zombie"), facts(start, "step")) == ({"(at 5 5)"}, cells, {"(step 1)"})


def test_the_hero_walks_to_four_neighbours_or_stays() -> None:
    moves = {"(move 4 5)", "(move 6 5)", "(move 5 4)", "(move 5 6)", "movenoop"}
    assert legal(ZOMBIES.initial_state, "hero") == moves


def test_the_hero_does_not_walk_over_the_edge() -> None:
    state = position(ZOMBIES, START.replace("at 5 5", "at 1 9"))
    assert legal(state, "hero") == {"(move 2 9)", "(move 1 8)", "movenoop"}


def test_the_nearest_zombie_of_each_direction_can_be_shot_at_any_distance() -> None:
    around = "(zombie 5 9) (zombie 7 7) (zombie 9 5) (zombie 8 2) (zombie 5 1) (zombie 1 1) (zombie 4 5) (zombie 1 9)"
    hidden = "(zombie 8 8) (zombie 3 5) (zombie 4 7)"
    state = position(ZOMBIES, f"{SHOOTING} {around} {hidden}")
    shots = {zombie.replace("zombie", "shoot") for zombie in facts(position(ZOMBIES, around), "zombie")}
    assert legal(state, "hero") == shots | {"shootnoop"}


def test_a_shot_kills_and_no_zombie_walks() -> None:
    state = after(position(ZOMBIES, f"{SHOOTING} (zombie 5 9) (zombie 1 1)"), ["(shoot 5 9)"])
    assert (facts(state, "zombie"), facts(state, "bodycount")) == ({"(zombie 1 1)"}, {"(bodycount 1)"})
    assert (facts(state, "phase"), facts(state, "step")) == ({"(phase moving)"}, {"(step 3)"})


def test_zombies_answer_a_walk_by_a_step_along_x_and_in_the_heros_file_along_y() -> None:
    found = zombies_after(f"{START} (zombie 1 1) (zombie 9 9) (zombie 6 1) (zombie 6 9)", "(move 6 5)")
    assert found == {"(zombie 2 1)", "(zombie 8 9)", "(zombie 6 2)", "(zombie 6 8)"}


@pytest.mark.parametrize(("phase", "move"), [(START, "movenoop"), (SHOOTING, "shootnoop")])
def test_zombies_stand_still_after_a_no_op(phase: str, move: str) -> None:
    assert zombies_after(f"{phase} (zombie 1 1) (zombie 9 8)", move) == {"(zombie 1 1)", "(zombie 9 8)"}


def test_a_zombie_whose_way_along_x_is_taken_goes_along_y_if_that_is_closer() -> None:
    found = zombies_after(f"{START} (zombie 1 2) (zombie 2 2)", "(move 5 6)")
    assert found == {"(zombie 1 3)", "(zombie 3 2)"}


def test_a_zombie_whose_ways_are_taken_stands_still() -> None:
    assert zombies_after(f"{START} (zombie 1 5) (zombie 2 5)", "(move 6 5)") == {"(zombie 1 5)", "(zombie 3 5)"}


WALKERS = {"north": "(zombie 6 3)", "east": "(zombie 5 4)", "south": "(zombie 6 5)", "west": "(zombie 7 4)"}


@pytest.mark.parametrize(
    ("hero", "ways"),
    [("6 8", "north east west"), ("6 8", "east west"), ("6 2", "east south west"), ("6 2", "south west")],
)
def test_where_several_want_one_cell_north_goes_first_then_east_south_west(hero: str, ways: str) -> None:
    first, *others = (WALKERS[way] for way in ways.split())
    start = START.replace("at 5 5", "at 5 8" if hero == "6 8" else "at 5 2")
    found = zombies_after(f"{start} {first} {' '.join(others)}", f"(move {hero})")
    assert found == {"(zombie 6 4)", *others}


def test_a_zombie_that_reaches_the_hero_takes_the_brains() -> None:
    state = after(position(ZOMBIES, f"{START} (zombie 7 5)"), ["(move 6 5)"])
    assert (state.is_terminal, goals(ZOMBIES, state)) == (True, [0])


def test_a_hero_who_walks_onto_a_zombie_loses_the_brains() -> None:
    state = after(position(ZOMBIES, f"{START} (zombie 6 5)"), ["(move 6 5)"])
    assert (state.is_terminal, goals(ZOMBIES, state)) == (True, [0])


def test_zombies_enter_at_the_end_of_each_turn_in_a_cycle_of_eight_cells() -> None:
    state = after(position(ZOMBIES, START.replace("outside 0", "outside 10")), ["movenoop", "shootnoop"] * 8)
    cells = ["9 2", "1 8", "2 1", "8 9", "9 4", "1 6", "4 1", "6 9"]
    assert facts(state, "zombie") == {f"(zombie {cell})" for cell in cells}
    assert (facts(state, "door"), facts(state, "outside")) == ({"(door 1)"}, {"(outside 2)"})


@pytest.mark.parametrize("taken", ["(at 5 5) (zombie 9 2)", "(at 9 2)"])
def test_no_zombie_enters_a_cell_that_is_taken_but_the_count_goes_on(taken: str) -> None:
    text = SHOOTING.replace("outside 0", "outside 3").replace("(at 5 5)", taken)
    state = after(position(ZOMBIES, text), ["shootnoop"])
    assert (facts(state, "door"), facts(state, "outside")) == ({"(door 2)"}, {"(outside 3)"})


def test_an_entry_cell_whose_zombie_is_shot_is_free() -> None:
    text = f"{SHOOTING} (zombie 9 2)".replace("outside 0", "outside 3").replace("at 5 5", "at 5 2")
    state = after(position(ZOMBIES, text), ["(shoot 9 2)"])
    assert (facts(state, "zombie"), facts(state, "outside")) == ({"(zombie 9 2)"}, {"(outside 2)"})


def test_no_zombie_enters_when_none_is_left_outside() -> None:
    assert zombies_after(f"{SHOOTING} (zombie 1 1)", "shootnoop") == {"(zombie 1 1)"}


def test_the_twentieth_kill_wins() -> None:
    text = f"{SHOOTING} (zombie 5 9) (zombie 1 1)".replace("bodycount 0", "bodycount 19")
    state = after(position(ZOMBIES, text), ["(shoot 5 9)"])
    assert (state.is_terminal, goals(ZOMBIES, state)) == (True, [100])


def test_step_50_ends_the_game_with_half_the_points() -> None:
    state = after(ZOMBIES.initial_state, ["movenoop", "shootnoop"] * 24)
    assert (state.is_terminal, facts(state, "step"), goals(ZOMBIES, state)) == (False, {"(step 49)"}, [50])
    state = after(state, ["movenoop"])
    assert (state.is_terminal, facts(state, "step"), goals(ZOMBIES, state)) == (True, {"(step 50)"}, [50])


@pytest.mark.parametrize("seed", range(20))
def test_zombies_on_the_board_outside_and_killed_are_always_twenty(seed: int) -> None:
    rng = random.Random(seed)
    state = ZOMBIES.initial_state
    while not state.is_terminal:
        state = state.next_state([rng.choice(state.legal_moves(role)) for role in ZOMBIES.roles])
        (outside,), (killed,) = facts(state, "outside"), facts(state, "bodycount")
        counted = len(facts(state, "zombie")) + int(outside.split()[1][:-1]) + int(killed.split()[1][:-1])
        assert counted == 20
