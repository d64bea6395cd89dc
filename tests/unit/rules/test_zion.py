"""Zion: the turn, chance's moves, shots, walking robots, goals and percepts."""

from __future__ import annotations

import random
from itertools import product

import pytest

from gdl.game import RANDOM, State
from gdl.language.terms import Constant
from tests.kit.players.games import game
from tests.kit.rules.positions import after, facts, goals, legal, position, terms

FULL = game("zion")
SMALL = game("zionsmall")
WAYS = ("up", "down", "left", "right")
ACTIONS = {"stand", *(f"({verb} {way})" for verb in ("move", "shoot") for way in WAYS)}
WALKS = {f"(go {way})" for way in WAYS}
ACT = "(phase act) (turns 0) (destroyed 0)"


def phase(state: State) -> str:
    (found,) = facts(state, "phase")
    return found


def shot_at(robots: str, direction: str = "right") -> str:
    """Return the phase after a shot of a player at (2, 4) in the full arena."""
    return phase(after(position(FULL, f"(at 2 4) {robots} {ACT}"), [f"(shoot {direction}) noop"]))


def small(text: str, *joint_moves: str) -> State:
    """Return the state after some steps in the small arena, of four by four cells and two robots."""
    return after(position(SMALL, text), joint_moves)


def test_the_player_acts_while_chance_has_a_no_op() -> None:
    assert (legal(FULL.initial_state, "player"), legal(FULL.initial_state, "random")) == (ACTIONS, {"noop"})


def test_chance_answers_a_shot_with_hit1_hit2_or_miss_while_the_player_has_a_no_op() -> None:
    state = small(f"(at 1 1) (robot 1 3 1) (robot 2 4 4) {ACT}", "(shoot right) noop")
    assert (legal(state, "player"), legal(state, "random")) == ({"noop"}, {"hit1", "hit2", "miss"})


def test_chance_walks_one_robot_after_the_other_and_then_the_player_acts() -> None:
    state = after(FULL.initial_state, ["stand noop"])
    for i in range(1, 7):
        assert (phase(state), legal(state, "player"), legal(state, "random")) == (
            f"(phase (walk {i}))",
            {"noop"},
            WALKS,
        )
        state = after(state, ["noop (go up)"])
    assert (phase(state), facts(state, "turns")) == ("(phase act)", {"(turns 1)"})


@pytest.mark.parametrize(("action", "cell"), [("up", "1 2"), ("down", "1 1"), ("left", "1 1"), ("right", "2 1")])
def test_the_player_moves_one_step_and_against_the_edge_stands(action: str, cell: str) -> None:
    state = small(f"(at 1 1) (robot 1 3 4) (robot 2 4 4) {ACT}", f"(move {action}) noop")
    assert (facts(state, "at"), phase(state)) == ({f"(at {cell})"}, "(phase (walk 1))")


@pytest.mark.parametrize(("way", "cell"), [("up", "4 4"), ("down", "4 3"), ("left", "3 4"), ("right", "4 4")])
def test_a_robot_walks_one_step_and_against_the_edge_stands(way: str, cell: str) -> None:
    state = small(f"(at 1 1) (robot 1 4 4) (robot 2 3 3) {ACT}", "stand noop", f"noop (go {way})")
    assert facts(state, "robot") == {f"(robot 1 {cell})", "(robot 2 3 3)"}


def test_a_shot_reaches_five_cells() -> None:
    aimed = ["(robot 1 7 4)", "(robot 1 8 4)"]
    assert [shot_at(f"{robot} (robot 2 1 1)") for robot in aimed] == ["(phase (aim 1))", "(phase (walk 1))"]


def test_a_shot_takes_the_nearest_robot_in_its_direction() -> None:
    assert shot_at("(robot 1 6 4) (robot 2 4 4) (robot 3 2 6) (robot 4 1 4)") == "(phase (aim 2))"
    assert shot_at("(robot 1 6 4) (robot 2 4 4) (robot 3 2 6) (robot 4 1 4)", "up") == "(phase (aim 3))"
    assert shot_at("(robot 1 6 4) (robot 2 4 4) (robot 3 2 6) (robot 4 1 4)", "down") == "(phase (walk 1))"


def test_of_several_robots_in_the_nearest_cell_the_lowest_number_is_the_victim() -> None:
    assert shot_at("(robot 1 6 4) (robot 3 4 4) (robot 2 4 4) (robot 4 4 4) (damaged 4)") == "(phase (aim 2))"


@pytest.mark.parametrize("hit", ["hit1", "hit2"])
def test_the_first_hit_damages_and_the_second_destroys(hit: str) -> None:
    shot = "(at 1 1) (robot 1 3 1) (robot 2 3 1) (phase (aim 1)) (turns 0) (destroyed 0)"
    damaged, destroyed = small(shot, f"noop {hit}"), small(f"{shot} (damaged 1)", f"noop {hit}")
    assert (facts(damaged, "damaged"), len(facts(damaged, "robot")), phase(damaged)) == (
        {"(damaged 1)"},
        2,
        "(phase (walk 1))",
    )
    assert (
        facts(destroyed, "damaged"),
        facts(destroyed, "robot"),
        phase(destroyed),
        facts(destroyed, "destroyed"),
    ) == (
        set(),
        {"(robot 2 3 1)"},
        "(phase (walk 2))",
        {"(destroyed 1)"},
    )


def test_a_miss_changes_nothing() -> None:
    state = small("(at 1 1) (robot 1 3 1) (robot 2 3 1) (phase (aim 1)) (turns 0) (destroyed 0)", "noop miss")
    assert state == position(SMALL, "(at 1 1) (robot 1 3 1) (robot 2 3 1) (phase (walk 1)) (turns 0) (destroyed 0)")


def test_destroyed_robots_are_passed_over() -> None:
    text = "(at 1 1) (robot 2 5 5) (robot 5 8 8) (turns 3) (destroyed 4) (phase act)"
    state = position(FULL, text)
    seen = [phase(state := after(state, [moves])) for moves in ("stand noop", "noop (go up)", "noop (go up)")]
    assert seen == ["(phase (walk 2))", "(phase (walk 5))", "(phase act)"]


def test_a_robot_in_the_players_cell_kills_when_all_have_walked() -> None:
    walking = small(f"(at 1 1) (robot 1 2 1) (robot 2 4 4) {ACT}", "stand noop", "noop (go left)")
    ended = after(walking, ["noop (go up)"])
    assert (walking.is_terminal, ended.is_terminal, goals(SMALL, ended)) == (False, True, [0, 0])


def test_a_player_who_moves_onto_a_robot_survives_if_it_walks_away() -> None:
    text = f"(at 1 1) (robot 1 2 1) (robot 2 4 4) {ACT}"
    away = small(text, "(move right) noop", "noop (go up)", "noop (go up)")
    there = small(text, "(move right) noop", "noop (go down)", "noop (go up)")
    assert [(state.is_terminal, goals(SMALL, state)) for state in (away, there)] == [(False, [33, 0]), (True, [0, 0])]


def test_destroying_the_last_robot_wins_at_once() -> None:
    state = small("(at 1 1) (robot 1 3 1) (damaged 1) (phase (aim 1)) (turns 19) (destroyed 1)", "noop hit2")
    assert (state.is_terminal, goals(SMALL, state)) == (True, [100, 0])


@pytest.mark.parametrize(("destroyed", "goal"), [(0, 33), (1, 66)])
def test_the_turn_limit_ends_the_game_with_points_for_robots_destroyed(destroyed: int, goal: int) -> None:
    state = small(f"(at 1 1) (robot 2 4 4) (turns 19) (destroyed {destroyed}) (phase act)", "stand noop")
    assert not state.is_terminal
    state = after(state, ["noop (go up)"])
    assert (state.is_terminal, goals(SMALL, state)) == (True, [goal, 0])


def test_the_player_sees_every_move() -> None:
    state = FULL.initial_state
    moves = terms("(shoot up) noop")
    seen = [str(percept) for percept in state.percepts(Constant("player"), moves)]
    assert (seen, state.percepts(RANDOM, moves)) == (["(did player (shoot up))", "(did random noop)"], ())


def test_every_state_of_random_plays_has_one_player_and_each_robot_once_or_destroyed() -> None:
    for of, seed in product((FULL, SMALL), range(10)):
        rng = random.Random(seed)
        state = of.initial_state
        n_robots = len(facts(state, "robot"))
        while not state.is_terminal:
            state = state.next_state([rng.choice(state.legal_moves(role)) for role in of.roles])
            robots = {fact.split()[1] for fact in facts(state, "robot")}
            (destroyed,) = facts(state, "destroyed")
            assert (len(facts(state, "at")), len(facts(state, "robot"))) == (1, len(robots))
            assert len(robots) + int(destroyed.split()[1][:-1]) == n_robots
