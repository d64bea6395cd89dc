"""One rule file interpreted, held against the naive evaluator state for state."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from random import Random
from typing import Final, NamedTuple, TypeAlias
from unittest.mock import patch

from gdl.datalog.program import Layer
from gdl.errors import LimitExceeded, RuleFileError
from gdl.game import EvaluationLimits, Game
from gdl.interpreter import InterpretedGame
from gdl.language.kif import read_term
from gdl.language.rules import read_rules
from gdl.language.terms import Term
from tests.fuzz.differences import NotComparableError, same
from tests.fuzz.evaluator import Moves, NaiveGame, Position
from tests.kit.gdl.oracle import TooLarge

N_STEPS: Final = 800
"""How many joint moves the naive evaluator looks at in one game."""
LIMITS: Final = EvaluationLimits(max_rows=50_000, max_term_depth=50, max_term_symbols=1_000)
N_POSITIONS: Final = 40
N_JOINT_MOVES: Final = 3

Step: TypeAlias = tuple[Position, Moves]


class Interpreted(NamedTuple):
    """A game as it is interpreted and as it is evaluated naively, with states that plays met and steps tried there."""

    game: InterpretedGame
    naive: NaiveGame
    met: Sequence[Position]
    steps: Sequence[Step]


def compare_interpreted(text: str, random: Random) -> Interpreted:
    """Compare the answers of the interpreter about the game of the rules *text*.

    Raises:
        DifferenceError: the interpreter is wrong.
        NotComparableError: the rules are no game, or beyond the interpreter's limits or the naive evaluator.
    """
    try:
        game = InterpretedGame(read_rules(text), LIMITS)
        naive = NaiveGame(text, N_STEPS)
        met, steps = _met(naive, random)
    except (TooLarge, RuleFileError, LimitExceeded) as error:
        raise NotComparableError(f"{type(error).__name__}: {error}") from error
    same("interpreter: roles", "the game", tuple(map(str, game.roles)), naive.roles)
    _compare_interpreters(game, naive, met, steps)
    return Interpreted(game, naive, met, steps)


def _met(naive: NaiveGame, random: Random) -> tuple[list[Position], list[Step]]:
    """Return states that random plays meet, and joint moves that are tried there."""
    met = {naive.initial: None}
    steps: dict[Step, None] = {}
    for _ in range(6):
        here = naive.initial
        for _ in range(12):
            if here.is_terminal or here.is_stuck or len(met) >= N_POSITIONS:
                break
            tried = [tuple(random.choice(moves) for moves in here.legal) for _ in range(N_JOINT_MOVES)]
            steps |= {(here, moves): None for moves in tried}
            here = naive.next(here, tried[0])
            met[here] = None
    return random.sample(list(met), len(met)), random.sample(list(steps), len(steps))


def _compare_interpreters(
    game: InterpretedGame, naive: NaiveGame, met: Sequence[Position], steps: Sequence[Step]
) -> None:
    """Compare the interpreter, relations derived as they stand and on demand."""
    try:
        compare_states("interpreter", game, naive, met, steps)
        with patch("gdl.datalog.model.LARGE_ROWS", dict.fromkeys(Layer, 0)):
            on_demand = InterpretedGame(game.description, LIMITS)
            compare_states("interpreter on demand", on_demand, naive, met, steps)
    except LimitExceeded as error:
        raise NotComparableError(f"{type(error).__name__}: {error}") from error


def compare_states(name: str, game: Game, naive: NaiveGame, met: Sequence[Position], steps: Sequence[Step]) -> None:
    """Compare all answers about single states."""
    same(f"{name}: first state", "init", set(map(str, game.initial_state.facts)), naive.initial.fluents)
    states = {position.fluents: game.state(frozenset(map(term_of, position.fluents))) for position in met}
    for position in met:
        state = states[position.fluents]
        legal = tuple(tuple(sorted(map(str, state.legal_moves(role)))) for role in game.roles)
        same(f"{name}: terminal", position, state.is_terminal, position.is_terminal)
        same(f"{name}: legal", position, legal, position.legal)
        same(f"{name}: goals", position, tuple(map(state.goal, game.roles)), position.goals)
    for position, moves in steps:
        after = naive.after(position, moves)
        state, made = states[position.fluents], [term_of(move) for move in moves]
        same(f"{name}: next", (position, moves), set(map(str, state.next_state(made).facts)), after.fluents)
        seen = tuple(tuple(map(str, state.percepts(role, made))) for role in game.roles)
        in_order = seen if not naive.is_gdl2 else tuple(tuple(sorted(percepts)) for percepts in seen)
        same(f"{name}: percepts", (position, moves), in_order, after.percepts)


@lru_cache(maxsize=10_000)
def term_of(text: str) -> Term:
    """Return the term that the engines write as *text*."""
    return read_term(text)
