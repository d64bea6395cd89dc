"""What a simulation may cost, and how much of it is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, ParamSpec, TypeAlias, TypeVar

from gdl.errors import LimitExceeded
from gdl.game import DEFAULT_LIMITS, EvaluationLimits, JointMove

Clock: TypeAlias = Callable[[], float]
Answer = TypeVar("Answer")
Arguments = ParamSpec("Arguments")


@dataclass(frozen=True, slots=True)
class SimulationBudget:
    """What a simulation may cost.

    Attributes:
        plays: how many random plays are made.
        seconds: the time for everything; half of it at most goes to the plays before the search.
        states: how many states the exhaustive search looks at before it gives up; 0 leaves it out.
        steps: how many joint moves a play may have before it counts as one that does not end.
        limits: what a single question to the engine may cost; never more time than `seconds`.
    """

    plays: int = 100
    seconds: float = 10.0
    states: int = 10_000
    steps: int = 5_000
    limits: EvaluationLimits = DEFAULT_LIMITS

    @property
    def limits_in_time(self) -> EvaluationLimits:
        """The limits of a single question, its time included."""
        own = self.limits.max_seconds
        return replace(self.limits, max_seconds=self.seconds if own is None else min(own, self.seconds))


DEFAULT_BUDGET: Final = SimulationBudget()


class TimeLimit:
    """A moment on a clock."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._end_s = clock() + seconds

    @property
    def left_s(self) -> float:
        """How many seconds are left; 0 at the end."""
        return max(0.0, self._end_s - self._clock())

    @property
    def is_over(self) -> bool:
        """Whether the moment has come."""
        return self._clock() >= self._end_s

    def half(self) -> TimeLimit:
        """Return the moment when half of what is left now will have passed."""
        return TimeLimit(self._clock, self.left_s / 2)


class LimitInPlay(LimitExceeded):
    """The engine reached a limit in deriving `relation`, after the joint moves of `play`."""

    def __init__(self, relation: str, cause: LimitExceeded, play: tuple[JointMove, ...] = ()) -> None:
        super().__init__(cause.what, cause.limit)
        self.relation, self.cause, self.play = relation, cause, play

    def after(self, play: tuple[JointMove, ...]) -> LimitInPlay:
        """Return the same with the joint moves that led to it."""
        return LimitInPlay(self.relation, self.cause, play)


class OutOfTime(Exception):  # noqa: N818 -- no error: what was found until then counts
    """The time for this part of a simulation is over."""


def ask(
    deadline: TimeLimit,
    relation: str,
    question: Callable[Arguments, Answer],
    *args: Arguments.args,
    **kw: Arguments.kwargs,
) -> Answer:
    """Return the answer to *question*, asked with these arguments; it is about *relation*.

    Raises:
        OutOfTime: *deadline* is over, so it is not asked any more.
        LimitInPlay: the answer costs more than the engine's limits allow.
    """
    if deadline.is_over:
        raise OutOfTime
    try:
        return question(*args, **kw)
    except LimitExceeded as error:
        raise LimitInPlay(relation, error) from error
