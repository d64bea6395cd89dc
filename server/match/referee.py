"""The referee of a match: the engine's answers for one position, worked out beside the event loop."""

import math
import time
from collections.abc import Awaitable, Callable
from typing import Final, Protocol, TypeAlias

from gdl.game import Game, JointMove, Outline, Role
from gdl.language.rules import Description
from server.match.position import Position, first_position, next_position
from server.threads import in_own_thread

Evaluator: TypeAlias = Callable[[Callable[[], Position]], Awaitable[Position]]
"""Runs the function that it is given without holding up the event loop, and returns what that returned."""

QUICK_S: Final = 0.002
"""What may hold up the event loop."""
_MEMORY: Final = 0.9
"""How slowly it is forgotten that something took long."""


class AdaptiveEvaluator:
    """Works in the event loop what has been quick lately, and everything else in a thread of its own.

    A thread costs more than a state of a small game does, and the loop gets back to its work late while it runs.
    *work_s* is the clock that tells how long this thread has worked.
    """

    def __init__(self, quick_s: float = QUICK_S, work_s: Callable[[], float] = time.thread_time) -> None:
        self._quick_s, self._work_s = quick_s, work_s
        self._expected_s = math.inf

    async def __call__(self, work: Callable[[], Position]) -> Position:
        """Return what *work* returns."""
        if self._expected_s > self._quick_s:
            return self._noted(*await in_own_thread(lambda: self._timed(work)))
        return self._noted(*self._timed(work))

    def now(self, work: Callable[[], Position]) -> Position | None:
        """Return what *work* returns where it is expected to be quick; None where it is not, and was not begun."""
        return None if self._expected_s > self._quick_s else self._noted(*self._timed(work))

    def _noted(self, position: Position, spent_s: float) -> Position:
        is_first = math.isinf(self._expected_s)
        self._expected_s = spent_s if is_first else max(spent_s, _MEMORY * self._expected_s)
        return position

    def _timed(self, work: Callable[[], Position]) -> tuple[Position, float]:
        began_s = self._work_s()
        position = work()
        return position, self._work_s() - began_s


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
        """The rules of the match, as they were read."""
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

    def next_position_now(self, position: Position, moves: JointMove) -> Position | None:
        """Return the state after *moves* where it is expected to be quick; None where it is not, and was not begun."""
        if not isinstance(self._evaluator, AdaptiveEvaluator):
            return None
        return self._evaluator.now(lambda: next_position(self._game, position, moves))
