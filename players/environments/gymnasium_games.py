"""Games of one role as environments of Gymnasium, single and vectorised."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from gdl.game import Game
from players.environments.single import RENDER_MODES, Observed, RenderMode, SingleGame, check_observed, entropy
from players.environments.vector import VectorGame


def gym(game: str | Path | Game, *, observed: Observed = "bits", render_mode: RenderMode | None = None) -> GymGame:
    """Return a game of one role as Gymnasium's environment.

    Observations are arrays of 0 and 1; `info["action_mask"]` says which actions are legal.

    Raises: as `players.environments.single.SingleGame`, and ValueError where the game has several roles.
    """
    return GymGame(SingleGame(game, observed, render_mode, is_flat=True))


def vector_gym(game: str | Path | Game, n: int, *, observed: Observed = "bits", threads: int = 1) -> GymVectorGame:
    """Return *n* copies of a game of one role as Gymnasium's vector environment, which begins ended plays anew.

    Raises: as `VectorGame`, and ValueError where the game has several roles, or *observed* is as `gym` refuses it.
    """
    games = VectorGame(game, n, seed=entropy(), is_flat=True, auto_reset=False, threads=threads)
    return GymVectorGame(games, observed)


def _check(games: VectorGame) -> None:
    if len(games.players) != 1:
        raise ValueError(f"Gymnasium is for one role, and the game has {len(games.players)}; PettingZoo takes it")


class GymGame(gymnasium.Env[Any, Any]):
    """A play of a game of one role; an illegal action ends it, with a reward of -1, until it is begun anew."""

    def __init__(self, single: SingleGame) -> None:
        _check(single.games)
        self.single, self.render_mode = single, single.render_mode
        self.metadata = {"render_modes": list(RENDER_MODES), "render_fps": 1}
        self.observation_space = spaces.Box(0, 1, single.shape, np.int8)
        self.action_space = spaces.Discrete(single.n_actions)
        self._is_under_way = False

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.single.mask(0)}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin a play; return what is seen and which actions are legal."""
        super().reset(seed=seed, options=options)
        self.single.reset(seed)
        self._is_under_way = True
        return self.single.observation(0), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take an action; return what is seen, the reward, whether the play has ended, False, and what is legal.

        Raises:
            gymnasium.error.ResetNeeded: the play has ended, or has not begun.
            TypeError: *action* is no whole number.
        """
        if not self._is_under_way:
            raise ResetNeeded("no play is under way: call reset() before step(), also after a play has ended")
        reward, is_over = -1.0, True
        if self.single.is_legal(0, action):
            rewards, ended = self.single.games.step(np.array([int(action)], np.int32), checks=False)
            reward, is_over = float(rewards[0, 0]), bool(ended[0])
        self._is_under_way = not is_over
        return self.single.observation(0), reward, is_over, False, self._info()

    def render(self) -> Any:
        """Return the board as text (`ansi`), or print it (`human`)."""
        return self.single.shown()


class GymVectorGame(VectorEnv[Any, Any, Any]):
    """Many plays of a game of one role; `info` has `action_mask`, and `final_obs` of the plays that have ended.

    *games* are such as do not begin anew by themselves. Actions must be legal (IllegalMoveError).
    """

    def __init__(self, games: VectorGame, observed: Observed = "bits") -> None:
        _check(games)
        check_observed(observed, games)
        self.games, self.num_envs, self.observed = games, games.n, observed
        self.metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}
        self.single_observation_space = spaces.Box(0, 1, self._seen().shape[1:], np.int8)
        self.single_action_space = spaces.Discrete(len(games.actions[0]))
        self.observation_space = batch_space(self.single_observation_space, games.n)
        self.action_space = batch_space(self.single_action_space, games.n)

    def _seen(self) -> NDArray[np.int8]:
        if self.observed == "planes":
            return self.games.planes().astype(np.int8)
        return self.games.observe().reshape(self.num_envs, -1).astype(np.int8)

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.games.legal.astype(np.int8)}

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin all plays; *seed* is one number for all copies, the first one of a list."""
        del options
        self.games.reset(seed=seed[0] if isinstance(seed, list) else seed)
        return self._seen(), self._info()

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take an action in each play; return what is seen, rewards, which have ended, none cut off, and infos."""
        outcome = self.games.step(np.asarray(actions))
        rewards, ended = outcome.rewards.copy(), outcome.ended.copy()
        info: dict[str, Any] = {}
        if ended.any():
            info["final_obs"], info["_final_obs"] = self._seen(), ended
            self.games.reset(ended)
        return self._seen(), rewards[:, 0].astype(np.float64), ended, np.zeros_like(ended), info | self._info()
