"""How roles choose in a game, by its first states and by a few random plays: what suits its search depends on that."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from random import Random
from typing import Final

from gdl.compiler.compiled import CompiledGame
from gdl.language.terms import Term

_N_GAMES: Final = 2
_FIRST_STATES: Final = 6
_PLAYS: Final = 4
_MOST_STEPS: Final = 400
"""How long a play is followed: those of some games last for thousands of steps."""


@dataclass(frozen=True, slots=True)
class FirstChoices:
    """How many moves a role has where it chooses, in the mean, and whether several choose at once, in first states."""

    mean_moves: float
    are_joint: bool


def first_choices(game: CompiledGame) -> FirstChoices:
    """Return what the first states of a play of *game* say of choices."""
    chosen = [[n for n in each if n > 1] for each in _first_numbers(game)]
    n_moves = [n for each in chosen for n in each]
    mean = sum(n_moves) / len(n_moves) if n_moves else 2.0
    return FirstChoices(mean, are_joint=any(len(each) > 1 for each in chosen))


def _first_numbers(game: CompiledGame) -> Iterator[list[int]]:
    """Yield how many moves each role has in the first states of a play, as far as all have one."""
    state = game.initial_state
    for _ in range(_FIRST_STATES):
        if state.is_terminal:
            break
        moves = [state.legal_moves(role) for role in game.roles]
        yield [len(each) for each in moves]
        if not all(moves):
            break
        state = state.next_state(tuple(each[0] for each in moves))


@lru_cache(maxsize=_N_GAMES)
def marking_share(game: CompiledGame) -> float:
    """Return which share of the moves in random plays leaves a mark: a fluent that begins to hold by that move alone.

    Stones are marks: they tell whose move it was. A line in dots and boxes is none, since either role draws it. What
    several roles choose at once leaves none.
    """
    random = Random(0)
    steps = [step for _ in range(_PLAYS) for step in islice(_play(game, random), _MOST_STEPS)]
    causes: dict[Term, set[tuple[Term, ...]]] = defaultdict(set)
    for step in steps:
        for fluent in step.begun:
            causes[fluent].add(step.moves)
    is_marking = [
        step.n_choosing == 1 and any(len(causes[fluent]) == 1 for fluent in step.begun)
        for step in steps
        if step.n_choosing
    ]
    return sum(is_marking) / max(1, len(is_marking))


@dataclass(frozen=True, slots=True)
class _Step:
    """A step of a play: the joint move, how many roles had a choice, and the fluents that begin to hold."""

    moves: tuple[Term, ...]
    n_choosing: int
    begun: frozenset[Term]


def _play(game: CompiledGame, random: Random) -> Iterator[_Step]:
    """Yield the steps of a random play, as far as all roles have a move."""
    state = game.initial_state
    while not state.is_terminal:
        legal = [state.legal_moves(role) for role in game.roles]
        if not all(legal):
            break
        moves = tuple(random.choice(each) for each in legal)
        before, state = state, state.next_state(moves)
        yield _Step(moves, sum(len(each) > 1 for each in legal), state.facts - before.facts)
