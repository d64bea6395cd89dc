"""Pattern databases: the variables of a game, the distances in patterns of them, and the beams that go by these."""

from __future__ import annotations

from collections.abc import Generator
from random import Random
from typing import TypeVar

import numpy as np
import pytest

from gdl.compiler.compiled import CompiledGame, CompiledState
from gdl.engines import make_game
from gdl.language.rules import read_rules
from players.search.evaluator import compiled_game_of
from players.search.planning.circuits import Moves
from players.search.planning.patterns.beams import MAX_DEPTH, Beam, BeamSearch, horizon_of
from players.search.planning.patterns.causality import CausalGraph, fluents_of, set_of
from players.search.planning.patterns.databases import draw_patterns, is_reversible, make_databases
from players.search.planning.patterns.kernels import FAR
from players.search.planning.patterns.variables import Variables, find_variables
from players.search.planning.plans import checked_plan
from tests.kit.players.games import compiled
from tests.kit.players.puzzles import DIALS, FENCE, LIGHTS, RINGS, SQUARE

Found = TypeVar("Found")


def compiled_of(rules: str) -> CompiledGame:
    return compiled_game_of(make_game(read_rules(rules), "compiled"))


def packed_of(game: CompiledGame) -> bytes:
    assert isinstance(game.initial_state, CompiledState)
    return game.initial_state.packed


def result_of(steps: Generator[None, None, Found]) -> Found:
    """Return what a generator returns after all of its steps."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: Found = end.value
            return found


def variables_of(game: CompiledGame) -> Variables:
    found = result_of(find_variables(game, packed_of(game)))
    assert found is not None
    return found


def searched(game: CompiledGame, seed: int = 1) -> BeamSearch:
    search = BeamSearch(game, packed_of(game), Random(seed))
    while not search.is_done:
        search.advance(10)
    return search


def goal_after(game: CompiledGame, moves: Moves) -> int | None:
    found = checked_plan(game, packed_of(game), moves)
    return None if found is None else found.goal


def shortest_plan(game: CompiledGame) -> int:
    """Return how many moves lead to goal 100 at least, by a breadth-first search."""
    met, layer, depth = {packed_of(game)}, [packed_of(game)], 0
    while not any(game.goals_of(packed) == (100,) for packed in layer):
        following = [
            game.step(packed, (move,))
            for packed in layer
            if not game.legal_and_terminal(packed)[1]
            for move in game.legal_and_terminal(packed)[0].tolist()
        ]
        layer = [packed for packed in dict.fromkeys(following) if packed not in met]
        met.update(layer)
        depth += 1
    return depth


def test_fluents_that_decide_one_another_are_closed() -> None:
    game = compiled_of(RINGS)
    graph = CausalGraph(game)
    side = next(i for i, fluent in enumerate(game.fluents) if str(fluent) == "(side c up)")
    closed = graph.closure(1 << side)
    assert closed is not None
    assert {str(game.fluents[i]).rpartition(" ")[0] for i in fluents_of(closed)} == {"(at c", "(side c"}


def test_sets_of_fluents_are_numbers() -> None:
    assert fluents_of(set_of(np.array([True, False, True]))) == [0, 2]


def test_a_token_with_its_side_is_a_variable() -> None:
    found = variables_of(compiled_of(RINGS))
    assert (found.n_values.tolist(), found.goal.sum(axis=1).tolist()) == ([16] * 8, [1] * 8)


def test_moves_that_change_nothing_are_left_out() -> None:
    game = compiled_of(RINGS)
    assert {str(game.moves[i]) for i in variables_of(game).moves} == {
        f"({way} {ring})" for way in ("turn", "back") for ring in ("left", "right")
    }


def test_moves_are_illegal_by_what_a_variable_holds() -> None:
    game = compiled_of(DIALS)
    found = variables_of(game)
    is_raise = np.array([str(game.moves[i]).startswith("(raise") for i in found.moves])
    n_illegal = (found.transitions < 0).sum(axis=(1, 2))
    assert (found.n_values.tolist(), set(n_illegal[is_raise]), set(n_illegal[~is_raise])) == ([5, 5, 5], {1}, {0})


@pytest.mark.parametrize(("rules", "is_so"), [(RINGS, True), (LIGHTS, True), (DIALS, False)])
def test_moves_can_be_undone_where_no_two_values_lead_to_the_same_one(rules: str, is_so: bool) -> None:
    assert is_reversible(variables_of(compiled_of(rules))) == is_so


def test_a_game_without_small_variables_is_left_to_other_searches() -> None:
    search = searched(compiled_of(FENCE))
    assert (search.plan, search.n_iterations) == ((), 0)


def test_patterns_keep_to_their_bounds_and_have_each_variable_of_the_goal() -> None:
    found = variables_of(compiled_of(RINGS))
    patterns = draw_patterns(found, Random(1), 1 << 16)
    n_states = sum(int(np.prod(found.n_values[list(pattern)])) for pattern in patterns)
    assert n_states * len(found.moves) <= 1 << 16
    assert {variable for pattern in patterns for variable in pattern} == set(range(8))


@pytest.mark.parametrize("rules", [LIGHTS, DIALS])
def test_a_pattern_of_all_variables_knows_the_length_of_the_shortest_plan(rules: str) -> None:
    game = compiled_of(rules)
    found = variables_of(game)
    databases = result_of(make_databases(found, [tuple(range(len(found.n_values)))]))
    assert databases.distances[0] == shortest_plan(game)


STUCK = DIALS.replace("(clear ?d)) (dial ?d))", "(clear ?d)) (true (shows ?d ?m)) (up ?m ?n))").replace("1 4", "1 2")
"""Dials that stay at 4 once they show it."""


def test_a_dial_that_is_stuck_is_far_from_other_numbers() -> None:
    found = variables_of(compiled_of(STUCK))
    distances = result_of(make_databases(found, [(dial,) for dial in range(3)])).distances
    assert np.count_nonzero(distances == FAR) == 3


def test_a_goal_that_a_pattern_refutes_is_given_up_at_once() -> None:
    game = compiled_of(STUCK)
    packed = packed_of(game)
    for _ in range(2):
        packed = game.step(packed, ([str(move) for move in game.moves].index("(raise 1)"),))
    search = BeamSearch(game, packed, Random(1))
    while not search.is_done:
        search.advance(1)
    assert (search.plan, search.n_iterations) == ((), 0)


@pytest.mark.parametrize("rules", [RINGS, LIGHTS, DIALS, SQUARE])
def test_a_plan_is_found(rules: str) -> None:
    game = compiled_of(rules)
    search = searched(game)
    assert (search.goal, goal_after(game, search.plan)) == (100, 100)


def test_moves_that_are_not_always_legal_are_planned() -> None:
    game = compiled_game_of(compiled("eightpuzzle"))
    assert goal_after(game, searched(game).plan) == 100


def test_equal_seeds_find_equal_plans() -> None:
    game = compiled_of(RINGS)
    assert searched(game, 2).plan == searched(game, 2).plan


def test_a_search_that_left_no_state_out_has_seen_all() -> None:
    game = compiled_of(RINGS.replace("(init (side a down))", "(init (side a up))"))
    found = variables_of(game)
    one = Variables(found.moves[:1], found.transitions[:1], found.n_values, found.goal, found.is_goal)
    beam = Beam(one, result_of(make_databases(found, [(0, 1)])), 100, 0)
    while not beam.is_done:
        beam.advance()
    assert (beam.plan, beam.has_seen_all) == (None, True)


def test_the_clock_of_the_rules_bounds_the_plan() -> None:
    lights, dials = compiled_of(LIGHTS), compiled_of(DIALS)
    assert (horizon_of(lights, packed_of(lights)), horizon_of(dials, packed_of(dials))) == (8, MAX_DEPTH)


def test_a_closed_search_does_no_more() -> None:
    game = compiled_of(RINGS)
    search = BeamSearch(game, packed_of(game), Random(1))
    search.advance(3)
    search.close()
    assert (search.is_done, search.advance(1)) == (True, False)


def test_without_its_kernels_a_search_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> bool:
        raise MemoryError

    monkeypatch.setattr("players.search.planning.patterns.beams.load_pattern_kernels", fail)
    search = searched(compiled_of(RINGS))
    assert (search.is_done, search.goal) == (True, -1)
