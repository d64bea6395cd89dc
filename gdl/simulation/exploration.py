"""The states of a game, all of them where they are few enough: breadth first, each state once.

What follows from a whole space is exact: whether every play ends, how long plays are, who can win and who can force it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import product
from typing import Final

from gdl.game import JointMove, State
from gdl.simulation.budget import LimitInPlay, OutOfTime
from gdl.simulation.defects import Play
from gdl.simulation.observer import Observer

_EDGES_PER_STATE: Final = 50
"""How many joint moves the search makes per state that it may look at."""


class Space:
    """States in the order in which they were reached, the initial state first; joint moves between them.

    Attributes:
        states: the states.
        edges: by state, the joint moves made in it, each with the number of the state that it leads to.
        is_complete: whether there is no other state, and no other joint move.
    """

    def __init__(self, initial: State) -> None:
        self.states: list[State] = [initial]
        self.edges: list[list[tuple[JointMove, int]]] = [[]]
        self.is_complete = False
        self._numbers: dict[State, int] = {initial: 0}
        self._reached_from: list[tuple[int, JointMove]] = [(-1, ())]

    def add(self, number: int, moves: JointMove, reached: State) -> None:
        """Take in that *moves* in the state of that *number* lead to *reached*."""
        target = self._numbers.setdefault(reached, len(self.states))
        if target == len(self.states):
            self.states.append(reached)
            self.edges.append([])
            self._reached_from.append((number, moves))
        self.edges[number].append((moves, target))

    def path(self, number: int) -> Play:
        """Return a shortest play that leads to the state of that number."""
        found: list[JointMove] = []
        while number > 0:
            number, moves = self._reached_from[number]
            found.append(moves)
        return tuple(reversed(found))


def explore(observer: Observer, max_states: int) -> Space:
    """Return the states that can be reached, up to *max_states* of them and until the observer's deadline.

    Raises:
        LimitInPlay: the engine reached a limit.
    """
    space = Space(observer.game.initial_state)
    with suppress(OutOfTime):
        space.is_complete = _fill(observer, space, max_states)
    return space


def _fill(observer: Observer, space: Space, max_states: int) -> bool:
    """Search breadth first, and return whether the search came to its end."""
    number = n_edges = 0
    while number < len(space.states):
        for _ in _expand(observer, space, number):
            n_edges += 1
            if len(space.states) > max_states or n_edges > _EDGES_PER_STATE * max_states:
                return False
        number += 1
    return True


def _expand(observer: Observer, space: Space, number: int) -> Iterator[None]:
    """Make every joint move in the state of that number, and yield after each."""
    state, path = space.states[number], partial(space.path, number)
    try:
        legal = observer.look(state, path)
        for moves in product(*legal) if legal is not None else ():
            space.add(number, moves, observer.move(state, moves, lambda: (*path(), moves)))  # noqa: B023 -- at once
            yield
    except LimitInPlay as limit:
        raise limit.after(path()) from limit
