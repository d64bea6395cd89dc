"""Entrants in groups of small cost: up to 9 of least cost of all, beyond as no near exchange makes it smaller."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, pairwise
from typing import Final

MAX_EXACT: Final = 9  # up to so many entrants all partitions are compared: 280 of 9 entrants into groups of 3
_WINDOW: Final = 3  # beyond, members are exchanged with so many groups that follow
_MAX_SWEEPS: Final = 20

Group = tuple[int, ...]
Cost = tuple[int, ...]
GroupCost = Callable[[Group], Cost]


def least_cost_groups(n_members: int, size: int, cost: GroupCost) -> tuple[Group, ...]:
    """Return the indices 0 to *n_members* - 1, in groups of *size*, with a small sum of the costs of the groups.

    Costs are compared from left to right, and are symmetric in the members. Up to 9 members the sum is least of all;
    beyond, no exchange of two members between near groups makes it smaller.

    Raises:
        ValueError: the number of members is no multiple of *size*.
    """
    if n_members % size:
        raise ValueError(f"{n_members} members do not fill groups of {size}")
    if n_members <= MAX_EXACT:
        return min(partitions(tuple(range(n_members)), size), key=lambda groups: _total(groups, cost))
    groups = [tuple(range(i, i + size)) for i in range(0, n_members, size)]
    return tuple(sorted(map(_sorted, _improved(groups, cost))))


def partitions(members: Group, size: int) -> Iterator[tuple[Group, ...]]:
    """Yield all ways to part *members* into groups of *size*, those that keep the order first."""
    if not members:
        yield ()
        return
    first, rest = members[0], members[1:]
    for others in combinations(rest, size - 1):
        left = tuple(member for member in rest if member not in others)
        for groups in partitions(left, size):
            yield ((first, *others), *groups)


def _improved(groups: list[Group], cost: GroupCost) -> list[Group]:
    costs = [cost(group) for group in groups]
    for _ in range(_MAX_SWEEPS):
        is_changed = False
        for i in range(len(groups)):
            for j in range(i + 1, min(i + 1 + _WINDOW, len(groups))):
                is_changed |= _exchange(groups, costs, (i, j), cost)
        if not is_changed:
            break
    return groups


def _exchange(groups: list[Group], costs: list[Cost], places: tuple[int, int], cost: GroupCost) -> bool:
    """Make the best exchange of a member of the one group for one of the other, if any is better than none."""
    i, j = places
    best = _sum(costs[i], costs[j])
    if not any(best):
        return False
    found: tuple[Group, Group] | None = None
    for one in groups[i]:
        for other in groups[j]:
            changed = _replaced(groups[i], one, other), _replaced(groups[j], other, one)
            total = _sum(cost(changed[0]), cost(changed[1]))
            if total < best:
                best, found = total, changed
    if found is not None:
        groups[i], groups[j] = found
        costs[i], costs[j] = cost(found[0]), cost(found[1])
    return found is not None


def _replaced(group: Group, old: int, new: int) -> Group:
    return tuple(new if member == old else member for member in group)


def _sorted(group: Group) -> Group:
    return tuple(sorted(group))


def _total(groups: Sequence[Group], cost: GroupCost) -> Cost:
    return tuple(map(sum, zip(*map(cost, groups), strict=True)))


def _sum(one: Cost, other: Cost) -> Cost:
    return tuple(a + b for a, b in zip(one, other, strict=True))


def spread(ranks: Sequence[int]) -> int:
    """Return how far apart the ranks of a group are: the sum of the squares of the differences of neighbours."""
    return sum((b - a) ** 2 for a, b in pairwise(sorted(ranks)))
