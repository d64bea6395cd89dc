"""All that a match wants to know of a state, asked of the engine in one go: the only calls that may take long."""

from __future__ import annotations

from dataclasses import dataclass

from gdl.errors import NoLegalMoveError
from gdl.game import RANDOM, Game, JointMove, State
from gdl.terms import Term
from server.errors import NoGoalError


@dataclass(frozen=True, slots=True, eq=False)
class Position:
    """A state with what follows from it; one entry per role, in the order of the game's roles.

    Attributes:
        state: None where another process keeps it.
        moves: the joint move that led here; None in the initial state.
        percepts: what each role perceived of `moves`; None in the initial state, and in GDL-I.
        legal_moves: empty in a terminal state.
        goals: None in a state that is not terminal; a `random` without a goal has None.
    """

    step: int
    state: State | None
    facts: frozenset[Term]
    moves: tuple[Term, ...] | None
    percepts: tuple[tuple[Term, ...], ...] | None
    legal_moves: tuple[tuple[Term, ...], ...]
    goals: tuple[int | None, ...] | None

    @property
    def is_terminal(self) -> bool:
        """Whether the play has ended."""
        return self.goals is not None


def first_position(game: Game) -> Position:
    """Return the initial state.

    Raises:
        NoLegalMoveError, NoGoalError: the rules leave a role without a move, or in the end without a goal.
        GdlError: the engine gave up.
    """
    return _position(game, 0, game.initial_state, None, None)


def next_position(game: Game, position: Position, moves: JointMove) -> Position:
    """Return the state after the joint move *moves*; raises as `first_position`."""
    assert position.state is not None
    percepts = None
    if game.has_imperfect_information:
        percepts = tuple(position.state.percepts(role, moves) for role in game.roles)
    return _position(game, position.step + 1, position.state.next_state(moves), tuple(moves), percepts)


def _position(
    game: Game,
    step: int,
    state: State,
    moves: tuple[Term, ...] | None,
    percepts: tuple[tuple[Term, ...], ...] | None,
) -> Position:
    if state.is_terminal:
        return Position(step, state, state.facts, moves, percepts, ((),) * len(game.roles), _goals(game, step, state))
    return Position(step, state, state.facts, moves, percepts, _legal_moves(game, step, state), None)


def _goals(game: Game, step: int, state: State) -> tuple[int | None, ...]:
    goals = tuple(state.goal(role) for role in game.roles)
    for role, goal in zip(game.roles, goals, strict=True):
        if goal is None and not (role is RANDOM and game.has_imperfect_information):
            raise NoGoalError(str(role), step)
    return goals


def _legal_moves(game: Game, step: int, state: State) -> tuple[tuple[Term, ...], ...]:
    legal_moves = tuple(tuple(state.legal_moves(role)) for role in game.roles)
    for role, moves in zip(game.roles, legal_moves, strict=True):
        if not moves:
            raise NoLegalMoveError(str(role), step)
    return legal_moves
