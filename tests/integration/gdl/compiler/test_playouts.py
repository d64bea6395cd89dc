"""Lanes play by the rules, step for step; they choose fairly, count exactly, and repeat themselves from a seed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from random import Random

import numpy as np
import pytest

from gdl.compiler.kernels.playouts import LanePlayer, Packed
from gdl.engines import ENGINES, make_game
from gdl.errors import ForeignStateError, GdlError, LimitExceeded, StuckPlayError, WrongTypeError
from gdl.game import State
from gdl.games.library import find_game
from gdl.language.rules import read_rules
from tests.kit.gdl.compiler.engines import both, joint_move, packed
from tests.kit.gdl.compiler.random_games import random_games
from tests.kit.gdl.compiler.replays import replayed

CHOICE = """
(role left) (role right)
(<= (legal left (take ?x)) (small ?x))
(<= (legal right (take ?x)) (large ?x))
(<= (next (taken ?x)) (does left (take ?x)))
(<= (next over) (true fresh))
(init fresh)
(<= terminal (true over))
(goal left 100) (goal right 0)
"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("name", "n_before"),
    [
        ("tictactoe", 0),
        ("tictactoe", 3),
        ("connectfour", 5),
        ("breakthrough", 15),
        ("nim", 1),
        ("montyhall", 0),
        ("kuhnpoker", 1),
        ("rockpaperscissors", 0),
        ("eightpuzzle", 20),
    ],
)
def test_lanes_play_as_the_interpreter_does_and_count_what_it_counts(name: str, n_before: int) -> None:
    interpreted, compiled = both(find_game(name).read())
    state: State = interpreted.initial_state
    random = Random(3)
    for _ in range(n_before):
        moves = joint_move(interpreted, state, random)
        assert moves is not None
        state = state.next_state(moves)
    plays = replayed(interpreted, compiled, state, 20, 200)
    found = compiled.playouts(state, 20, 7)
    goals = list(zip(*(play.goals for play in plays), strict=True))
    assert (found.n_plays, found.n_steps, found.step_squares, found.longest) == (
        len(plays),
        sum(play.length for play in plays),
        sum(play.length**2 for play in plays),
        max(play.length for play in plays),
    )
    assert found.goal_sums == tuple(sum(goal or 0 for goal in values) for values in goals)
    assert found.goal_squares == tuple(sum((goal or 0) ** 2 for goal in values) for values in goals)
    assert found.n_scored == tuple(sum(goal is not None for goal in values) for values in goals)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("block", range(3))
def test_lanes_play_random_rule_files_as_the_interpreter_does(block: int) -> None:
    n_compared = 0
    for _, interpreted, compiled in random_games(block, 20):
        try:
            replayed(interpreted, compiled, interpreted.initial_state, 12, 6)
        except GdlError:
            continue
        n_compared += 1
    assert n_compared > 0


def chi_squared(counts: np.ndarray[tuple[int], np.dtype[np.int64]]) -> float:
    """Return by how many standard deviations the statistic of equal chances is above its mean."""
    expected = counts.sum() / len(counts)
    degrees = len(counts) - 1
    return float((((counts - expected) ** 2 / expected).sum() - degrees) / (2 * degrees) ** 0.5)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("n_left", "n_right"), [(2, 3), (5, 7), (8, 9), (31, 100), (257, 2)])
def test_every_joint_move_is_equally_likely(n_left: int, n_right: int) -> None:
    facts = [f"(small {i})" for i in range(n_left)] + [f"(large {i})" for i in range(n_right)]
    _, compiled = both(CHOICE + " ".join(facts))
    per_lane = 200
    trace = LanePlayer(compiled.rules).trace(
        packed(compiled, [compiled.initial_state]), 512 * per_lane, 11, 3 * per_lane
    )
    left, right = compiled.moves_of
    moves = trace.moves[trace.is_playing]
    assert len(moves) == 512 * per_lane
    joint = (moves[:, 0] - left.start) * n_right + moves[:, 1] - right.start
    assert abs(chi_squared(np.bincount(joint, minlength=n_left * n_right))) < 5
    assert abs(chi_squared(np.bincount(moves[:, 0] - left.start, minlength=n_left))) < 5
    assert abs(chi_squared(np.bincount(moves[:, 1] - right.start, minlength=n_right))) < 5


def test_chance_is_drawn_for_every_lane_by_itself() -> None:
    _, compiled = both(find_game("montyhall").read())
    trace = LanePlayer(compiled.rules).trace(packed(compiled, [compiled.initial_state]), 512, 3, 1)
    chance = compiled.roles.index(next(role for role in compiled.roles if role.name == "random"))
    counts = np.unique(trace.moves[0, :, chance], return_counts=True)[1]
    assert len(counts) == 3
    assert abs(chi_squared(counts)) < 5


COIN = """
(role r) (init (at 0)) (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (succ 6 7)
(<= (legal r stop) (true (at 0)))
(<= (legal r go) (not (true end)))
(<= (next end) (does r stop))
(<= (next (at ?y)) (does r go) (true (at ?x)) (succ ?x ?y))
(<= terminal (true end)) (<= terminal (true (at 7)))
(<= (goal r 100) (true end)) (<= (goal r 0) (not (true end)))
"""


@pytest.mark.parametrize("n", [1, 511, 512, 513, 20_000])
def test_exactly_as_many_plays_are_made_as_asked_for(n: int) -> None:
    interpreted, compiled = both(COIN)
    found = compiled.playouts(interpreted.initial_state, n, 1)
    assert (found.n_plays, found.n_scored) == (n, (n,))


def test_short_plays_count_no_more_than_long_ones() -> None:
    _, compiled = both(COIN)
    found = compiled.playouts(compiled.initial_state, 20_000, 1)
    assert abs(found.mean_goals[0] - 50) < 5 * 50 / 20_000**0.5
    assert found.n_steps == 20_000 + 6 * (found.n_plays - found.goal_sums[0] // 100)


def test_a_seed_tells_all() -> None:
    _, compiled = both(find_game("tictactoe").read())
    start = compiled.initial_state
    first, again, other = (compiled.playouts(start, 1_000, seed) for seed in (1, 1, 2))
    assert first == again != other


def test_threads_do_not_disturb_one_another() -> None:
    _, compiled = both(find_game("connectfour").read())
    start = compiled.initial_state
    expected = [compiled.playouts(start, 600, seed) for seed in range(8)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda seed: compiled.playouts(start, 600, seed), range(8))) == expected


def test_many_states_are_each_played_as_often_as_asked_for() -> None:
    interpreted, compiled = both(find_game("nim").read())
    states: list[State] = [interpreted.initial_state]
    random = Random(1)
    while len(states) < 700:
        moves = joint_move(interpreted, states[-1], random)
        states.append(interpreted.initial_state if moves is None else states[-1].next_state(moves))
    rows: Packed = packed(compiled, states)
    found = compiled.playouts_each(rows, 40, 5)
    assert found.n.tolist() == [40] * len(states)
    again = compiled.playouts_each(rows, 40, 5)
    assert [found.of(i) for i in range(len(states))] == [again.of(i) for i in range(len(states))]
    for i, state in enumerate(states):
        if state.is_terminal:
            goals = tuple(40 * (state.goal(role) or 0) for role in interpreted.roles)
            assert (found.of(i).goal_sums, found.of(i).longest) == (goals, 0)
    by_state: dict[State, list[float]] = {}
    for i, state in enumerate(states):
        by_state.setdefault(state, []).append(found.of(i).mean_goals[0])
    often = max(by_state, key=lambda state: len(by_state[state]))
    reference = compiled.playouts(often, 100_000, 9).mean_goals[0]
    assert abs(float(np.mean(by_state[often])) - reference) < 5 * 50 / (40 * len(by_state[often])) ** 0.5


def test_the_interpreter_makes_playouts_too() -> None:
    only_way = COIN.replace("(<= (legal r stop) (true (at 0)))", "")
    interpreted, compiled = both(only_way)
    start = interpreted.initial_state
    assert interpreted.playouts(start, 3, 1) == compiled.playouts(start, 3, 1)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("max_steps", [1, 6])
def test_a_play_that_takes_too_long_is_given_up(max_steps: int) -> None:
    for game in both(COIN):
        with pytest.raises(LimitExceeded, match="steps in one play"):
            game.playouts(game.initial_state, 600, 1, max_steps)
        assert game.playouts(game.initial_state, 600, 1, 7).longest == 7


STUCK = """
(role r) (role s) (init a)
(legal r go) (legal r stay)
(<= (legal s go) (true b))
(next a)
(<= (next b) (does r stay))
"""


def test_a_play_in_which_a_role_cannot_move_is_no_play() -> None:
    for game in both(STUCK):
        with pytest.raises(StuckPlayError):
            game.playouts(game.initial_state, 1, 1)


def test_no_plays_at_all_are_refused() -> None:
    for game in both(COIN):
        with pytest.raises(ValueError, match="1 or more, not 0"):
            game.playouts(game.initial_state, 0, 1)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_state_of_other_rules_is_not_played_from(engine: str) -> None:
    """Those of the same rules are, whatever engine has them."""
    game = make_game(read_rules(COIN, "coin"), engine)
    for other in both(COIN):
        assert game.playouts(other.initial_state, 5, 1).n_plays == 5
    for other in both(STUCK):
        with pytest.raises(ForeignStateError, match="not of coin: a game plays from states of its own"):
            game.playouts(other.initial_state, 5, 1)


@pytest.mark.parametrize("engine", ENGINES)
def test_plays_begin_in_a_state(engine: str) -> None:
    game = make_game(read_rules(COIN), engine)
    with pytest.raises(WrongTypeError, match=r"expected a state of the game, as game\.initial_state is, not the int 3"):
        game.playouts(3, 5, 1)  # type: ignore[arg-type]  # what is refused


def test_a_state_that_no_play_reaches_is_played_on() -> None:
    interpreted, compiled = both(COIN)
    beyond = interpreted.state(frozenset([*interpreted.initial_state.facts, interpreted.roles[0]]))
    assert compiled.playouts(beyond, 5, 1).n_plays == 5
