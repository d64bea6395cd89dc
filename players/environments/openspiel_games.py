"""Games as Python games of OpenSpiel: sequential, with chance nodes, information states and observations.

In a state in which several roles choose, they choose one after the other without being shown it, chance last; roles
that only wait are passed over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
import pyspiel

from gdl.errors import CallerError, IllegalMoveError, TerminalStateError
from gdl.game import RANDOM, State, no_such_move
from gdl.game import Game as GdlGame
from players.environments.openspiel_positions import KeptSpielPosition, SpielPosition, SpielRules
from players.environments.vector import VectorGame

MAX_LENGTH: Final = 10_000
"""The most steps of a play, as the game tells OpenSpiel."""
_SAMPLED: Final = 512


_registered: Final[dict[str, tuple[str, float]]] = {}
"""The names that were registered here: the SHA-256 of the rules, and the unit."""


class SpielNameTakenError(CallerError):
    """OpenSpiel, which cannot take a name back, has another game of that name."""

    template: ClassVar[str] = "OpenSpiel has a game {name} already, of other rules or another unit: choose another name"
    name: str


def openspiel(game: str | Path | GdlGame, *, unit: float = 50, name: str | None = None) -> Any:
    """Return a game as one of OpenSpiel, registered there as `ggp_NAME` where a *name* is given.

    Utilities are goals less 50 in *unit*s: with 50 from -1 to 1. Whether all goals of a play come to the same sum is
    found out by random plays.

    Raises:
        SpielNameTakenError: OpenSpiel has that name for other rules, or for these in another unit.
        UnknownNameError, CannotCompileError: as `players.environments.VectorGame`.
    """
    rules = SpielRules(VectorGame(game, _SAMPLED, seed=1), unit)
    label = name or (Path(game).stem if isinstance(game, str | Path) else "game")
    kind, info = _type(rules, f"ggp_{label}"), _info(rules)

    class LoadedGame(GdlSpielGame):
        """The game, as OpenSpiel makes it when it is asked for by name."""

        def __init__(self, params: Any = None) -> None:
            super().__init__(kind, info, rules, params)

    if name is not None:
        _register(kind, LoadedGame, (rules.game.description.sha256, unit))
    return LoadedGame()


def _register(kind: Any, made: Callable[..., Any], meant: tuple[str, float]) -> None:
    """Register what makes a game, once: what is registered is kept to the end of the process."""
    if kind.short_name not in pyspiel.registered_names():
        pyspiel.register_game(kind, made)
        _registered[kind.short_name] = meant
    elif _registered.get(kind.short_name) != meant:
        raise SpielNameTakenError(kind.short_name)


class GdlSpielGame(pyspiel.Game):
    """A game of OpenSpiel whose rules are of the game description language."""

    def __init__(self, kind: Any, info: Any, rules: SpielRules, params: Any = None) -> None:
        super().__init__(kind, info, params or {})
        self.rules = rules

    def new_initial_state(self) -> SpielState:
        """Return the first position."""
        return SpielState(self, self.rules.begin())

    def state_of(self, state: State) -> SpielState:
        """Return a state of the game as one of OpenSpiel, without what led to it."""
        return SpielState(self, self.rules.next_decision(replace(self.rules.begin(), state=state, chosen=())))

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> OpenSpielObserver:  # noqa: ARG002 -- there are none
        """Return what writes observations and information states."""
        return OpenSpielObserver(self.rules, iig_obs_type is not None and iig_obs_type.perfect_recall)


class SpielState(pyspiel.State):
    """A position of a play."""

    def __init__(self, game: GdlSpielGame, position: SpielPosition) -> None:
        super().__init__(game)
        self._position: SpielPosition | KeptSpielPosition = position

    @property
    def position(self) -> SpielPosition:
        """The state of the rules, and what led to it."""
        if isinstance(self._position, KeptSpielPosition):  # OpenSpiel deserializes attributes, past the constructor
            self._position = self._position.of(self.get_game().rules)
        return self._position

    @property
    def _rules(self) -> SpielRules:
        return self.position.rules

    def current_player(self) -> int:
        """Return the number of the player whose turn it is, or that of chance or of an end."""
        chooser = self.position.chooser
        if chooser is None:
            return int(pyspiel.PlayerId.TERMINAL)
        return int(pyspiel.PlayerId.CHANCE) if chooser == RANDOM else self._rules.players.index(chooser)

    def _legal_actions(self, player: int) -> list[int]:
        moves = self.position.state.legal_moves(self._rules.players[player])
        return sorted(self._rules.number[move] for move in moves)

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the moves of chance by number, all equally likely."""
        moves = self.position.state.legal_moves(RANDOM)
        return sorted((self._rules.chance_number[move], 1 / len(moves)) for move in moves)

    def _apply_action(self, action: int) -> None:
        chooser = self.position.chooser
        if chooser is None:
            raise TerminalStateError
        moves = self._rules.chance_moves if chooser == RANDOM else self._rules.actions
        if not 0 <= action < len(moves):
            raise IllegalMoveError(str(chooser), f"action {action}")
        if moves[action] not in self.position.state.legal_moves(chooser):
            raise no_such_move(chooser, moves[action])
        self._position = self.position.choose(moves[action])

    def _action_to_string(self, player: int, action: int) -> str:
        moves = self._rules.chance_moves if player == pyspiel.PlayerId.CHANCE else self._rules.actions
        return str(moves[action])

    def is_terminal(self) -> bool:
        """Return whether the play is over."""
        return bool(self.position.state.is_terminal)

    def returns(self) -> list[float]:
        """Return the utility of each player, 0 before the end."""
        if not self.is_terminal():
            return [0.0 for _ in self._rules.players]
        return [self._rules.utility(self.position.state.goal(role)) for role in self._rules.players]

    def __str__(self) -> str:
        facts = " ".join(sorted(map(str, self.position.state.facts)))
        return " | ".join([facts, *map(str, self.position.chosen)])


class OpenSpielObserver:
    """Writes what a player sees: with perfect recall all that it did and perceived, else what there is to see now.

    The tensor is that of `VectorGame.observe`: fluents, or in a hidden game what the player did and perceived last and
    ever. Attributes: `tensor`, `dict`.
    """

    def __init__(self, rules: SpielRules, has_perfect_recall: bool) -> None:
        self._rules, self._has_perfect_recall = rules, has_perfect_recall
        self._write: Callable[[SpielPosition, int], None] = self._write_memory if rules.is_hidden else self._write_facts
        self._percepts = [{percept: i for i, percept in enumerate(each)} for each in rules.numbering.percepts]
        self._widths = (len(rules.actions), max(map(len, self._percepts)))
        size = 2 * sum(self._widths) if rules.is_hidden else len(rules.game.fluents)
        self.tensor = np.zeros(size, np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state: SpielState, player: int) -> None:
        """Write what *player* sees of *state* to the tensor."""
        self.tensor.fill(0)
        self._write(state.position, player)

    def _write_facts(self, position: SpielPosition, player: int) -> None:  # noqa: ARG002 -- all see the same
        number = self._rules.game.fluent_number
        self.tensor[[number[fact] for fact in position.state.facts]] = 1

    def _write_memory(self, position: SpielPosition, player: int) -> None:
        half, width = sum(self._widths), self._widths[0]
        for step in position.seen[player]:
            if step.is_choice:
                move = self._rules.number[step.move]
                self.tensor[:half] = 0
                self.tensor[[move, half + move]] = 1
            for percept in step.percepts:
                number = width + self._percepts[player][percept]
                self.tensor[[number, half + number]] = 1

    def string_from(self, state: SpielState, player: int) -> str:
        """Return what *player* sees of *state* as text."""
        position = state.position
        if self._has_perfect_recall:
            return "; ".join((f"player {player}", *map(str, position.seen[player])))
        if not self._rules.is_hidden:
            return " ".join(sorted(map(str, position.state.facts)))
        return "; ".join((f"player {player}", *map(str, position.seen[player][-1:])))


def _type(rules: SpielRules, name: str) -> Any:
    kinds, is_constant = pyspiel.GameType, len(rules.players) == 2 and rules.sums == {100}
    sees_all = not rules.is_hidden and rules.is_flat
    return kinds(
        short_name=name,
        long_name=name,
        dynamics=kinds.Dynamics.SEQUENTIAL,
        chance_mode=kinds.ChanceMode.EXPLICIT_STOCHASTIC if rules.chance_moves else kinds.ChanceMode.DETERMINISTIC,
        information=kinds.Information.PERFECT_INFORMATION if sees_all else kinds.Information.IMPERFECT_INFORMATION,
        utility=kinds.Utility.ZERO_SUM if is_constant else kinds.Utility.GENERAL_SUM,
        reward_model=kinds.RewardModel.TERMINAL,
        max_num_players=len(rules.players),
        min_num_players=len(rules.players),
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=False,
    )


def _info(rules: SpielRules) -> Any:
    goals = [goal for role in rules.numbering.role_numbers for goal in rules.game.rules.goals[role] if goal is not None]
    is_constant = len(rules.players) == 2 and rules.sums == {100}
    return pyspiel.GameInfo(
        num_distinct_actions=len(rules.actions),
        max_chance_outcomes=len(rules.chance_moves),
        num_players=len(rules.players),
        min_utility=rules.utility(min(goals)),
        max_utility=rules.utility(max(goals)),
        utility_sum=0.0 if is_constant else None,
        max_game_length=MAX_LENGTH,
    )
