"""Both engines side by side: every question about a state must have the same answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from gdl.compiler.compiled import CompiledGame, CompiledState
from gdl.compiler.pipeline import compile_rules
from gdl.compiler.registers import Accesses, reuse
from gdl.compiler.tables import CompiledRules, Tables
from gdl.datalog.clauses import Clause
from gdl.datalog.translation import clauses_of
from gdl.errors import GdlError
from gdl.game import DEFAULT_LIMITS, EvaluationLimits, Game, Role, State
from gdl.interpreter import InterpretedGame
from gdl.language.rules import Description, read_rules
from gdl.language.terms import Term
from gdl.worker import ChildLimits


@pytest.fixture(scope="package", autouse=True)
def compiled_in_process() -> Iterator[None]:
    """Have games compiled in this process, where the child process and its limits are not what tests are about.

    The child does the same, but takes three times as long for a small game: it loads the compiler first.
    """

    def compiled(_: Callable[..., object], arguments: tuple[Any, ...], _limits: ChildLimits) -> CompiledRules:
        return compile_rules(*arguments)

    with patch("gdl.compiler.compilation.run_limited", compiled):
        yield


def both(
    rules: str | Description, limits: EvaluationLimits = DEFAULT_LIMITS, max_ground_rules: int = 1_000_000
) -> tuple[InterpretedGame, CompiledGame]:
    """Return the game on both engines, compiled in this process.

    Raises:
        CannotCompileError: or whatever the interpreter has against the rules.
    """
    description = read_rules(rules) if isinstance(rules, str) else rules
    game = InterpretedGame(description, limits)
    tables = compile_rules(clauses_of(description.rules), game.roles, max_ground_rules)
    return game, CompiledGame(game, tables)


def rules_and_tables(
    clauses: Sequence[Clause], roles: Sequence[Role], max_ground_rules: int
) -> tuple[CompiledRules, Tables]:
    """Return a compiled game, and its tables for plays before rows are reused; for a child process."""
    before: list[Tables] = []

    def remembered(tables: Tables, found: Sequence[Accesses]) -> Tables:
        before.append(tables)
        return reuse(tables, found)

    with patch("gdl.compiler.pipeline.reuse", remembered):
        return compile_rules(clauses, roles, max_ground_rules), before[0]


def answers(game: Game, state: State) -> dict[str, Any]:
    """Return all that can be asked of *state* without a move."""
    return {
        "facts": state.facts,
        "terminal": state.is_terminal,
        "legal": [state.legal_moves(role) for role in game.roles],
        "goals": [state.goal(role) for role in game.roles],
    }


def joint_move(game: Game, state: State, random: Random) -> tuple[Term, ...] | None:
    """Return a random joint move, None where there is none."""
    legal = [state.legal_moves(role) for role in game.roles]
    if state.is_terminal or not all(legal):
        return None
    return tuple(random.choice(moves) for moves in legal)


def play_on_both(interpreted: InterpretedGame, compiled: CompiledGame, seed: int, max_steps: int) -> list[State]:
    """Make one random play, comparing every answer on the way; return the interpreter's states.

    Where the interpreter reaches a limit the play ends.
    """
    random = Random(seed)
    ours: State = compiled.initial_state
    theirs: State = interpreted.initial_state
    met: list[State] = []
    for _ in range(max_steps):
        try:
            expected = answers(interpreted, theirs)
            moves = joint_move(interpreted, theirs, random)
            following = None if moves is None else theirs.next_state(moves)
        except GdlError:
            break
        assert answers(compiled, ours) == expected
        assert ours == theirs
        assert hash(ours) == hash(theirs)
        met.append(theirs)
        if moves is None or following is None:
            break
        for role in interpreted.roles:
            assert ours.percepts(role, moves) == theirs.percepts(role, moves)
        ours, theirs = ours.next_state(moves), following
    return met


def packed(compiled: CompiledGame, states: list[State]) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return *states* as one array (N, bytes)."""
    found = [compiled.state(state.facts) for state in states]
    texts = [state.packed for state in found if isinstance(state, CompiledState)]
    assert len(texts) == len(states)
    return np.frombuffer(b"".join(texts), np.uint8).reshape(len(states), compiled.n_bytes)
