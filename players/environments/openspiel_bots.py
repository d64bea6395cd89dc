"""OpenSpiel's bots as players of matches: `openspiel:mcts?simulations=200`, and `openspiel:random`."""

from __future__ import annotations

from typing import Any, ClassVar, Final

import numpy as np
import pyspiel
from open_spiel.python.algorithms import mcts
from open_spiel.python.bots import uniform_random

from gdl.errors import CallerError
from gdl.game import Role, State
from gdl.language.terms import Term
from players.deadline import Deadline
from players.environments.openspiel_games import GdlSpielGame, openspiel
from players.player import Player, check_at_least_one, check_not_terminal

BOTS: Final = ("mcts", "random")


class OpenSpielPlayer(Player):
    """A bot of OpenSpiel: its Python `mcts`, with random rollouts, or its `random`.

    `mcts` is for games of turns in which everything is seen, as it is in OpenSpiel; *simulations* and *uct_c* are those
    of each move.
    """

    def __init__(self, bot: str = "mcts", simulations: int = 100, uct_c: float = 2.0) -> None:
        """Choose the bot.

        Raises:
            UnknownBotError: there is none of that name.
            ValueError: it may make no simulation.
        """
        if bot not in BOTS:
            raise UnknownBotError(bot)
        check_at_least_one("simulations", simulations)
        self._kind, self._simulations, self._uct_c = bot, simulations, uct_c
        self._spiel: GdlSpielGame | None = None
        self._bot: Any = None

    def start(self, deadline: Deadline) -> None:  # noqa: ARG002 -- what takes long is compiling, which has limits
        """Make the game of OpenSpiel, and the bot."""
        self._prepare()

    def _prepare(self) -> GdlSpielGame:
        if self._spiel is None:
            self._spiel = openspiel(self.game)
            self._bot = self._made(self._spiel)
        return self._spiel

    def _made(self, spiel: GdlSpielGame) -> Any:
        player, random_state = spiel.rules.players.index(self.role), np.random.RandomState(self.random.randrange(2**31))
        if self._kind == "random" or spiel.get_type().information != pyspiel.GameType.Information.PERFECT_INFORMATION:
            return uniform_random.UniformRandomBot(player, random_state)
        evaluator = mcts.RandomRolloutEvaluator(random_state=random_state)
        return mcts.MCTSBot(spiel, self._uct_c, self._simulations, evaluator, random_state=random_state)

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:  # noqa: ARG002 -- a bot counts simulations
        """Return the bot's move, or the only one."""
        check_not_terminal(state)
        legal = state.legal_moves(role)
        if len(legal) == 1:
            return legal[0]
        spiel = self._prepare()
        position = spiel.state_of(state)
        if spiel.rules.players.index(role) != position.current_player():
            return legal[self.random.randrange(len(legal))]
        action: int = self._bot.step(position)
        return spiel.rules.actions[action]


class UnknownBotError(CallerError):
    """There is no such bot of OpenSpiel here."""

    template: ClassVar[str] = "OpenSpiel's bots here are mcts and random, not {bot!r}"
    bot: str
