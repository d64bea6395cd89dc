"""Counts what a game tree holds, over states merged where plays meet."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import product
from math import prod

from gdl.game import Game, State


@dataclass(frozen=True)
class Tree:
    """The counts of a game tree, as far as it was walked.

    `perft` has the sequences of joint moves of length 1, 2, ...; `is_whole` says that no play goes on below.
    `shortest_play` and `longest_play` are in steps, of the plays that ended.
    """

    perft: tuple[int, ...]
    plays: int
    states: int
    shortest_play: int | None
    longest_play: int | None
    is_whole: bool


def count(game: Game, max_expansions: int, max_steps: int | None = None) -> Tree:
    """Return the counts of *game*, layer by layer, down to *max_steps*.

    It ends before that when more than *max_expansions* states would have to be made in all.
    """
    layer: Counter[State] = Counter({game.initial_state: 1})
    seen = {game.initial_state}
    perft: list[int] = []
    ends: dict[int, int] = {}
    while True:
        ended = sum(n for state, n in layer.items() if state.is_terminal)
        if ended:
            ends[len(perft)] = ended
        layer = Counter({state: n for state, n in layer.items() if not state.is_terminal})
        if not layer:
            break
        widths = {state: prod(len(state.legal_moves(role)) for role in game.roles) for state in layer}
        perft.append(sum(n * widths[state] for state, n in layer.items()))
        max_expansions -= sum(widths.values())
        if max_expansions < 0 or len(perft) == max_steps:
            break
        layer = _next_layer(game, layer)
        seen |= layer.keys()
    return Tree(
        tuple(perft), sum(ends.values()), len(seen), min(ends, default=None), max(ends, default=None), not layer
    )


def _next_layer(game: Game, layer: Counter[State]) -> Counter[State]:
    following: Counter[State] = Counter()
    for state, n in layer.items():
        for moves in product(*(state.legal_moves(role) for role in game.roles)):
            following[state.next_state(moves)] += n
    return following
