"""Who works out the states of a match: an engine beside the event loop, or whatever speaks for one elsewhere."""

from __future__ import annotations

from typing import Protocol

from gdl.game import Game, JointMove, Outline, Role
from gdl.rules import Description
from server.match.background import Evaluator, in_own_thread
from server.match.position import Position, first_position, next_position


class Referee(Outline, Protocol):
    """Works out the states of any number of matches of one game."""

    async def first_position(self) -> Position:
        """Return the initial state.

        Raises: as `server.match.position.first_position`; LimitExceeded where the rules cost too much.
        """

    async def next_position(self, position: Position, moves: JointMove) -> Position:
        """Return the state after the joint move *moves* in *position*; raises as `first_position`."""


class LocalReferee:
    """The referee whose engine is *game*, in this process; *evaluator* keeps the event loop free meanwhile."""

    def __init__(self, game: Game, evaluator: Evaluator = in_own_thread) -> None:
        self._game, self._evaluator = game, evaluator

    @property
    def description(self) -> Description:
        """The rules."""
        return self._game.description

    @property
    def roles(self) -> tuple[Role, ...]:
        """The roles, in the order of the file, `random` included."""
        return self._game.roles

    @property
    def has_imperfect_information(self) -> bool:
        """Whether the rules are GDL-II."""
        return self._game.has_imperfect_information

    async def first_position(self) -> Position:
        """Return the initial state."""
        return await self._evaluator(lambda: first_position(self._game))

    async def next_position(self, position: Position, moves: JointMove) -> Position:
        """Return the state after the joint move *moves* in *position*."""
        return await self._evaluator(lambda: next_position(self._game, position, moves))
