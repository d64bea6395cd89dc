"""Games of one role as environments of Gymnasium, single and vectorised; and the play that one steps through.

PettingZoo, which needs Gymnasium, steps through such a play, too.
"""

from __future__ import annotations

import secrets
from operator import index
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from gdl.boards.boards import board_of
from gdl.boards.guessing import layout_of
from gdl.boards.text import text_of
from gdl.game import Game
from players.environments.vector import VectorGame

Observed: TypeAlias = Literal["bits", "planes"]
RenderMode: TypeAlias = Literal["ansi", "human"]
RENDER_MODES: Final = ("ansi", "human")


class Solo:
    """A play of a game. *observed* says what is seen of it: `bits` (`VectorGame.observe`), or `planes`.

    *render_mode* says how it is shown to people: as text (`ansi`), printed (`human`), or not at all.

    Attributes:
        games: the one copy.
        agents: names of the players as PettingZoo wants them: the role and its number.
        sees_all: whether all players see the same.
    """

    def __init__(
        self,
        game: str | Path | Game,
        observed: Observed = "bits",
        render_mode: RenderMode | None = None,
        *,
        is_flat: bool | None = None,
    ) -> None:
        """Begin a play.

        Raises:
            ValueError: as `VectorGame`; *observed* is no way of seeing, or shows more than a player may know;
                *render_mode* is no way of showing.
        """
        if render_mode not in (None, *RENDER_MODES):
            raise ValueError(f"render_mode is None, {' or '.join(RENDER_MODES)}, not {render_mode!r}")
        self.games = VectorGame(game, 1, seed=_entropy(), is_flat=is_flat, auto_reset=False)
        self.sees_all = not self.games.is_hidden
        self.observed, self.render_mode = observed, render_mode
        _check_observed(observed, self.games)
        self.agents = [f"{role}_{number}" for number, role in enumerate(self.games.players)]
        self.shape: tuple[int, ...] = self.observation(0).shape

    def reset(self, seed: int | None) -> None:
        """Begin the play anew, and the randomness where there is a *seed*."""
        self.games.reset(seed=seed)

    def observation(self, player: int) -> NDArray[np.int8]:
        """Return what a player sees, 0 and 1."""
        if self.observed == "planes":
            return np.asarray(self.games.planes()[0], np.int8)
        seen = self.games.observe()[0]
        return np.array(seen if self.sees_all else seen[player], np.int8)

    def mask(self, player: int) -> NDArray[np.int8]:
        """Return which actions are legal for a player, 0 and 1; none where it is not to move."""
        legal = self.games.legal[0]
        if self.games.is_flat:
            return np.array(legal & (self.to_move == player), np.int8)
        return np.array(legal[player], np.int8)

    @property
    def to_move(self) -> int:
        """The player whose turn it is."""
        return int(self.games.to_move[0])

    @property
    def n_actions(self) -> int:
        """How many actions there are, legal or not."""
        return max(map(len, self.games.actions))

    def is_legal(self, player: int, action: Any) -> bool:
        """Return whether a player may take an action.

        Raises:
            TypeError: it is no whole number.
        """
        return 0 <= index(action) < self.n_actions and bool(self.mask(player)[index(action)])

    def text(self) -> str:
        """Return the board as text."""
        description = self.games.game.description
        layout = layout_of(description, self.games.about)
        return text_of(board_of(layout, description, self.games.states()[0].facts))

    def shown(self) -> str | None:
        """Return the board, or print it, as the render mode wants it."""
        if self.render_mode == "human":
            print(self.text())  # noqa: T201 -- what the mode is for
        return self.text() if self.render_mode == "ansi" else None


def gym(game: str | Path | Game, *, observed: Observed = "bits", render_mode: RenderMode | None = None) -> GymGame:
    """Return a game of one role as Gymnasium's environment.

    Observations are arrays of 0 and 1; `info["action_mask"]` says which actions are legal.

    Raises: as `players.environments.gymnasium_games.Solo`, and ValueError where the game has several roles.
    """
    return GymGame(Solo(game, observed, render_mode, is_flat=True))


def vector_gym(game: str | Path | Game, n: int, *, observed: Observed = "bits", threads: int = 1) -> GymVectorGame:
    """Return *n* copies of a game of one role as Gymnasium's vector environment, which begins ended plays anew.

    Raises: as `VectorGame`, and ValueError where the game has several roles, or *observed* is as `gym` refuses it.
    """
    games = VectorGame(game, n, seed=_entropy(), is_flat=True, auto_reset=False, threads=threads)
    return GymVectorGame(games, observed)


def _entropy() -> int:
    """Return a seed for chance until `reset` is given one, another for each environment."""
    return secrets.randbits(64)


def _check_observed(observed: Observed, games: VectorGame) -> None:
    """Raise ValueError where *observed* is no way of seeing, or shows more than a player may know."""
    if observed not in get_args(Observed):
        raise ValueError(f"observed is {' or '.join(get_args(Observed))}, not {observed!r}")
    if observed == "planes" and games.is_hidden:
        raise ValueError("planes show the whole state, and players do not see all of it")


def _check(games: VectorGame) -> None:
    if len(games.players) != 1:
        raise ValueError(f"Gymnasium is for one role, and the game has {len(games.players)}; PettingZoo takes it")


class GymGame(gymnasium.Env[Any, Any]):
    """A play of a game of one role; an illegal action ends it, with a reward of -1, until it is begun anew."""

    def __init__(self, solo: Solo) -> None:
        _check(solo.games)
        self.solo, self.render_mode = solo, solo.render_mode
        self.metadata = {"render_modes": list(RENDER_MODES), "render_fps": 1}
        self.observation_space = spaces.Box(0, 1, solo.shape, np.int8)
        self.action_space = spaces.Discrete(solo.n_actions)
        self._is_under_way = False

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.solo.mask(0)}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin a play; return what is seen and which actions are legal."""
        super().reset(seed=seed, options=options)
        self.solo.reset(seed)
        self._is_under_way = True
        return self.solo.observation(0), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take an action; return what is seen, the reward, whether the play has ended, False, and what is legal.

        Raises:
            gymnasium.error.ResetNeeded: the play has ended, or has not begun.
            TypeError: *action* is no whole number.
        """
        if not self._is_under_way:
            raise ResetNeeded("no play is under way: call reset() before step(), also after a play has ended")
        reward, is_over = -1.0, True
        if self.solo.is_legal(0, action):
            rewards, ended = self.solo.games.step(np.array([int(action)], np.int32), checks=False)
            reward, is_over = float(rewards[0, 0]), bool(ended[0])
        self._is_under_way = not is_over
        return self.solo.observation(0), reward, is_over, False, self._info()

    def render(self) -> Any:
        """Return the board as text (`ansi`), or print it (`human`)."""
        return self.solo.shown()


class GymVectorGame(VectorEnv[Any, Any, Any]):
    """Many plays of a game of one role; `info` has `action_mask`, and `final_obs` of the plays that have ended.

    *games* are such as do not begin anew by themselves. Actions must be legal (IllegalMoveError).
    """

    def __init__(self, games: VectorGame, observed: Observed = "bits") -> None:
        _check(games)
        _check_observed(observed, games)
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
