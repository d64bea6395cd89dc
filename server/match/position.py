"""All that a match wants to know of a state, asked of the engine in one go: the only calls that may take long."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Final

from gdl.diagnostics import Source
from gdl.errors import GdlError, NoLegalMoveError
from gdl.game import RANDOM, Game, JointMove, Role, State
from gdl.language.kif import read_forms, term_of
from gdl.language.terms import Term
from gdl.wire.replies import elements
from server.errors import NoGoalError

MAX_ALTERNATIVES: Final = 64
"""How many joint moves may be possible for a role, for it to be found out whether it can tell them apart."""
MAX_COMPARING_S: Final = 0.1
"""How long that is looked at: it must not hold up the match. What is not found out counts as not known."""


@dataclass(frozen=True, slots=True, eq=False)
class Position:
    """A state with what follows from it; one entry per role, in the order of the game's roles.

    Attributes:
        state: None where another process keeps it.
        text: the facts as `state_text` prints them; they may be many, and are printed where the state is worked out.
        moves: the joint move that led here; None in the initial state.
        percepts: what each role perceived of `moves`; None in the initial state, and in GDL-I.
        legal_moves: empty in a terminal state.
        goals: None in a state that is not terminal; a `random` without a goal has None.
        is_common: in GDL-II, whether every role but chance is certain to know this state and all before it
            with the joint moves between them; False where that was not found out.
    """

    step: int
    state: State | None
    text: str
    moves: tuple[Term, ...] | None
    percepts: tuple[tuple[Term, ...], ...] | None
    legal_moves: tuple[tuple[Term, ...], ...]
    goals: tuple[int | None, ...] | None
    is_common: bool = False

    @property
    def is_terminal(self) -> bool:
        """Whether the play has ended."""
        return self.goals is not None


def spaced(term: Term) -> str:
    """Return *term* as the public records print it: `( cell 1 1 b )`."""
    return str(term).replace("(", "( ").replace(")", " )")


def state_text(facts: Iterable[Term]) -> str:
    """Return a state as the public records print it, ordered by text: `( ( cell 1 1 b ) ( control white ) )`."""
    return " ".join(("(", *sorted(spaced(fact) for fact in facts), ")"))


def fact_texts(text: str) -> list[str]:
    """Return the facts that `state_text` has printed, as rule files write them, ordered by text.

    They are not read, which would take some hundred times longer.
    """
    return sorted(fact.replace("( ", "(").replace(" )", ")") for fact in elements(text) or ())


def facts_in(text: str) -> frozenset[Term]:
    """Return the facts that `state_text` has printed.

    Raises:
        KifSyntaxError: it is no such text.
    """
    (state,) = read_forms(Source("state", text))
    return frozenset(map(term_of, state.children or ()))


def first_position(game: Game) -> Position:
    """Return the initial state.

    Raises:
        NoLegalMoveError, NoGoalError: the rules leave a role without a move, or in the end without a goal.
        GdlError: the engine gave up.
    """
    found = _position(game, 0, game.initial_state, None, None)
    return replace(found, is_common=game.has_imperfect_information)  # the rules tell it


def next_position(game: Game, position: Position, moves: JointMove) -> Position:
    """Return the state after the joint move *moves*; raises as `first_position`."""
    assert position.state is not None
    percepts = None
    if game.has_imperfect_information:
        percepts = tuple(position.state.percepts(role, moves) for role in game.roles)
    found = _position(game, position.step + 1, position.state.next_state(moves), tuple(moves), percepts)
    is_common = position.is_common and percepts is not None and _can_all_tell(game, position.state, moves, percepts)
    return replace(found, is_common=True) if is_common else found


def _can_all_tell(game: Game, state: State, moves: JointMove, percepts: tuple[tuple[Term, ...], ...]) -> bool:
    """Return whether every role that knows *state* knows from its own move and percepts that *moves* were made."""
    until_s = time.monotonic() + MAX_COMPARING_S
    choices = [state.legal_moves(role) for role in game.roles]
    for i, role in enumerate(game.roles):
        options = [(move,) if i == j else choices[j] for j, move in enumerate(moves)]
        if role is RANDOM or prod(map(len, options)) == 1:
            continue
        if prod(map(len, options)) > MAX_ALTERNATIVES:
            return False
        for other in product(*options):
            if other == tuple(moves):
                continue
            if time.monotonic() > until_s or _perceives(state, role, other, percepts[i]):
                return False
    return True


def _perceives(state: State, role: Role, moves: JointMove, percepts: tuple[Term, ...]) -> bool:
    """Return whether *role* would perceive the same of *moves*, or that cannot be found out."""
    try:
        return set(state.percepts(role, moves)) == set(percepts)
    except GdlError:
        return True


def _position(
    game: Game,
    step: int,
    state: State,
    moves: tuple[Term, ...] | None,
    percepts: tuple[tuple[Term, ...], ...] | None,
) -> Position:
    if state.is_terminal:
        legal_moves: tuple[tuple[Term, ...], ...] = ((),) * len(game.roles)
        goals: tuple[int | None, ...] | None = _goals(game, step, state)
    else:
        legal_moves, goals = _legal_moves(game, step, state), None
    return Position(
        step=step,
        state=state,
        text=state_text(state.facts),
        moves=moves,
        percepts=percepts,
        legal_moves=legal_moves,
        goals=goals,
    )


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
