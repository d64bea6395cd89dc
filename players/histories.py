"""Worlds found anew: each by a walk of its own from the first state, through all that the role did and perceived."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp, log
from random import Random
from typing import Final

from gdl.game import JointMove
from players import worlds
from players.deadline import SearchBudget

MAX_OUTCOMES: Final = 2_000
"""With more joint moves in one step, some of them are drawn."""
MAX_TRIES: Final = 256
"""How many of them."""
MAX_DRAWS: Final = 20_000
"""How many are drawn where fewer than two of those agree with the percepts."""
MAX_NODES: Final = 20_000
ENOUGH: Final = 4_000
"""The outcomes that are looked at for more worlds where there is one already."""
TOO_MANY: Final = 1_000_000
"""Those that are looked at for a single one."""


AT_ONCE: Final = 64
"""How many walks are taken together, so that the steps of all are made at once."""
MIN_AT_ONCE: Final = 8


class _Node:
    """A world after some steps, and those that may follow it after one more, with their probabilities."""

    __slots__ = ("before", "followers", "world")

    def __init__(self, world: worlds.World, before: _Node | None) -> None:
        self.world, self.before = world, before
        self.followers: list[tuple[_Node, float]] | None = None


class HistorySampler:
    """Draws worlds that agree with all steps, with weights in proportion to their probability in the mean.

    A walk takes each step by the probabilities of what may follow, and its weight is that of all that agreed with the
    percepts. A walk that comes to a world without followers forgets this world for all walks to come and counts with
    weight 0, so that dead ends make no world likelier than it is. Where most walks have ended so, the others are drawn
    in their place, and share the weight. Whatever can be found is found in the end, but that may take long.
    Source: sequential Monte Carlo, Doucet and others, 2001.
    """

    def __init__(
        self,
        first: worlds.World,
        choices: worlds.WorldChoices,
        steps: worlds.WorldSteps,
        max_outcomes: int = MAX_OUTCOMES,
    ) -> None:
        self._choices, self._steps, self._max_outcomes = choices, steps, max_outcomes
        self._first = first
        self._root = _Node(first, None)
        self._n_nodes, self._n_looked = 1, 0

    def forget(self) -> None:
        """Forget which worlds follow which."""
        self._root, self._n_nodes = _Node(self._first, None), 1

    def draw(
        self, steps: Sequence[worlds.Step], random: Random, budget: SearchBudget, n: int, *, has_some: bool = False
    ) -> dict[worlds.World, float]:
        """Return worlds with weights, from *n* walks that agree with *steps*, or as many as *budget* allows.

        The heaviest walk weighs 1, as walks of some hundred steps would weigh too little for a number otherwise.
        *has_some* says that there are other worlds already, so that these need not be found at any cost.
        """
        found: list[tuple[worlds.World, float]] = []
        self._n_looked = 0
        while len(found) < n and not budget.is_out_of_time and not self._is_over:
            if self._n_looked > (ENOUGH if found or has_some else TOO_MANY):
                break
            found += self._walks(max(MIN_AT_ONCE, min(AT_ONCE, n - len(found))), steps, random, budget)
            if self._n_nodes > MAX_NODES:
                self.forget()
        drawn: dict[worlds.World, float] = {}
        for (world, _), weight in zip(found, _weights(found), strict=True):
            drawn[world] = drawn.get(world, 0.0) + weight
        return drawn

    @property
    def _is_over(self) -> bool:
        """Whether no world agrees with the steps."""
        return self._root.followers == []

    def _walks(
        self, n: int, steps: Sequence[worlds.Step], random: Random, budget: SearchBudget
    ) -> list[tuple[worlds.World, float]]:
        """Return where *n* walks come to, with the logarithms of their weights.

        There are none where all came to dead ends, or time ran out before the last step. Where it runs out in that one,
        walks that were there before are returned. The one at work is lost, and one that takes long is likelier to be
        it: a bias of one walk, which no weight can undo, as what it would have come to is not known.
        Source: Bias properties of budget constrained simulations, Glynn and Heidelberger, 1990.
        """
        walks = [(self._root, 0.0)] * n
        for step in steps:
            if not self._expand({node for node, _ in walks if node.followers is None}, step, budget):
                return []
            going = []
            for node, weight in walks:
                taken = self._taken(node, step, random, budget)
                if taken is None:
                    _bury(node)
                else:
                    going.append((taken[0], weight + log(taken[1])))
            if not going:
                return []
            walks = going if len(going) > n / 2 else _refilled(going, n, random)
        return [(node.world, weight) for node, weight in walks]

    def _taken(
        self, node: _Node, step: worlds.Step, random: Random, budget: SearchBudget
    ) -> tuple[_Node, float] | None:
        """Return a follower of *node*, drawn by its probability, and what the followers have of it together."""
        if node.followers is None:
            return self._drawn(node, self._choices.options(node.world, step[0]), step, random, budget)
        if not node.followers:
            return None
        shares = [share for _, share in node.followers]
        return random.choices(node.followers, shares)[0][0], sum(shares)

    def _expand(self, nodes: Iterable[_Node], step: worlds.Step, budget: SearchBudget) -> bool:
        """Find all followers of *nodes*, but for those that have too many; return whether there was time to."""
        if budget.is_out_of_time:
            return False
        made: list[tuple[_Node, JointMove, float]] = []
        small: list[_Node] = []
        for node in nodes:
            options = self._choices.options(node.world, step[0])
            if worlds.n_joint_moves(options) <= self._max_outcomes:
                small.append(node)
                made += ((node, moves, share) for moves, share in worlds.joint_moves(options))
        self._n_looked += len(made)
        reached, is_whole = self._steps.followers([(node.world, moves) for node, moves, _ in made], step[1], budget)
        if is_whole:
            for node in small:
                node.followers = []
            for world, (node, _, share) in zip(reached, made, strict=True):
                if world is not None and node.followers is not None:
                    node.followers.append((_Node(world, node), share))
                    self._n_nodes += 1
        return is_whole

    def _drawn(
        self, node: _Node, options: worlds.Options, step: worlds.Step, random: Random, budget: SearchBudget
    ) -> tuple[_Node, float] | None:
        """Return one of the many followers of *node*, from joint moves that are drawn until there are enough hits.

        Without any hit all joint moves are looked at, if they are not too many, for the walks to come.
        """
        draws, hits = worlds.MoveDraws(options, worlds.parts_of(step[1])), Hits(MAX_TRIES, MAX_DRAWS)
        known: dict[JointMove, worlds.World | None] = {}
        while not hits.are_enough:
            drawn = [draws.draw(random) for _ in range(MAX_TRIES)]
            if not self._look(node, (moves for moves, _ in drawn), known, step, budget):
                return None
            for moves, factor in drawn:
                hits.add(known[moves], factor)
                if hits.are_enough:
                    break
        if hits.found:
            world = random.choices(hits.found, [factor for _, factor in hits.found])[0][0]
            return _Node(world, node), hits.probability
        if worlds.n_joint_moves(options) <= MAX_DRAWS:
            shares = dict(worlds.joint_moves(options))
            if self._look(node, shares, known, step, budget):
                followers = ((known[moves], share) for moves, share in shares.items())
                node.followers = [(_Node(world, node), share) for world, share in followers if world is not None]
                self._n_nodes += len(node.followers)
        return None

    def _look(
        self,
        node: _Node,
        drawn: Iterable[JointMove],
        known: dict[JointMove, worlds.World | None],
        step: worlds.Step,
        budget: SearchBudget,
    ) -> bool:
        """Add to *known* what follows *node* after the joint moves *drawn*; return whether there was time to."""
        if budget.is_out_of_time:
            return False
        new = [moves for moves in dict.fromkeys(drawn) if moves not in known]
        self._n_looked += len(new)
        reached, is_whole = self._steps.followers([(node.world, moves) for moves in new], step[1], budget)
        known |= zip(new, reached, strict=False)
        return is_whole


class Hits:
    """The draws that led to worlds, the hits, with their factors.

    A sample has *n_least* draws, or as many as it takes to the second hit, but no more than *n_most*. One that ended
    with the first hit would have no estimate of the probability that is exact in the mean.
    Source: inverse sampling, Girshick, Mosteller and Savage, 1946.
    """

    def __init__(self, n_least: int, n_most: int) -> None:
        self._n_least, self._n_most = n_least, n_most
        self._n_drawn = 0
        self.found: list[tuple[worlds.World, float]] = []

    def add(self, world: worlds.World | None, factor: float) -> None:
        """Count a draw, which came to *world*, or to none."""
        self._n_drawn += 1
        if world is not None:
            self.found.append((world, factor))

    @property
    def are_enough(self) -> bool:
        """Whether nothing more is to be drawn."""
        return self._n_drawn >= self._n_most or (len(self.found) >= 2 and self._n_drawn >= self._n_least)

    @property
    def probability(self) -> float:
        """The probability of all that agrees, exact in the mean; worlds have of it in proportion to their factors."""
        total = sum(factor for _, factor in self.found)
        if len(self.found) < 2 or self._n_drawn == self._n_least:
            return total / self._n_drawn
        return total / 2 / (self._n_drawn - 1)  # the last draw was a hit because it was the last one


def _bury(node: _Node) -> None:
    """Take *node*, if it is known to have no followers, from those of the node before, and so on."""
    while node.followers == [] and node.before is not None:
        known = node.before.followers
        if known is None:
            break
        node.before.followers = [(other, share) for other, share in known if other is not node]
        node = node.before


def _refilled(walks: list[tuple[_Node, float]], n: int, random: Random) -> list[tuple[_Node, float]]:
    """Return *n* walks in the place of fewer, drawn by their weights, whose sum stays as it is."""
    weights = _weights(walks)
    share = max(weight for _, weight in walks) + log(sum(weights) / n)
    return [(node, share) for node, _ in random.choices(walks, weights, k=n)]


def _weights(walks: Sequence[tuple[object, float]]) -> list[float]:
    """Return the weights of *walks*, which have their logarithms, as parts of the heaviest."""
    heaviest = max((weight for _, weight in walks), default=0.0)
    return [exp(weight - heaviest) for _, weight in walks]
