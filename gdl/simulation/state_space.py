"""The state space of a small game, and what it says: how long plays can be, and who can force a win."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Final

from gdl.game import Game, JointMove, Role, State
from gdl.simulation.figures import Defect, Exact, Play
from gdl.simulation.observer import LimitInPlay, Observer, OutOfTime

_EDGES_PER_STATE: Final = 50
"""How many joint moves the search makes per state that it may look at."""


class StateSpace:
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


def explore(observer: Observer, max_states: int) -> StateSpace:
    """Return the states that can be reached, up to *max_states* of them and until the observer's deadline.

    Raises:
        LimitInPlay: the engine reached a limit.
    """
    space = StateSpace(observer.game.initial_state)
    with suppress(OutOfTime):
        space.is_complete = _fill(observer, space, max_states)
    return space


def _fill(observer: Observer, space: StateSpace, max_states: int) -> bool:
    """Search breadth first, and return whether the search came to its end."""
    number = n_edges = 0
    while number < len(space.states):
        for _ in _expand(observer, space, number):
            n_edges += 1
            if len(space.states) > max_states or n_edges > _EDGES_PER_STATE * max_states:
                return False
        number += 1
    return True


def _expand(observer: Observer, space: StateSpace, number: int) -> Iterator[None]:
    """Make every joint move in the state of that number, and yield after each."""
    state, path = space.states[number], partial(space.path, number)
    try:
        legal = observer.look(state, path)
        for moves in product(*legal) if legal is not None else ():
            space.add(number, moves, observer.move(state, moves, lambda: (*path(), moves)))  # noqa: B023 -- at once
            yield
    except LimitInPlay as limit:
        raise limit.after(path()) from limit


@dataclass(frozen=True, slots=True)
class Order:
    """The states of a space, those before that others lead to; or the circle that makes this impossible.

    Attributes:
        backwards: numbers of states, each after all that it leads to, but for circles.
        circle: a state and the joint moves that lead from it to itself; None where there is none.
    """

    backwards: tuple[int, ...]
    circle: tuple[int, tuple[JointMove, ...]] | None


def order_of(space: StateSpace) -> Order:
    """Return the states of *space* in order, by a search in depth."""
    backwards: list[int] = []
    circle: tuple[int, tuple[JointMove, ...]] | None = None
    place: dict[int, int] = {0: 0}  # where on the stack a state is; -1 once it is done
    stack = [(0, iter(space.edges[0]))]
    made: list[JointMove] = []
    while stack:
        number, edges = stack[-1]
        for moves, target in edges:
            if target not in place:
                place[target] = len(stack)
                stack.append((target, iter(space.edges[target])))
                made.append(moves)
                break
            if place[target] >= 0 and circle is None:
                circle = target, (*made[place[target] :], moves)
        else:
            backwards.append(number)
            place[number] = -1
            stack.pop()
            if made:
                made.pop()
    return Order(tuple(backwards), circle)


def endless_play(space: StateSpace, order: Order) -> Defect | None:
    """Return the defect that a play may run in a circle, or None."""
    if order.circle is None:
        return None
    start, around = order.circle
    before = space.path(start)
    return Defect("endless-play", (*before, *around), since=len(before))


def lengths(space: StateSpace, order: Order) -> tuple[int | None, int | None]:
    """Return the numbers of steps of the shortest and the longest play, None where there is no such play.

    The space is complete. A state without edges that is not terminal ends no play: there the players are stuck.
    """
    shortest = min((len(space.path(i)) for i in _ends(space)), default=None)
    if order.circle is not None:
        return shortest, None
    longest: dict[int, int] = {}
    for number in order.backwards:
        longest[number] = max((1 + longest[target] for _, target in space.edges[number]), default=0)
    return shortest, longest[0]


def can_force_win(space: StateSpace, order: Order, roles: tuple[Role, ...], role: Role) -> bool:
    """Return whether *role* gets 100 whatever the others do, if it plays well and sees the state.

    The space is complete. Source: backward induction; with circles, the least fixpoint.
    """
    seat = roles.index(role)
    won = {i for i in _ends(space) if space.states[i].goal(role) == 100}
    while True:
        n_before = len(won)
        for number in order.backwards:
            if number not in won and _has_winning_move(space.edges[number], seat, won):
                won.add(number)
        if len(won) == n_before:
            return 0 in won


def _ends(space: StateSpace) -> Iterator[int]:
    return (i for i, edges in enumerate(space.edges) if not edges and space.states[i].is_terminal)


def _has_winning_move(edges: Iterable[tuple[JointMove, int]], seat: int, won: set[int]) -> bool:
    is_winning: dict[object, bool] = {}
    for moves, target in edges:
        is_winning[moves[seat]] = is_winning.get(moves[seat], True) and target in won
    return any(is_winning.values())


def exact_of(game: Game, space: StateSpace) -> Exact:
    """Return what the complete *space* says of *game*."""
    order = order_of(space)
    shortest, longest = lengths(space, order)
    forced = {
        role: None if game.has_imperfect_information else can_force_win(space, order, game.roles, role)
        for role in game.roles
    }
    return Exact(len(space.states), shortest, longest, forced)
