"""What roles know in a search over information sets: a tree for each, as large as memory allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gdl.game import RANDOM, Role
from gdl.language.terms import Term
from players.belief import InformationSet, Percepts, World

MAX_INFOSETS: Final = 500_000
"""So many information sets take some hundred megabytes, more where there are many moves."""
UNIFORM: Final = 0.1
"""The share of all moves in the strategies of regret matching."""


@dataclass(slots=True)
class Room:
    """How many information sets more are remembered, of all roles together."""

    n_left: int


class InfosetNode:
    """The statistics of an information set of a role: how often each move was taken, and the sums of the goals.

    `regrets` has what the role regrets of each move, `plan` the sum of all strategies, for regret matching. What comes
    after is remembered as long as there is *room*.
    """

    __slots__ = ("after", "counts", "plan", "regrets", "room", "terms", "totals", "visits")

    def __init__(self, room: Room) -> None:
        self.room = room
        self.regrets: list[float] = []
        self.plan: list[float] = []
        self.terms: Sequence[Term] = ()
        self.counts: list[int] = []
        self.totals: list[float] = []
        self.visits = 0
        self.after: dict[tuple[Term | None, Percepts], InfosetNode] = {}

    def of_moves(self, terms: Sequence[Term]) -> InfosetNode:
        """Return this node, prepared for its legal moves *terms*; another one, should a world have others."""
        if not self.counts:
            self.terms, self.counts, self.totals = terms, [0] * len(terms), [0.0] * len(terms)
            self.regrets, self.plan = [0.0] * len(terms), [0.0] * len(terms)
        if self.terms != terms:
            return self.following(None, tuple(terms)).of_moves(terms)
        return self

    def following(self, move: Term | None, percepts: Percepts) -> InfosetNode:
        """Return the node of the information set after *move* and *percepts*."""
        found = self.after.get((move, percepts))
        if found is None:
            found = InfosetNode(self.room)
            if self.room.n_left > 0:
                self.after[move, percepts] = found
                self.room.n_left -= 1
        return found

    def most_visited(self) -> int:
        """Return the move that was taken most often; among such ones, that of the greatest goals."""
        return max(range(len(self.counts)), key=lambda move: (self.counts[move], self.totals[move]))

    def matched(self) -> list[float]:
        """Return the probability of each move in proportion to its regret, mixed with a little of all moves."""
        n, total = len(self.regrets), sum(regret for regret in self.regrets if regret > 0)
        if total <= 0:
            return [1 / n] * n
        return [UNIFORM / n + (1 - UNIFORM) * max(regret, 0.0) / total for regret in self.regrets]

    def learn(self, move: int, goal: float, probability: float) -> None:
        """Regret *move*, which was drawn with *probability*, as far as *goal* is more or less than the mean so far.

        In the mean over all draws that is what each move would have been worth more than the strategy.
        """
        mean = sum(self.totals) / self.visits
        for other in range(len(self.regrets)):
            self.regrets[other] -= goal - mean
        self.regrets[move] += (goal - mean) / probability


class InfosetTrees:
    """The trees of all *roles*, which remember at most *max_infosets* information sets beside their roots."""

    def __init__(self, roles: Sequence[Role], max_infosets: int) -> None:
        self._roles, self._max_infosets = roles, max_infosets
        self._room = Room(max_infosets)
        self._roots = [InfosetNode(self._room) for _ in roles]

    @property
    def are_half_full(self) -> bool:
        """Whether half of the room is used."""
        return 2 * self._room.n_left <= self._max_infosets

    def node_of(self, i: int, infoset: InformationSet | None) -> InfosetNode:
        """Return the node of an information set of role *i*."""
        node = self._roots[i]
        for step in _steps_to(infoset):
            node = node.following(step.move, step.percepts)
        return node

    def keep(self, worlds: Sequence[World]) -> None:
        """Forget the information sets that follow those of none of *worlds*, or all where half of the room is left."""
        before = self._plant()
        for i, role in enumerate(self._roles):
            for infoset in dict.fromkeys(world.infosets[i] for world in worlds) if role is not RANDOM else ():
                self._keep_below(i, infoset, before[i])
        self._room.n_left = self._max_infosets - sum(map(_size_of, self._roots))
        if self.are_half_full:
            self._plant()

    def _plant(self) -> list[InfosetNode]:
        """Begin anew with a tree for each role; return the roots of before."""
        before, self._roots = self._roots, [InfosetNode(self._room) for _ in self._roles]
        self._room.n_left = self._max_infosets
        return before

    def _keep_below(self, i: int, infoset: InformationSet | None, root: InfosetNode) -> None:
        """Take over from the tree with a *root* what role *i* has learned of an information set and those after it."""
        found: InfosetNode | None = root
        for step in _steps_to(infoset):
            found = None if found is None else found.after.get((step.move, step.percepts))
        if found is None:
            return
        if infoset is None:
            self._roots[i] = found
        else:
            self.node_of(i, infoset.before).after[infoset.move, infoset.percepts] = found


def _steps_to(infoset: InformationSet | None) -> list[InformationSet]:
    """Return the information sets on the way to one, each after a step more, and itself."""
    steps = []
    while infoset is not None:
        steps.append(infoset)
        infoset = infoset.before
    return steps[::-1]


def _size_of(root: InfosetNode) -> int:
    """Return how many information sets are remembered below a root."""
    n, todo = -1, [root]
    while todo:
        n += 1
        todo += todo.pop().after.values()
    return n
