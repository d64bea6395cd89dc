"""Games of one role as environments of Gymnasium pass the test that comes with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is not installed (the extra `learn`)")

from gymnasium.error import ResetNeeded  # noqa: E402 -- after importorskip
from gymnasium.utils.env_checker import check_env  # noqa: E402 -- after importorskip

from gdl import Game, IllegalMoveError  # noqa: E402 -- after importorskip
from players.environments import gym, vector_gym  # noqa: E402 -- after importorskip
from tests.kit.players.games import compiled  # noqa: E402 -- after importorskip

ONE_ROLE = ("eightpuzzle", "montyhall", "zombies")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ONE_ROLE)
def test_a_game_of_one_role_is_an_environment(name: str) -> None:
    env = gym(compiled(name), render_mode="ansi")
    check_env(env, skip_render_check=True)
    assert isinstance(env.render(), str)


def test_a_game_of_dice_shows_its_board() -> None:
    env = gym("twentyfortyeight", observed="planes")
    check_env(env, skip_render_check=True)
    seen, _ = env.reset(seed=1)
    assert seen.shape[1:] == (4, 4)
    assert np.array_equal(seen, np.asarray(env.single.games.planes()[0], np.int8))


@pytest.mark.parametrize("make", [gym, lambda game: vector_gym(game, 1)])
def test_environments_that_are_given_no_seed_have_chance_of_their_own(make: Callable[[Game], Any]) -> None:
    game = compiled("twentyfortyeight")
    begun = {np.asarray(make(game).reset()[0]).tobytes() for _ in range(20)}
    assert len(begun) > 1


def test_a_play_that_an_illegal_action_has_ended_is_begun_anew_before_it_is_stepped() -> None:
    env = gym(compiled("eightpuzzle"))
    _, info = env.reset(seed=1)
    legal, illegal = info["action_mask"].argmax(), info["action_mask"].argmin()
    assert env.step(illegal)[1:4] == (-1.0, True, False)
    for action in (legal, illegal):
        with pytest.raises(ResetNeeded, match=r"call reset\(\) before step\(\)"):
            env.step(action)
    env.reset(seed=1)
    assert env.step(legal)[1:4] == (0.0, False, False)


def test_a_play_that_has_ended_or_not_begun_is_not_stepped() -> None:
    env = gym(compiled("montyhall"))
    with pytest.raises(ResetNeeded):
        env.step(0)
    _, info = env.reset(seed=1)
    is_over = False
    while not is_over:
        _, _, is_over, _, info = env.step(info["action_mask"].argmax())
    with pytest.raises(ResetNeeded):
        env.step(0)


def test_a_game_of_two_roles_is_none() -> None:
    with pytest.raises(ValueError, match="PettingZoo"):
        gym(compiled("tictactoe"))


def test_copies_show_their_boards() -> None:
    envs = vector_gym("twentyfortyeight", 5, observed="planes")
    seen, _ = envs.reset(seed=1)
    assert seen in envs.observation_space
    assert np.array_equal(seen, envs.games.planes())
    with pytest.raises(ValueError, match="players do not see all"):
        vector_gym("montyhall", 5, observed="planes")


@pytest.mark.parametrize("name", ["eightpuzzle", "montyhall"])
def test_copies_are_a_vector_environment(name: str) -> None:
    envs = vector_gym(compiled(name), 7)
    seen, info = envs.reset(seed=3)
    assert seen in envs.observation_space
    n_ends = 0
    for _ in range(70):
        mask = info["action_mask"]
        assert mask.any(axis=1).all()
        seen, rewards, ended, cut, info = envs.step(mask.argmax(axis=1))
        assert seen in envs.observation_space
        assert rewards.shape == ended.shape == cut.shape == (7,)
        assert not rewards[~ended].any()
        assert not cut.any()
        if ended.any():
            assert np.array_equal(info["_final_obs"], ended)
            n_ends += ended.sum()
    assert n_ends
    with pytest.raises(IllegalMoveError):
        envs.step(np.full(7, -1))
