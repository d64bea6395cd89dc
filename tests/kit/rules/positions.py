"""States and moves of a game as short texts, so that a test reads like the game."""

from __future__ import annotations

from collections.abc import Iterable

from gdl.diagnostics import Source
from gdl.game import Game, Role, State
from gdl.language.kif import read_forms, read_term, term_of
from gdl.language.terms import Term


def terms(text: str) -> tuple[Term, ...]:
    """Return the terms that *text* holds, one after the other."""
    return tuple(term_of(form) for form in read_forms(Source("<test>", text)))


def position(of: Game, text: str) -> State:
    """Return the state with exactly the facts that *text* holds."""
    return of.state(frozenset(terms(text)))


def after(state: State, joint_moves: Iterable[str]) -> State:
    """Return the state after some steps; each joint move is a text with one move for each role."""
    for text in joint_moves:
        state = state.next_state(terms(text))
    return state


def facts(state: State, name: str) -> set[str]:
    """Return the facts of *state* that begin with *name*, as texts."""
    return {str(fact) for fact in state.facts if str(fact).startswith(f"({name} ")}


def legal(state: State, role: str) -> set[str]:
    """Return the legal moves of *role*, as texts."""
    return {str(move) for move in state.legal_moves(_role(role))}


def goals(of: Game, state: State) -> list[int | None]:
    """Return the goals of all roles, in their order."""
    return [state.goal(role) for role in of.roles]


def _role(name: str) -> Role:
    term = read_term(name)
    assert isinstance(term, Role)
    return term
