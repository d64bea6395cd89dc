"""Random plays: every role picks among its legal moves with equal probability."""

from __future__ import annotations

import random

from gdl.game import JointMove, State
from gdl.simulation.budget import LimitInPlay, OutOfTime
from gdl.simulation.defects import Defect
from gdl.simulation.observer import Observer
from gdl.terms import Term


def make_play(observer: Observer, generator: random.Random, max_steps: int) -> bool:
    """Make one random play, and return whether it came to an end before the observer's deadline.

    A play also ends where a role has no legal move, or after *max_steps* joint moves; both are noted as defects.

    Raises:
        LimitInPlay: the engine reached a limit.
    """
    made: list[JointMove] = []
    try:
        _make(observer, generator, max_steps, made)
    except OutOfTime:
        return False
    except LimitInPlay as limit:
        raise limit.after(tuple(made)) from limit
    return True


def _make(observer: Observer, generator: random.Random, max_steps: int, made: list[JointMove]) -> None:
    state = observer.game.initial_state
    first_met: dict[State, int] = {}
    has_circled = False
    while (legal := observer.look(state, lambda: tuple(made))) is not None:
        if not has_circled and state in first_met:
            has_circled = True
            observer.notebook.note(Defect("endless-play", tuple(made), since=first_met[state]))
        if len(made) >= max_steps:
            if not has_circled:
                observer.notebook.note(Defect("overlong-play", tuple(made)))
            return
        first_met[state] = len(made)
        moves: tuple[Term, ...] = tuple(generator.choice(own) for own in legal)
        state = observer.move(state, moves, lambda: (*made, moves))  # noqa: B023 -- asked for at once, or never
        made.append(moves)
    observer.figures.steps.add(len(made))
