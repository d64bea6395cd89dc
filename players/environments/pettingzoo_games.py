"""Games as environments of PettingZoo: one agent after the other (AEC), or all at once (parallel)."""

from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils import OrderEnforcingWrapper
from pettingzoo.utils.conversions import parallel_to_aec
from pettingzoo.utils.env_logger import EnvLogger

from gdl.game import Game
from players.environments.single import RENDER_MODES, Observed, RenderMode, SingleGame

ILLEGAL_REWARD: Final = -1.0
"""What an illegal action costs; the play ends with it, and the others get nothing."""


def aec(game: str | Path | Game, *, observed: Observed = "bits", render_mode: RenderMode | None = None) -> Any:
    """Return a game as PettingZoo's AEC environment, in which one agent acts at a time.

    In a game of turns the agent is the player whose turn it is; in others all act in a row, and then the step is made.
    Observations are dicts of `observation` and `action_mask`, 0 and 1.

    Raises: as `players.environments.single.SingleGame`.
    """
    single = SingleGame(game, observed, render_mode)
    return OrderEnforcingWrapper(AecGame(single)) if single.games.is_flat else parallel_to_aec(ParallelGame(single))


def parallel(game: str | Path | Game, *, observed: Observed = "bits", render_mode: RenderMode | None = None) -> Any:
    """Return a game as PettingZoo's parallel environment, in which all agents act at each step.

    A player that is not to move has one action, that of waiting. Observations are as of `aec`.

    Raises: as `players.environments.single.SingleGame`.
    """
    return ParallelGame(SingleGame(game, observed, render_mode, is_flat=False))


class _Environment:
    """What both kinds share: the copy that is played, the agents and their spaces, and the board as text."""

    def _begin(self, single: SingleGame) -> None:
        self.single, self.render_mode = single, single.render_mode
        self.possible_agents = list(single.agents)
        self.observation_spaces = {agent: _observation_space(single) for agent in single.agents}
        self.action_spaces = {agent: spaces.Discrete(single.n_actions) for agent in single.agents}
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the space of an agent's actions."""
        return self.action_spaces[agent]

    def render(self) -> str | None:
        """Return the board as text (`ansi`), or print it (`human`)."""
        return self.single.shown()

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


def _observation_space(single: SingleGame) -> spaces.Dict:
    return spaces.Dict(
        {
            "observation": spaces.Box(0, 1, single.shape, np.int8),
            "action_mask": spaces.Box(0, 1, (single.n_actions,), np.int8),
        }
    )


def _seen(single: SingleGame, player: int) -> dict[str, Any]:
    return {"observation": single.observation(player), "action_mask": single.mask(player)}


class AecGame(_Environment, AECEnv[str, Any, Any]):
    """A game of turns."""

    def __init__(self, single: SingleGame) -> None:
        super().__init__()
        self.metadata = {"render_modes": list(RENDER_MODES), "name": "ggp", "is_parallelizable": False}
        self._begin(single)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:  # noqa: ARG002 -- there are none
        """Begin a play."""
        self.single.reset(seed)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.possible_agents[self.single.to_move]

    def observe(self, agent: str) -> dict[str, Any]:
        """Return what an agent sees now."""
        return _seen(self.single, self.possible_agents.index(agent))

    def step(self, action: Any) -> None:
        """Take an action of the agent whose turn it is; None where its play is over."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0
        player = self.possible_agents.index(agent)
        if self.single.is_legal(player, action):
            rewards, ended = self.single.games.step(np.array([int(action)], np.int32), checks=False)
            self.rewards = dict(zip(self.possible_agents, map(float, rewards[0]), strict=True))
            is_over = bool(ended[0])
        else:
            self.rewards = {other: ILLEGAL_REWARD if other == agent else 0.0 for other in self.agents}
            is_over = True
        self.terminations = dict.fromkeys(self.agents, is_over)
        self._accumulate_rewards()
        if not is_over:
            self.agent_selection = self.possible_agents[self.single.to_move]
        else:
            self._deads_step_first()


class ParallelGame(_Environment, ParallelEnv[str, Any, Any]):
    """A game in which all players act at each step."""

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": list(RENDER_MODES), "name": "ggp", "is_parallelizable": True,
    }  # fmt: skip

    def __init__(self, single: SingleGame) -> None:
        self._begin(single)

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None  # noqa: ARG002 -- there are none
    ) -> tuple[dict[str, Any], dict[str, Any]]:  # fmt: skip
        """Begin a play; return what the agents see."""
        self.single.reset(seed)
        self.agents = list(self.possible_agents)
        return self._observations(), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        """Take an action of each agent; return what they see, rewards, which have ended, none cut off, and infos.

        Raises:
            AssertionError: no play is under way.
        """
        if not self.agents:
            EnvLogger.error_step_before_reset()
        agents = list(self.agents)
        wrong = [
            agent
            for player, agent in enumerate(self.possible_agents)
            if not self.single.is_legal(player, actions.get(agent, -1))
        ]
        if wrong:
            rewards = {agent: ILLEGAL_REWARD if agent in wrong else 0.0 for agent in agents}
            is_over = True
        else:
            chosen = np.array([[int(actions[agent]) for agent in self.possible_agents]], np.int32)
            outcome = self.single.games.step(chosen, checks=False)
            rewards = dict(zip(agents, map(float, outcome.rewards[0]), strict=True))
            is_over = bool(outcome.ended[0])
        if is_over:
            self.agents = []
        return (
            self._observations(),
            rewards,
            dict.fromkeys(agents, is_over),
            dict.fromkeys(agents, False),
            {agent: {} for agent in agents},
        )

    def _observations(self) -> dict[str, Any]:
        return {agent: _seen(self.single, player) for player, agent in enumerate(self.possible_agents)}
