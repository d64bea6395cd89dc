"""The one interface that every engine implements: a game, and its states.

Moves, facts, roles and percepts are ground terms. A joint move is a sequence with one move per role, in the order of
`Game.roles`. Whatever has an order here is ordered by its printed text, so that equal questions have equal answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol, TypeAlias

from gdl.playouts import MAX_STEPS, Playouts
from gdl.rules import Description
from gdl.terms import Constant, Term

Role: TypeAlias = Constant
JointMove: TypeAlias = Sequence[Term]

RANDOM: Final = Constant("random")
"""The role of GDL-II that stands for chance: it plays each of its legal moves with equal probability."""


class State(Protocol):
    """A state of a game: immutable, hashable, equal to every state of the game with the same facts."""

    @property
    def facts(self) -> frozenset[Term]:
        """The fluents that are true, without `true` around them."""

    @property
    def is_terminal(self) -> bool:
        """Whether the play has ended."""

    def legal_moves(self, role: Role) -> tuple[Term, ...]:
        """Return the legal moves of *role*, ordered by text; also of a terminal state, where a file defines them.

        Raises:
            UnknownRoleError: the game has no such role.
        """

    def goal(self, role: Role) -> int | None:
        """Return the goal value of *role*, or None where there is not exactly one (or it is no number).

        Raises:
            UnknownRoleError: the game has no such role.
        """

    def next_state(self, moves: JointMove) -> State:
        """Return the state after the joint move *moves*.

        Raises:
            TerminalStateError: nobody moves any more.
            JointMoveError: not one move per role.
            IllegalMoveError: a move is not legal for its role.
        """

    def percepts(self, role: Role, moves: JointMove) -> tuple[Term, ...]:
        """Return what *role* perceives of the joint move *moves* made in this state, ordered by text.

        In GDL-II these are the terms of `sees`; in GDL-I everyone sees every move, so it is the joint move
        itself, in the order of the roles.

        Raises: as `next_state`, and UnknownRoleError.
        """


class Outline(Protocol):
    """What is known of a game without asking an engine."""

    @property
    def description(self) -> Description:
        """The rules that the game was made from."""

    @property
    def roles(self) -> tuple[Role, ...]:
        """The roles, in the order of the file, `random` included."""

    @property
    def has_imperfect_information(self) -> bool:
        """Whether the rules are GDL-II: percepts replace the joint move in what players are told."""


class Game(Outline, Protocol):
    """A game as its rules define it."""

    @property
    def engine(self) -> str:
        """The engine that runs the game now: `interpreter` or `compiled`."""

    @property
    def initial_state(self) -> State:
        """The state in which every play begins."""

    def state(self, facts: frozenset[Term]) -> State:
        """Return the state in which exactly *facts* are true; they need not be reachable."""

    def playouts(self, state: State, n: int, seed: int, max_steps: int = MAX_STEPS) -> Playouts:
        """Return what *n* random plays from *state* come to; the same arguments give the same answer.

        Raises:
            ValueError: *n* is not positive, or *seed* is negative.
            StuckPlayError: a role has no legal move.
            LimitExceeded: a play takes more than *max_steps* steps.
        """


def played_roles(game: Outline) -> tuple[Role, ...]:
    """Return the roles that somebody must play: all but the `random` of GDL-II."""
    return tuple(role for role in game.roles if not (role is RANDOM and game.has_imperfect_information))


def goal_number(text: str) -> int | None:
    """Return the value of a goal, None where it is no number."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None
