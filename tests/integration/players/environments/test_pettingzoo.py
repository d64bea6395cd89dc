"""Games as environments of PettingZoo pass the tests that come with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pettingzoo = pytest.importorskip("pettingzoo", reason="PettingZoo is not installed (the extra `learn`)")

from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, render_test, seed_test  # noqa: E402 -- after importorskip

from players.environments import aec, parallel  # noqa: E402 -- after importorskip
from tests.kit.players.environments import SMALL_GAMES  # noqa: E402 -- after importorskip
from tests.kit.players.games import compiled  # noqa: E402 -- after importorskip

pytestmark = [
    # The mask beside the observation is PettingZoo's own way, of which its tests warn but in its own games.
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be"),
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array"),
    pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros"),
    pytest.mark.filterwarnings("ignore:Observation numpy array is all zeros"),
]
every_game = pytest.mark.parametrize("name", SMALL_GAMES)


@pytest.mark.sampled(3)
@every_game
def test_a_game_is_an_environment_in_which_agents_take_turns(name: str) -> None:
    api_test(aec(compiled(name)), num_cycles=40)


@pytest.mark.sampled(3)
@every_game
def test_a_game_is_an_environment_in_which_agents_act_at_once(name: str) -> None:
    parallel_api_test(parallel(compiled(name)), num_cycles=40)


@pytest.mark.sampled(5)
@every_game
def test_equal_seeds_make_equal_plays(name: str) -> None:
    seed_test(lambda: aec(compiled(name)), num_cycles=30)
    parallel_seed_test(lambda: parallel(compiled(name)), num_cycles=30)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["tictactoe", "rockpaperscissors", "kuhnpoker"])
def test_a_game_is_rendered(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    def environment(render_mode: Any) -> Any:
        return aec(compiled(name), render_mode=render_mode)

    render_test(environment)


def test_the_winner_gets_one_and_the_loser_minus_one() -> None:
    env = aec(compiled("tictactoe"))
    env.reset(seed=1)
    for action in (0, 3, 1, 4, 2):
        env.step(action)
    assert env.rewards == {"x_0": 1.0, "o_1": -1.0}
    assert env.terminations == {"x_0": True, "o_1": True}


def test_an_illegal_action_costs_the_play() -> None:
    env = aec(compiled("tictactoe"))
    env.reset(seed=1)
    env.step(4)
    env.step(4)
    assert env.rewards == {"x_0": 0.0, "o_1": -1.0}
    together = parallel(compiled("rockpaperscissors"))
    together.reset(seed=1)
    _, rewards, ended, _, _ = together.step(
        {agent: 99 if agent == together.possible_agents[0] else 0 for agent in together.agents}
    )
    assert list(rewards.values()) == [-1.0, 0.0]
    assert all(ended.values())


def test_a_play_is_begun_before_it_is_stepped() -> None:
    for name in ("tictactoe", "rockpaperscissors"):
        with pytest.raises(AssertionError, match="reset"):
            aec(compiled(name)).step(0)
    with pytest.raises(AssertionError, match="reset"):
        parallel(compiled("tictactoe")).step({"x_0": 0, "o_1": 9})


@pytest.mark.parametrize("action", [None, 0.5, "a"])
def test_an_action_is_a_whole_number(action: object) -> None:
    env = aec(compiled("tictactoe"))
    env.reset(seed=1)
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        env.step(action)


@pytest.mark.parametrize("make", [aec, parallel])
def test_a_way_of_showing_that_is_none_is_refused(make: Callable[..., object]) -> None:
    with pytest.raises(ValueError, match="render_mode is None, ansi or human, not 'rgb_array'"):
        make(compiled("tictactoe"), render_mode="rgb_array")


def test_planes_are_observations_where_all_is_seen() -> None:
    env = aec("breakthrough", observed="planes")
    env.reset(seed=1)
    assert env.observe("white_0")["observation"].shape == (4, 8, 8)
    with pytest.raises(ValueError, match="do not see all"):
        aec(compiled("phantomtictactoe"), observed="planes")


def test_a_way_of_seeing_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="observed is bits or planes, not 'plane'"):
        parallel(compiled("tictactoe"), observed="plane")  # type: ignore[arg-type]  # what the test is about
