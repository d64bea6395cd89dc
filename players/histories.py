"""Worlds found anew: each by a walk of its own from the first state, through all that the role did and perceived."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from random import Random
from typing import Final

from gdl.game import JointMove
from players.deadline import SearchBudget
from players.worlds import Choices, Options, Step, World, WorldSteps, drawn_moves, joint_moves, n_joint_moves, parts_of

MAX_OUTCOMES: Final = 2_000
"""With more joint moves in one step, some of them are drawn."""
MAX_TRIES: Final = 256
"""How many of them."""
MAX_SEARCHED: Final = 20_000
"""How many of them are tried, one after the other, where none of those that were drawn agrees with the percepts."""
MAX_NODES: Final = 20_000
ENOUGH: Final = 4_000
"""The outcomes that are looked at for more worlds where there is one already."""
TOO_MANY: Final = 1_000_000
"""Those that are looked at for a single one."""


class _Node:
    """A world after some steps, and those that may follow it after one more, with their probabilities."""

    __slots__ = ("followers", "world")

    def __init__(self, world: World) -> None:
        self.world = world
        self.followers: list[tuple[_Node, float]] | None = None


class HistorySampler:
    """Draws worlds that agree with all steps, with weights in proportion to their probability in the mean.

    A walk takes each step by the probabilities of what may follow, and its weight is that of all that agreed with the
    percepts. A walk that comes to a world without followers forgets this world for all walks to come and counts with
    weight 0, so that dead ends make no world likelier than it is. Whatever can be found is found in the end, but that
    may take long. Source: sequential importance sampling, Doucet and others, 2001.
    """

    def __init__(self, first: World, choices: Choices, steps: WorldSteps, max_outcomes: int = MAX_OUTCOMES) -> None:
        self._choices, self._steps, self._max_outcomes = choices, steps, max_outcomes
        self._first = first
        self._root = _Node(first)
        self._n_nodes, self._n_looked = 1, 0

    def forget(self) -> None:
        """Forget which worlds follow which."""
        self._root, self._n_nodes = _Node(self._first), 1

    def draw(
        self, steps: Sequence[Step], random: Random, budget: SearchBudget, n: int, *, has_some: bool = False
    ) -> dict[World, float]:
        """Return worlds with weights, from *n* walks that agree with *steps*, or as many as *budget* allows.

        *has_some* says that there are other worlds already, so that these need not be found at any cost.
        """
        found: dict[World, float] = {}
        n_drawn, self._n_looked = 0, 0
        while n_drawn < n and not budget.is_out_of_time and not self._is_over:
            if self._n_looked > (ENOUGH if found or has_some else TOO_MANY):
                break
            drawn = self._walk(steps, random, budget)
            if drawn is not None:
                n_drawn += 1
                world, weight = drawn
                found[world] = found.get(world, 0.0) + weight
            if self._n_nodes > MAX_NODES:
                self.forget()
        return found

    @property
    def _is_over(self) -> bool:
        """Whether no world agrees with the steps."""
        return self._root.followers == []

    def _walk(self, steps: Sequence[Step], random: Random, budget: SearchBudget) -> tuple[World, float] | None:
        node, weight, path = self._root, 1.0, [self._root]
        for step in steps:
            if node.followers is None and budget.is_out_of_time:
                return None
            taken = self._taken(node, step, random, budget)
            if taken is None:
                self._bury(path)
                return None
            node, share = taken
            weight *= share
            path.append(node)
        return node.world, weight

    def _bury(self, path: list[_Node]) -> None:
        """Take the last node of *path* from the followers of the one before, if it is known to have none itself."""
        while len(path) > 1 and path[-1].followers == []:
            dead = path.pop()
            known = path[-1].followers
            if known is None:
                break
            path[-1].followers = [(node, share) for node, share in known if node is not dead]

    def _taken(self, node: _Node, step: Step, random: Random, budget: SearchBudget) -> tuple[_Node, float] | None:
        """Return a follower of *node*, drawn by its probability, and what the followers have of it together."""
        if node.followers is None:
            options = self._choices.options(node.world, step[0])
            if n_joint_moves(options) > self._max_outcomes:
                return self._drawn(node, options, step, random, budget)
            if not self._expand(node, options, step, budget):
                return None
        known = node.followers or []
        if not known:
            return None
        total = sum(share for _, share in known)
        return random.choices(known, [share for _, share in known])[0][0], total

    def _expand(self, node: _Node, options: Options, step: Step, budget: SearchBudget) -> bool:
        """Find all followers of *node*; return whether there was time to."""
        made = list(joint_moves(options))
        self._n_looked += len(made)
        worlds, is_whole = self._steps.followers([(node.world, moves) for moves, _ in made], step[1], budget)
        if is_whole:
            pairs = zip(worlds, made, strict=True)
            node.followers = [(_Node(world), share) for world, (_, share) in pairs if world is not None]
            self._n_nodes += len(node.followers)
        return is_whole

    def _drawn(
        self, node: _Node, options: Options, step: Step, random: Random, budget: SearchBudget
    ) -> tuple[_Node, float] | None:
        """Return one of the many followers of *node*, from a number of joint moves that are drawn."""
        said, made = parts_of(step[1]), dict[JointMove, float]()
        for _ in range(MAX_TRIES):
            moves, factor = drawn_moves(options, said, random)
            made[moves] = made.get(moves, 0.0) + factor
        self._n_looked += len(made)
        outcomes = [(node.world, moves) for moves in made]
        worlds, is_whole = self._steps.followers(outcomes, step[1], budget)
        hits = [(world, factor) for world, factor in zip(worlds, made.values(), strict=False) if world is not None]
        if hits and is_whole:
            factors = [factor for _, factor in hits]
            return _Node(random.choices(hits, factors)[0][0]), sum(factors) / MAX_TRIES
        return self._searched(node, options, step, random, budget)

    def _searched(
        self, node: _Node, options: Options, step: Step, random: Random, budget: SearchBudget
    ) -> tuple[_Node, float] | None:
        """Return the first follower of *node* among its joint moves in random order, mentioned ones before others."""
        for n_tried, moves in enumerate(_shuffled(options, step, random), 1):
            worlds, _ = self._steps.followers([(node.world, moves)], step[1], budget)
            if worlds[0] is not None:
                return _Node(worlds[0]), prod(of_role[move] for of_role, move in zip(options, moves, strict=True))
            if n_tried >= MAX_SEARCHED or budget.is_out_of_time:
                return None
        node.followers = []
        return None


def _shuffled(options: Options, step: Step, random: Random) -> Iterator[JointMove]:
    """Yield all joint moves of *options* in random order, those first that the percepts of *step* mention."""
    said = parts_of(step[1])
    shuffled = (random.sample(tuple(moves), len(moves)) for moves in options)
    return product(*(sorted(moves, key=lambda move: move not in said) for moves in shuffled))
