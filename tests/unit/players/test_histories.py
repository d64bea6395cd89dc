"""Worlds that are drawn anew: with their exact probabilities in the mean, and found wherever there is one."""

from __future__ import annotations

from itertools import product
from math import prod
from random import Random
from typing import Final

import pytest

from gdl.game import Game
from gdl.language.kif import read_term
from players import histories
from players.belief import BeliefState
from players.deadline import Deadline, SearchBudget
from players.histories import MIN_AT_ONCE, HistorySampler, Hits
from players.worlds import Step, World, WorldChoices, WorldSteps
from tests.kit.players.games import game_of, interpreted, role

pytestmark = pytest.mark.usefixtures("remembered")
MONTY = interpreted("montyhall")
DOOR_3: list[Step] = [
    (read_term("(choose 1)"), (read_term("(you_chose 1)"),)),
    (read_term("noop"), (read_term("(opened_door 3)"),)),
]


def sampler(of: Game, me: int = 0, max_outcomes: int = 2000) -> HistorySampler:
    first = World(of.initial_state, (None,) * len(of.roles))
    return HistorySampler(first, WorldChoices(of, me), WorldSteps(of, me), max_outcomes)


def shares(weights: dict[World, float], fluent: str) -> dict[str, float]:
    total, found = sum(weights.values()), dict[str, float]()
    for world, weight in weights.items():
        fact = next(str(fact) for fact in world.state.facts if str(fact).startswith(f"({fluent} "))
        found[fact] = found.get(fact, 0.0) + weight / total
    return found


def test_weights_are_the_probabilities_in_the_mean() -> None:
    """The car is behind the other door two times in three."""
    drawn = sampler(MONTY).draw(DOOR_3, Random(1), SearchBudget(), 2000)
    assert shares(drawn, "car") == pytest.approx({"(car 1)": 1 / 3, "(car 2)": 2 / 3}, abs=0.03)


def test_moves_drawn_from_very_many_have_their_probabilities_too() -> None:
    drawn = sampler(MONTY, max_outcomes=1).draw(DOOR_3, Random(1), SearchBudget(), 100)
    assert shares(drawn, "car") == pytest.approx({"(car 1)": 1 / 3, "(car 2)": 2 / 3}, abs=0.1)


@pytest.mark.parametrize(("n_least", "n_most"), [(1, 6), (2, 2), (2, 6), (3, 7)])
def test_hits_have_their_probabilities_in_the_mean_however_many_draws_they_take(n_least: int, n_most: int) -> None:
    """One outcome in ten agrees and is drawn twice as often, another one as often as it comes; all samples count."""
    a, b = (World(MONTY.initial_state, (None,) * n) for n in (1, 2))
    outcomes = {a: (0.2, 0.5), b: (0.15, 1.0), None: (0.65, 1.0)}
    means = {a: 0.0, b: 0.0}
    for sample in product(outcomes, repeat=n_most):
        hits = Hits(n_least, n_most)
        for world in sample:
            if not hits.are_enough:
                hits.add(world, outcomes[world][1])
        total = sum(factor for _, factor in hits.found)
        for world, factor in hits.found:
            means[world] += prod(outcomes[each][0] for each in sample) * hits.probability * factor / total
    assert means == pytest.approx({a: 0.1, b: 0.15})


RARE: Final = """
(role seer) (role random) (init (step 0))
(next_step 0 1) (next_step 1 2) (next_step 2 3) (next_step 3 4)
(part 0) (part 1) (part 2) (part 3) (part 4) (part 5) (part 6)
(legal seer noop)
(<= (legal random many) (true (step 0)))
(<= (legal random few) (true (step 0)))
(<= (legal random (draw ?x ?y)) (true (way many)) (part ?x) (part ?y))
(<= (legal random (draw ?x ?x)) (true (way few)) (part ?x))
(<= (next (way many)) (does random many))
(<= (next (way few)) (does random few))
(<= (next (way ?x)) (true (way ?x)))
(<= (next (step ?n)) (true (step ?m)) (next_step ?m ?n))
(<= (sees seer found) (does random (draw 3 3)))
(<= terminal (true (step 4)))
(goal seer 0) (goal random 0)
"""
"""The one way has 49 draws and the other seven, one of which is found: 1/8 and 7/8 of what is found."""


def test_what_hardly_any_draw_finds_is_made_no_likelier(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histories, "MAX_TRIES", 4)
    monkeypatch.setattr(histories, "ENOUGH", 1_000_000)
    steps: list[Step] = [(read_term("noop"), ()), (read_term("noop"), (read_term("found"),))]
    drawn = sampler(game_of(RARE), max_outcomes=20).draw(steps, Random(1), SearchBudget(), 500)
    assert shares(drawn, "way") == pytest.approx({"(way many)": 1 / 8, "(way few)": 7 / 8}, abs=0.045)


NEEDLE = """
(role seer) (role random)
(init (step 0))
(digit 0) (digit 1) (digit 2) (digit 3) (digit 4)
(next_step 0 1) (next_step 1 2) (next_step 2 3) (next_step 3 4)
(legal seer noop)
(<= (legal random ?x) (digit ?x))
(<= (next (step ?n)) (true (step ?m)) (next_step ?m ?n))
(<= (next (drew ?m ?x)) (true (step ?m)) (does random ?x))
(<= (next (drew ?m ?x)) (true (drew ?m ?x)))
(<= terminal (true (step 4)))
(<= (sees seer lucky) (true (step 2)) (true (drew 0 2)) (true (drew 1 2)))
(goal seer 0) (goal random 0)
"""
"""One in 25 histories is lucky, which shows two steps later."""


def needle_steps(n: int, *percepts: str) -> list[Step]:
    return [(read_term("noop"), ())] * n + [(read_term("noop"), tuple(map(read_term, percepts)))]


@pytest.mark.parametrize("seed", range(5))
def test_the_only_history_is_found_however_seldom_it_is(seed: int) -> None:
    drawn = sampler(game_of(NEEDLE)).draw(needle_steps(2, "lucky"), Random(seed), SearchBudget(), 1)
    assert [shares(drawn, f"drew {step}") for step in (0, 1)] == [{"(drew 0 2)": 1.0}, {"(drew 1 2)": 1.0}]


def test_dead_ends_make_no_world_likelier() -> None:
    """24 of 25 histories remain, each digit as likely as before."""
    drawn = sampler(game_of(NEEDLE)).draw(needle_steps(2), Random(1), SearchBudget(), 1500)
    found = shares(drawn, "drew 0")
    assert found["(drew 0 2)"] == pytest.approx(4 / 24, abs=0.03)
    assert found["(drew 0 3)"] == pytest.approx(5 / 24, abs=0.03)


HEARD: Final = """
(role hearer) (role speaker)
(word a) (word b) (word c)
(init on)
(legal hearer noop)
(<= (legal speaker (say ?w)) (word ?w))
(<= (next on) (true on))
(<= (sees hearer ?w) (does speaker (say ?w)))
(<= terminal (not (true on)))
(goal hearer 0) (goal speaker 0)
"""


def test_a_history_of_hundreds_of_steps_weighs_as_much_as_the_heaviest() -> None:
    """Its probability, 3 to the power of -700, is too small for a number."""
    heard: list[Step] = [(read_term("noop"), (read_term("b"),))] * 700
    drawn = sampler(game_of(HEARD)).draw(heard, Random(1), SearchBudget(), 2)
    assert list(drawn.values()) == [pytest.approx(MIN_AT_ONCE)]


def test_what_cannot_be_is_given_up() -> None:
    drawing = sampler(game_of(NEEDLE))
    assert drawing.draw(needle_steps(1, "lucky"), Random(1), SearchBudget(), 1) == {}


def test_no_time_finds_nothing() -> None:
    over = SearchBudget(deadline=Deadline(0.0, lambda: 1.0))
    assert sampler(MONTY).draw(DOOR_3, Random(1), over, 1) == {}


def test_a_belief_that_is_left_with_no_world_finds_it_again() -> None:
    """Two worlds of 25 hardly ever have the lucky one among them."""
    for seed in range(5):
        worlds = BeliefState(game_of(NEEDLE), role("seer"), seed, max_worlds=2)
        for move, percepts in needle_steps(2, "lucky"):
            worlds.advance(move, percepts, SearchBudget())
        assert (worlds.is_lost, worlds.is_exact) == (False, False)
        assert {str(fact) for fact in worlds.state.facts} >= {"(drew 0 2)", "(drew 1 2)"}


@pytest.mark.parametrize("seed", range(20))
def test_a_belief_stays_lost_though_guesses_that_were_dropped_agree_with_the_last_percepts(seed: int) -> None:
    worlds = BeliefState(game_of(NEEDLE), role("seer"), seed, max_worlds=2)
    lost: list[bool] = []
    for percepts in (("lucky",), (), ("lucky",)):
        worlds.advance(read_term("noop"), tuple(map(read_term, percepts)), SearchBudget())
        lost.append(worlds.is_lost)
    assert lost == [True] * 3
    assert read_term("(step 3)") in worlds.state.facts


HIDER = """
(role seer) (role hider) (role random)
(init (step 0))
(next_step 0 1) (next_step 1 2)
(legal seer noop) (legal random left) (legal random right) (legal hider left) (legal hider right)
(<= (next (step ?n)) (true (step ?m)) (next_step ?m ?n))
(<= (next (hid ?m ?way)) (true (step ?m)) (does hider ?way))
(<= (next (drew ?m ?way)) (true (step ?m)) (does random ?way))
(<= (sees seer same) (does hider ?way) (does random ?way))
(<= terminal (true (step 2)))
(goal seer 0) (goal hider 0) (goal random 0)
"""


def test_a_model_says_how_the_others_choose_and_chance_stays_uniform() -> None:
    worlds = BeliefState(game_of(HIDER), role("seer"), 1)
    worlds.model = lambda _world, _role, moves: [0.9 if str(move) == "left" else 0.1 for move in moves]
    worlds.advance(read_term("noop"), [read_term("same")], SearchBudget())
    assert shares(worlds.weights, "hid") == pytest.approx({"(hid 0 left)": 0.9, "(hid 0 right)": 0.1})
    worlds.model = None
    assert worlds.model is None


def test_a_model_says_nothing_of_the_own_move_that_the_role_does_not_know() -> None:
    worlds = BeliefState(game_of(HIDER), role("hider"), 1)
    worlds.model = lambda _world, _role, moves: [1.0, *[0.0] * (len(moves) - 1)]
    worlds.advance(None, [], SearchBudget())
    assert shares(worlds.weights, "hid") == pytest.approx({"(hid 0 left)": 0.5, "(hid 0 right)": 0.5})


def test_a_belief_is_lost_where_a_model_rules_out_what_was_done() -> None:
    worlds = BeliefState(game_of(HEARD), role("hearer"), 1)
    worlds.model = lambda _world, _role, moves: [float(str(move) == "(say a)") for move in moves]
    worlds.advance(read_term("noop"), [read_term("b")], SearchBudget())
    assert worlds.is_lost


def test_a_world_that_was_hardly_possible_is_joined_with_those_that_are_drawn() -> None:
    of, *steps = game_of(NEEDLE), *needle_steps(2, "lucky")
    worlds = BeliefState(of, role("seer"), 1, max_worlds=10)
    for move, percepts in steps[:-1]:
        worlds.advance(move, percepts, SearchBudget())
    lucky = of.state(map(read_term, ("(step 2)", "(drew 0 2)", "(drew 1 2)")))
    worlds.weights = {World(lucky, next(iter(worlds.weights)).infosets): 1e-200}
    worlds.advance(*steps[-1], SearchBudget())
    assert not worlds.is_lost
    assert sum(worlds.weights.values()) == pytest.approx(1.0)
