"""What a position is worth to a role when nobody looks further, between -1 (lost) and 1 (won)."""

from __future__ import annotations

from typing import Final

from players.positions import Position

_GOAL_WEIGHT: Final = 0.9
_MOBILITY_WEIGHT: Final = 0.09


def difference(position: Position, me: int, others: tuple[int, ...]) -> float:
    """Return the goal of role number *me* minus the mean goal of *others*; alone, its goal."""
    goals = position.goals
    return goals[me] - sum(goals[i] for i in others) / max(1, len(others))


def estimate(position: Position, me: int, others: tuple[int, ...]) -> float:
    """Return a guess at the worth of *position*: the goals as they stand now, then who has more moves.

    What has ended is worth exactly its goals; what has not ended never reaches a won or a lost end.
    """
    if position.is_end:
        return difference(position, me, others)
    theirs = sum(_mobility(position, i) for i in others) / max(1, len(others))
    return _GOAL_WEIGHT * difference(position, me, others) + _MOBILITY_WEIGHT * (_mobility(position, me) - theirs)


def _mobility(position: Position, i: int) -> float:
    """Return a number from 0, for a single move, towards 1 for very many."""
    n_alternatives = len(position.moves[i]) - 1
    return n_alternatives / (n_alternatives + 10)
