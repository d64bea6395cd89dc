"""Beliefs of a role in a play, and what it knows of it."""

from __future__ import annotations

from gdl.language.kif import read_term
from gdl.language.terms import Term
from players.belief import BeliefState, InformationSet, Percepts, World
from players.deadline import SearchBudget

Past = list[tuple[Term, Percepts]]


def past_of(infoset: InformationSet | None) -> Past:
    """Return the moves and percepts of an information set, the first step first."""
    past = Past()
    while infoset is not None:
        past.append((infoset.move or read_term("none"), infoset.percepts))
        infoset = infoset.before
    return past[::-1]


def after_the_door(worlds: BeliefState) -> BeliefState:
    """Tell *worlds* of Monty Hall that the candidate chose door 1 and that door 3 was opened."""
    worlds.advance(read_term("(choose 1)"), [read_term("(you_chose 1)")], SearchBudget())
    worlds.advance(read_term("noop"), [read_term("(opened_door 3)")], SearchBudget())
    return worlds


def car(world: World) -> str:
    """Return the fluent that says where the car is in a world of Monty Hall."""
    return next(str(fact) for fact in world.state.facts if str(fact).startswith("(car"))
