"""A walker answers as the whole circuit does, wherever it stood before."""

from __future__ import annotations

from random import Random

import pytest

from gdl.compiler.compiled import CompiledState
from gdl.games.library import find_game
from tests.kit.gdl.compiler.engines import both


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["tictactoe", "connectfour", "breakthrough", "kuhnpoker", "nim"])
def test_walks_and_jumps_between_far_states_answer_as_the_circuit(name: str) -> None:
    _, walking = both(find_game(name).read())
    _, whole = both(find_game(name).read())
    whole._has_loops = True  # asks the kernel that evaluates the whole circuit
    random, start = Random(4), walking.initial_state
    assert isinstance(start, CompiledState)
    met = [start.packed]
    state = start.packed
    for _ in range(150):
        legal, is_terminal = walking.legal_and_terminal(state)
        assert (legal.tolist(), is_terminal) == (
            whole.legal_and_terminal(state)[0].tolist(),
            whole.legal_and_terminal(state)[1],
        )
        if is_terminal:
            state = start.packed
            continue
        moves = [random.choice([n for n in legal.tolist() if n in numbers]) for numbers in walking.moves_of]
        following = walking.step(state, moves)
        assert following == whole.step(state, moves)
        visited, after, is_over = walking.next_and_legal(state, moves)
        assert (visited, after.tolist(), is_over) == (
            following,
            whole.legal_and_terminal(following)[0].tolist(),
            whole.legal_and_terminal(following)[1],
        )
        met.append(following)
        state = random.choice(met) if random.random() < 0.3 else following
