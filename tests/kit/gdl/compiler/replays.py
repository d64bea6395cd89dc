"""Plays of the lanes, followed on the interpreter step by step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gdl.compiler.compiled import CompiledGame
from gdl.compiler.kernels.playouts import LanePlayer
from gdl.game import State
from gdl.interpreter import InterpretedGame
from tests.kit.gdl.compiler.engines import packed


@dataclass(frozen=True)
class Replayed:
    """The end of a play: its length, and the goal of every role."""

    length: int
    goals: tuple[int | None, ...]


def replayed(
    interpreted: InterpretedGame, compiled: CompiledGame, start: State, k: int, n_steps: int
) -> list[Replayed]:
    """Let the lanes make *k* plays, and follow every step on the interpreter; return the plays that ended."""
    trace = LanePlayer(compiled.rules).trace(packed(compiled, [start]), k, 7, n_steps)
    ended = []
    for lane in np.flatnonzero(trace.is_playing.any(axis=0)):
        state: State | None = None
        length = 0
        for step in range(len(trace.is_playing)):
            facts = frozenset(compiled.fluents[i] for i in np.flatnonzero(trace.facts[step, lane]))
            is_playing = trace.is_playing[step, lane]
            if state is None and is_playing:
                state, length = interpreted.state(start.facts), 0
            if state is None:
                continue
            assert facts == state.facts
            assert state.is_terminal != is_playing
            if is_playing:
                state = state.next_state([compiled.moves[number] for number in trace.moves[step, lane]])
                length += 1
            else:
                ended.append(Replayed(length, tuple(map(state.goal, interpreted.roles))))
                state = None
    return ended
