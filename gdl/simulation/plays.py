"""Random plays: every role picks among its legal moves with equal probability."""

from __future__ import annotations

import random

from gdl.game import JointMove, State
from gdl.simulation.budget import Deadline, LimitInPlay
from gdl.simulation.defects import Defect
from gdl.simulation.observer import Observer
from gdl.terms import Term


def make_play(observer: Observer, generator: random.Random, max_steps: int, deadline: Deadline) -> bool:
    """Make one random play, and return whether it came to an end before *deadline*.

    A play also ends where a role has no legal move, or after *max_steps* joint moves; both are noted as defects.

    Raises:
        LimitInPlay: the engine reached a limit; it is noted as a defect, too.
    """
    made: list[JointMove] = []
    try:
        return _make(observer, generator, max_steps, deadline, made)
    except LimitInPlay as limit:
        observer.notebook.note(Defect("limit-in-play", tuple(made), relation=limit.relation, detail=str(limit)))
        raise


def _make(
    observer: Observer, generator: random.Random, max_steps: int, deadline: Deadline, made: list[JointMove]
) -> bool:
    state = observer.game.initial_state
    first_met: dict[State, int] = {}
    has_circled = False
    while not deadline.is_over:
        legal = observer.look(state, lambda: tuple(made))
        if legal is None:
            observer.figures.steps.add(len(made))
            return True
        if not has_circled and state in first_met:
            has_circled = True
            observer.notebook.note(Defect("endless-play", tuple(made), since=first_met[state]))
        if len(made) >= max_steps:
            if not has_circled:
                observer.notebook.note(Defect("overlong-play", tuple(made)))
            return True
        first_met[state] = len(made)
        moves: tuple[Term, ...] = tuple(generator.choice(own) for own in legal)
        state = observer.move(state, moves, lambda: (*made, moves))  # noqa: B023 -- asked for at once, or never
        made.append(moves)
    return False
