"""What follows from a space of states: a play in a circle, lengths of plays, roles that can force a win."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gdl.game import JointMove, Role
from gdl.simulation.defects import Defect
from gdl.simulation.exploration import Space


@dataclass(frozen=True, slots=True)
class Order:
    """The states of a space, those before that others lead to; or the circle that makes this impossible.

    Attributes:
        backwards: numbers of states, each after all that it leads to, but for circles.
        circle: a state and the joint moves that lead from it to itself; None where there is none.
    """

    backwards: tuple[int, ...]
    circle: tuple[int, tuple[JointMove, ...]] | None


def order_of(space: Space) -> Order:
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


def endless_play(space: Space, order: Order) -> Defect | None:
    """Return the defect that a play may run in a circle, or None."""
    if order.circle is None:
        return None
    start, around = order.circle
    before = space.path(start)
    return Defect("endless-play", (*before, *around), since=len(before))


def lengths(space: Space, order: Order) -> tuple[int | None, int | None]:
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


def can_force_win(space: Space, order: Order, roles: tuple[Role, ...], role: Role) -> bool:
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


def _ends(space: Space) -> Iterator[int]:
    return (i for i, edges in enumerate(space.edges) if not edges and space.states[i].is_terminal)


def _has_winning_move(edges: Iterable[tuple[JointMove, int]], seat: int, won: set[int]) -> bool:
    is_winning: dict[object, bool] = {}
    for moves, target in edges:
        is_winning[moves[seat]] = is_winning.get(moves[seat], True) and target in won
    return any(is_winning.values())
