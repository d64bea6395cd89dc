"""Many packed states at once have the answers that each has alone."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from gdl.game import State
from gdl.games.library import find_game
from gdl.language.terms import Term
from tests.kit.gdl.compiler.engines import both, joint_move, packed


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "n_states"), [("tictactoe", 1), ("tictactoe", 700), ("kuhnpoker", 60), ("nim", 513)])
def test_a_batch_of_states_answers_as_each_of_them(name: str, n_states: int) -> None:
    interpreted, compiled = both(find_game(name).read())
    random = Random(2)
    state: State = interpreted.initial_state
    met: list[State] = []
    made: list[tuple[Term, ...] | None] = []
    while len(met) < n_states:
        moves = joint_move(interpreted, state, random)
        met.append(state)
        made.append(moves)
        state = interpreted.initial_state if moves is None else state.next_state(moves)
    rows = packed(compiled, met)
    legal = compiled.batch.legal(rows)
    for state, mask in zip(met, legal, strict=True):
        for role, numbers in zip(interpreted.roles, compiled.moves_of, strict=True):
            chosen = numbers.start + np.flatnonzero(mask[numbers.start : numbers.stop])
            assert tuple(compiled.moves[i] for i in chosen) == state.legal_moves(role)
    assert compiled.batch.terminal(rows).tolist() == [state.is_terminal for state in met]
    goals = [[state.goal(role) for role in interpreted.roles] for state in met]
    assert compiled.batch.goals(rows).tolist() == [[-1 if goal is None else goal for goal in found] for found in goals]
    going = [i for i, moves in enumerate(made) if moves is not None]
    joint_moves = np.array(
        [[known[move] for known, move in zip(compiled.move_number, made[i] or (), strict=True)] for i in going]
    )
    following = compiled.batch.next(rows[going], joint_moves)
    after = [met[i].next_state(made[i] or ()) for i in going]
    assert following.tobytes() == packed(compiled, after).tobytes()


def test_no_states_have_no_answers() -> None:
    _, compiled = both(find_game("tictactoe").read())
    none = np.zeros((0, compiled.n_bytes), np.uint8)
    assert compiled.batch.legal(none).shape == (0, len(compiled.moves))
    assert compiled.batch.terminal(none).shape == (0,)
    assert compiled.batch.goals(none).shape == (0, 2)
    assert compiled.batch.next(none, np.zeros((0, 2), np.int64)).shape == none.shape


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["kuhnpoker", "montyhall", "phantomtictactoe", "darkhex"])
def test_a_batch_of_steps_has_the_percepts_that_each_has_alone(name: str) -> None:
    """Six hundred, which is more than the lanes: of the first load and of the second."""
    interpreted, compiled = both(find_game(name).read())
    random = Random(3)
    state: State = interpreted.initial_state
    steps: list[tuple[State, tuple[Term, ...]]] = []
    while len(steps) < 600:
        moves = joint_move(interpreted, state, random)
        if moves is not None:
            steps.append((state, moves))
        state = interpreted.initial_state if moves is None else state.next_state(moves)
    numbers = np.array(
        [[known[move] for known, move in zip(compiled.move_number, moves, strict=True)] for _, moves in steps]
    )
    following, seen = compiled.batch.next_and_sees(packed(compiled, [state for state, _ in steps]), numbers)
    assert following.tobytes() == packed(compiled, [state.next_state(moves) for state, moves in steps]).tobytes()
    cuts = np.cumsum([0, *map(len, compiled.rules.sees)])
    rows = packed(compiled, [state for state, _ in steps])
    for n, ((state, moves), holds) in enumerate(zip(steps, seen, strict=True)):
        alone, told = compiled.next_and_sees(rows[n].tobytes(), numbers[n].tolist())
        assert alone == following[n].tobytes()
        assert told == tuple(state.percepts(role, moves) for role in interpreted.roles)
        for i, role in enumerate(interpreted.roles):
            ours = compiled.rules.sees[i]
            found = sorted(str(ours[j]) for j in np.flatnonzero(holds[cuts[i] : cuts[i + 1]]))
            assert found == [str(percept) for percept in state.percepts(role, moves)]
