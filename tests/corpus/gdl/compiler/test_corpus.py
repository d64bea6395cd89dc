"""Every public trace agrees with the compiled engine, state by state, packed states by batch, and plays in lanes.

No kernel can go astray on the tables of a public rule file, and plays come out the same before rows are reused.

A sample of them always, all of them with GGP_CONFORM=all (`make conform`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np
import pytest

from gdl.compiler.compilation import DEFAULT_COMPILE_LIMITS
from gdl.compiler.compiled import CompiledGame, CompiledState
from gdl.compiler.kernels.playouts import LanePlayer, LaneTrace
from gdl.compiler.tables import CompiledRules, Tables
from gdl.compiler.verification import verify, verify_reuse, verify_rules
from gdl.datalog.translation import clauses_of
from gdl.errors import CannotCompileError, ChildProcessDiedError, GdlError, LimitExceeded, StuckPlayError
from gdl.game import Playouts
from gdl.interpreter import InterpretedGame
from gdl.language.rules import read_file
from gdl.traces import Trace, conform, read_trace
from gdl.worker import ChildLimits, run_limited
from tests.corpus.gdl.test_conformance_corpus import CORPUS, chosen
from tests.kit.gdl.compiler.engines import rules_and_tables

PATIENCE: Final = ChildLimits(max_seconds=900, max_memory_mb=4096, max_answer_mb=2048)
"""Compiling chess takes half a minute, and more where other tests run beside it."""
BEYOND: Final = {"laikLee_hex"}
"""What does not compile within the limits."""
WITH_LOOPS: Final = ("hexPie", "atariGoVariant_7x7")
"""Games with recursion over boards, beyond the sample of the interpreter; the circuit of the last stays cyclic."""
N_PLAYS: Final = 512
N_STEPS: Final = 40
MAX_STEPS: Final = 2_000
"""How long a play may be where plays are compared as a whole; some public games last for ever."""

pytestmark = pytest.mark.skipif(
    not CORPUS.is_dir(), reason=f"no conformance material at {CORPUS}; GGP_SHARED names its parent"
)


def compiled(name: str) -> tuple[CompiledGame, Tables]:
    """Return the game, and its tables for plays before rows are reused."""
    interpreted = InterpretedGame(read_file(CORPUS / "rules" / f"{name}.kif"))
    arguments = (clauses_of(interpreted.description.rules), interpreted.roles, DEFAULT_COMPILE_LIMITS.max_ground_rules)
    try:
        rules, before = run_limited(rules_and_tables, arguments, PATIENCE)
    except (CannotCompileError, LimitExceeded, ChildProcessDiedError) as error:
        if name in BEYOND:
            pytest.skip(str(error))
        raise
    return CompiledGame(interpreted, rules), before


def visits(game: CompiledGame, trace: Trace) -> Iterator[tuple[CompiledState, tuple[int, ...]]]:
    """Yield the states of *trace*, each with the numbers of the moves that are made there, none in the last."""
    known = [{str(game.moves[i]): i for i in numbers} for numbers in game.moves_of]
    order = [trace.roles.index(role.name) for role in game.roles]
    for steps in trace.matches:
        state = game.initial_state
        assert isinstance(state, CompiledState)
        for number, step in enumerate(steps, 1):
            texts = (step.moves or ()) if number < len(steps) else ()
            moves = tuple(names[texts[i]] for names, i in zip(known, order, strict=True) if texts)
            yield state, moves
            if moves:
                state = game.unpack(game.step(state.packed, moves))


@pytest.mark.sampled(17)
@pytest.mark.parametrize("name", dict.fromkeys([*chosen("traces/*.json"), *WITH_LOOPS]))
def test_states_moves_ends_and_goals_equal_those_of_the_reference(name: str) -> None:
    trace = read_trace((CORPUS / "traces" / f"{name}.json").read_text(encoding="utf-8"))
    game, before = compiled(name)
    compare_tables(game, before)
    difference = conform(game, trace)
    assert difference is None, str(difference)
    compare_batch(game, trace)
    compare_lanes(game)


def compare_tables(game: CompiledGame, before: Tables) -> None:
    """Verify all tables of a game, and hold plays to those before rows are reused."""
    verify(game.rules.single)
    verify_reuse(before, verify(before), game.rules.phased)
    verify_rules(game.rules)
    assert plays(game.rules) == plays(replace(game.rules, phased=before))


def plays(rules: CompiledRules) -> Playouts | str:
    """Return what random plays from the first state come to, or why they came to nothing."""
    bits = np.zeros(len(rules.fluents), np.uint8)
    bits[list(rules.initial)] = 1
    try:
        return LanePlayer(rules).play_each(np.packbits(bits)[None], N_PLAYS, 1, MAX_STEPS).of(0)
    except GdlError as error:
        return str(error)


def compare_batch(game: CompiledGame, trace: Trace) -> None:
    """Hold the answers about all states of *trace* at once to those about each, which are those of the reference."""
    met = list(visits(game, trace))
    packed = np.array([list(state.packed) for state, _ in met], np.uint8).reshape(len(met), game.n_bytes)
    expected = np.zeros((len(met), len(game.moves)), np.bool_)
    for i, (state, _) in enumerate(met):
        expected[i, game.legal_and_terminal(state.packed)[0]] = True
    assert (game.batch.legal(packed) == expected).all()
    assert game.batch.terminal(packed).tolist() == [state.is_terminal for state, _ in met]
    goals = [[-1 if (goal := state.goal(role)) is None else goal for role in game.roles] for state, _ in met]
    assert game.batch.goals(packed).tolist() == goals
    before = [i for i, (_, moves) in enumerate(met) if moves]
    following = game.batch.next(packed[before], np.array([met[i][1] for i in before]).reshape(-1, len(game.roles)))
    assert (following == packed[[i + 1 for i in before]]).all()


def compare_lanes(game: CompiledGame) -> None:
    """Hold random plays in some of the lanes to the steps of single states."""
    first = game.initial_state
    assert isinstance(first, CompiledState)
    try:
        trace = LanePlayer(game.rules).trace(np.frombuffer(first.packed, np.uint8)[None], N_PLAYS, 1, N_STEPS)
    except StuckPlayError:  # some of these files leave a role without a move
        return
    for lane in range(0, N_PLAYS, 73):
        compare_lane(game, first.packed, trace, lane)


def compare_lane(game: CompiledGame, packed: bytes, trace: LaneTrace, lane: int) -> None:
    for is_playing, facts, moves in zip(
        trace.is_playing[:, lane], trace.facts[:, lane], trace.moves[:, lane], strict=True
    ):
        if not is_playing:
            return
        legal, is_terminal = game.legal_and_terminal(packed)
        assert np.packbits(facts).tobytes() == packed
        assert not is_terminal
        assert set(moves.tolist()) <= set(legal.tolist())
        packed = game.step(packed, moves.tolist())
