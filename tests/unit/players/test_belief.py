"""Worlds: consistent with what a role did and perceived, rightly weighed, bounded, and one in perfect information."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gdl.game import Game, Role, State
from gdl.language.kif import read_term
from players.belief import BeliefState, InformationSet
from players.deadline import Deadline, SearchBudget
from tests.kit.players.beliefs import Past, after_the_door, car, past_of
from tests.kit.players.games import COIN, compiled, game, game_of, interpreted, role

pytestmark = pytest.mark.usefixtures("remembered")


def play_at_random(of: Game, worlds: BeliefState, seed: int, n_steps: int) -> tuple[State, Past]:
    """Play up to *n_steps* at random, telling *worlds*; return the true state and what its role went through."""
    random = Random(seed)
    state, past = of.initial_state, Past()
    for _ in range(n_steps):
        moves = tuple(random.choice(state.legal_moves(each)) for each in of.roles)
        percepts = state.percepts(worlds.role, moves)
        following = state.next_state(moves)
        if following.is_terminal:
            break
        worlds.advance(moves[worlds.me], percepts, SearchBudget())
        state = following
        past.append((moves[worlds.me], percepts))
    return state, past


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("name", "mine"), [("kuhnpoker", "alice"), ("kuhnpoker", "bob"), ("montyhall", "candidate")])
def test_every_world_agrees_with_the_role_s_own_moves_and_percepts(name: str, mine: str, seed: int) -> None:
    worlds = BeliefState(game(name), role(mine), seed)
    state, past = play_at_random(game(name), worlds, seed, 4)
    assert [past_of(world.infosets[worlds.me]) for world in worlds.weights] == [past] * len(worlds.weights)
    assert state in worlds.states


@pytest.mark.parametrize("seed", range(5))
def test_sampled_worlds_agree_too(seed: int) -> None:
    worlds = BeliefState(game("kuhnpoker"), role("alice"), seed, max_worlds=2, max_outcomes=1)
    _, past = play_at_random(game("kuhnpoker"), worlds, seed, 4)
    assert not worlds.is_exact
    assert 1 <= len(worlds.weights) <= 2
    assert [past_of(world.infosets[worlds.me]) for world in worlds.weights] == [past] * len(worlds.weights)


@settings(max_examples=4, deadline=None)
@given(st.sampled_from(["kuhnpoker", "leducpoker", "phantomtictactoe", "darkhex"]), st.integers(0, 1), st.integers(0))
@pytest.mark.parametrize("max_worlds", [30, 200])
def test_every_world_of_any_play_agrees_and_there_is_always_one(
    max_worlds: int, name: str, mine: int, seed: int
) -> None:
    of = compiled(name)
    worlds = BeliefState(of, of.roles[mine], seed, max_worlds)
    random, state, past = Random(seed), of.initial_state, Past()
    while True:
        moves = tuple(random.choice(state.legal_moves(each)) for each in of.roles)
        percepts, state = state.percepts(worlds.role, moves), state.next_state(moves)
        if state.is_terminal:
            break
        worlds.advance(moves[mine], percepts, SearchBudget())
        past.append((moves[mine], percepts))
        assert 1 <= len(worlds.weights) <= max_worlds
        assert not worlds.is_lost
        assert {tuple(past_of(world.infosets[mine])) for world in worlds.weights} == {tuple(past)}
        assert sum(worlds.weights.values()) == pytest.approx(1)
        assert not worlds.is_exact or state in worlds.states


@pytest.mark.parametrize("name", ["leducpoker", "phantomtictactoe"])
def test_both_engines_keep_equal_worlds(name: str) -> None:
    kept = []
    for of in (interpreted(name), compiled(name)):
        worlds = BeliefState(of, of.roles[1], 1)
        play_at_random(of, worlds, 5, 5)
        kept.append({(world.state.facts, world.infosets): weight for world, weight in worlds.weights.items()})
    assert kept[0] == pytest.approx(kept[1])


def test_belief_have_the_probability_that_the_percepts_leave_them() -> None:
    """The other door hides the car two times in three, as Bayes' rule has it."""
    worlds = after_the_door(BeliefState(game("montyhall"), role("candidate"), 1))
    assert {car(world): weight for world, weight in worlds.weights.items()} == pytest.approx(
        {"(car 1)": 1 / 3, "(car 2)": 2 / 3}
    )


def test_belief_are_drawn_by_their_probability() -> None:
    worlds = after_the_door(BeliefState(game("montyhall"), role("candidate"), 1))
    random = Random(1)
    drawn = [car(worlds.sample(random)) for _ in range(600)]
    assert 350 < drawn.count("(car 2)") < 450


def test_belief_drawn_anew_agree_with_all_steps() -> None:
    """A filter that kept only a wrong world starts again from the first state."""
    worlds = BeliefState(game("montyhall"), role("candidate"), 1)
    worlds.advance(read_term("(choose 1)"), [read_term("(you_chose 1)")], SearchBudget())
    wrong = next(world for world in worlds.weights if car(world) == "(car 3)")
    worlds.weights = {wrong: 1.0}
    worlds.advance(read_term("noop"), [read_term("(opened_door 3)")], SearchBudget())
    assert {car(world) for world in worlds.weights} == {"(car 1)", "(car 2)"}
    assert (worlds.is_exact, worlds.is_lost) == (False, False)


@pytest.mark.parametrize("seed", range(6))
def test_percepts_that_cannot_be_leave_guesses_that_say_so(seed: int) -> None:
    worlds = BeliefState(game("montyhall"), role("candidate"), seed)
    worlds.advance(read_term("(choose 1)"), [read_term("(you_chose 2)")], SearchBudget())
    assert worlds.is_lost
    assert {"(step 2)", "(chosen 1)"} <= set(map(str, worlds.state.facts))
    worlds.advance(read_term("noop"), [read_term("(opened_door 1)")], SearchBudget())
    assert {"(step 3)", "(chosen 1)"} <= set(map(str, worlds.state.facts))


def test_guesses_that_agree_with_the_last_percepts_are_still_guesses() -> None:
    worlds = BeliefState(game("montyhall"), role("candidate"), 1)
    worlds.advance(read_term("(choose 1)"), [read_term("(you_chose 2)")], SearchBudget())
    guess = worlds.state
    percepts = guess.percepts(worlds.role, [guess.legal_moves(each)[0] for each in worlds.game.roles])
    worlds.advance(read_term("noop"), percepts, SearchBudget())
    assert (worlds.is_lost, worlds.is_exact) == (True, False)
    assert {"(step 3)", "(chosen 1)"} <= set(map(str, worlds.state.facts))


def test_the_order_of_percepts_and_their_repetition_do_not_matter() -> None:
    kuhnpoker = game("kuhnpoker")
    worlds = BeliefState(kuhnpoker, role("alice"), 1)
    worlds.advance(read_term("noop"), [read_term("(your_card king)")] * 2, SearchBudget())
    assert (len(worlds.weights), worlds.is_lost) == (2, False)


def test_a_move_that_the_role_cannot_know_is_left_open() -> None:
    coin = game_of(COIN)
    worlds = BeliefState(coin, role("player"), 1)
    worlds.advance(None, [read_term("bold"), read_term("noop")], SearchBudget())
    assert [sorted(map(str, state.facts)) for state in worlds.states] == [["tossing"]]
    assert not worlds.is_lost


def test_perfect_information_has_exactly_the_true_state() -> None:
    connectfour = game("connectfour")
    worlds = BeliefState(connectfour, role("yellow"), 1)
    state, _ = play_at_random(connectfour, worlds, 1, 6)
    assert (worlds.states, worlds.is_certain) == ((state,), True)


def test_no_time_leaves_a_world_of_the_right_step() -> None:
    worlds = BeliefState(game("kuhnpoker"), role("alice"), 1)
    over = SearchBudget(deadline=Deadline(0.0, lambda: 1.0))
    worlds.advance(read_term("noop"), [read_term("(your_card king)")], over)
    assert [fact for fact in worlds.state.facts if "stage" in str(fact)] == [read_term("(stage opened)")]


@pytest.mark.parametrize("mine", ["alice", "bob"])
def test_equal_seeds_sample_equal_worlds(mine: str) -> None:
    def sampled(seed: int) -> tuple[State, ...]:
        worlds = BeliefState(game("kuhnpoker"), role(mine), seed, max_worlds=2, max_outcomes=1)
        play_at_random(game("kuhnpoker"), worlds, 4, 3)
        return worlds.states

    assert sampled(3) == sampled(3)


def test_equal_information_sets_are_one_object() -> None:
    first, second = (
        InformationSet.of(InformationSet.of(None, None, ()), read_term("a"), (read_term("(b c)"),)) for _ in range(2)
    )
    assert first is second


def test_an_unknown_role_has_no_worlds() -> None:
    unknown: Role = role("nobody")
    with pytest.raises(ValueError, match="nobody"):
        BeliefState(game("kuhnpoker"), unknown, 1)


WHO_OF_MANY = """
(role guesser) (role hider) (role random)
(init (step 1))
(place 0) (place 1) (place 2) (place 3) (place 4) (place 5) (place 6) (place 7) (place 8) (place 9)
(<= (legal hider (hide ?x ?y)) (true (step 1)) (place ?x) (place ?y))
(<= (legal random (drop ?x ?y)) (true (step 1)) (place ?x) (place ?y))
(legal guesser noop)
(<= (legal hider noop) (not (true (step 1))))
(<= (legal random noop) (not (true (step 1))))
(<= (next (hidden ?x ?y)) (does hider (hide ?x ?y)))
(<= (next (dropped ?x ?y)) (does random (drop ?x ?y)))
(next (step 2))
(<= (sees guesser (it ?who ?move)) (does ?who ?move) (distinct ?move noop))
(<= terminal (true (step 3)))
(goal guesser 0) (goal hider 0) (goal random 0)
"""
"""Ten thousand joint moves, of which the guesser perceives each."""


@pytest.mark.exhaustive
def test_moves_that_the_percepts_mention_are_found_among_very_many() -> None:
    worlds = BeliefState(game_of(WHO_OF_MANY), role("guesser"), 1)
    percepts = [read_term("(it hider (hide 3 4))"), read_term("(it random (drop 7 8))")]
    worlds.advance(read_term("noop"), percepts, SearchBudget())
    assert (worlds.is_lost, sorted(map(str, worlds.state.facts))) == (
        False,
        ["(dropped 7 8)", "(hidden 3 4)", "(step 2)"],
    )
