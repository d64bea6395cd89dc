"""Nannon in a few lines, written beside the rule file and not from it: positions as counts of steps gone."""

from __future__ import annotations

from typing import TypeAlias

Position: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
"""How far the checkers of the player in turn and of the other have gone: 0 is home, 1 to 6 a point, 7 safety."""

FIRST: Position = ((0, 1, 2), (0, 1, 2))


def moves(position: Position, eyes: int) -> list[tuple[int, int]]:
    """Return what the player in turn may do: from where to where; empty where it must pass."""
    mine, others = position
    theirs = {7 - steps for steps in others if 1 <= steps <= 6}
    primes = {point for point in theirs if theirs & {point - 1, point + 1}}
    found = set()
    for steps in set(mine) - {7}:
        to = min(steps + eyes, 7)
        if to == 7 or (to not in mine and to not in primes):
            found.add((steps, to))
    return sorted(found)


def after(position: Position, move: tuple[int, int] | None) -> Position:
    """Return the position after *move*, or a pass, from the side of the other player."""
    mine, others = list(position[0]), position[1]
    if move is not None:
        steps, to = move
        mine[mine.index(steps)] = to
        others = tuple(0 if to != 7 and theirs == 7 - to else theirs for theirs in others)
    return tuple(sorted(others)), tuple(sorted(mine))


def positions() -> set[Position]:
    """Return all positions that can be reached from the first one, ended ones included."""
    found, waiting = {FIRST}, [FIRST]
    while waiting:
        position = waiting.pop()
        if (7, 7, 7) in position:
            continue
        for eyes in range(1, 7):
            options = [after(position, move) for move in moves(position, eyes)]
            for then in options or [after(position, None)]:
                if then not in found:
                    found.add(then)
                    waiting.append(then)
    return found
