"""Random plays to the end, and what they came to.

Every role chooses among its legal moves with equal probability, `random` as everyone else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Final

from gdl.errors import LimitExceeded, StuckPlayError

if TYPE_CHECKING:
    from gdl.game import Role, State

MAX_STEPS: Final = 1_000_000
"""How many steps a play may take unless the caller says otherwise."""


@dataclass(frozen=True, slots=True)
class Playouts:
    """What a number of plays from one state came to.

    *Shapes*: `goal_sums`, `goal_squares` and `n_scored` have one entry per role: the sum of its goals, of their
    squares, and the number of plays that ended where it had exactly one goal; the others count as goal 0.
    `n_steps` is the sum of the lengths, `step_squares` the sum of their squares, `longest` the longest.
    """

    n_plays: int
    goal_sums: tuple[int, ...]
    goal_squares: tuple[int, ...]
    n_scored: tuple[int, ...]
    n_steps: int
    step_squares: int
    longest: int

    @property
    def mean_goals(self) -> tuple[float, ...]:
        """The mean goal of every role."""
        return tuple(total / self.n_plays for total in self.goal_sums)

    @property
    def mean_length(self) -> float:
        """The mean number of steps."""
        return self.n_steps / self.n_plays


def interpreted_playouts(state: State, roles: Sequence[Role], n: int, seed: int, max_steps: int) -> Playouts:
    """Return what *n* plays from *state* come to, made one after the other.

    Raises:
        ValueError: *n* is not positive.
        StuckPlayError: a role has no legal move.
        LimitExceeded: a play takes more than *max_steps* steps.
    """
    check_number(n)
    random = Random(seed)
    ends = [_play(state, roles, random, max_steps) for _ in range(n)]
    lengths = [length for length, _ in ends]
    goals = list(zip(*(found for _, found in ends), strict=True))
    return Playouts(
        n_plays=n,
        goal_sums=tuple(sum(goal or 0 for goal in values) for values in goals),
        goal_squares=tuple(sum((goal or 0) ** 2 for goal in values) for values in goals),
        n_scored=tuple(sum(goal is not None for goal in values) for values in goals),
        n_steps=sum(lengths),
        step_squares=sum(length**2 for length in lengths),
        longest=max(lengths),
    )


def check_number(n: int) -> None:
    """Raise ValueError unless *n* plays can be made."""
    if n < 1:
        raise ValueError(f"the number of plays is 1 or more, not {n}")


def _play(state: State, roles: Sequence[Role], random: Random, max_steps: int) -> tuple[int, list[int | None]]:
    length = 0
    while not state.is_terminal:
        if length == max_steps:
            raise LimitExceeded("steps in one play", max_steps)
        legal = [state.legal_moves(role) for role in roles]
        if not all(legal):
            raise StuckPlayError
        state = state.next_state([random.choice(moves) for moves in legal])
        length += 1
    return length, [state.goal(role) for role in roles]
