"""What authors subclass: a player is asked for moves; everything else is done for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeAlias

from gdl.errors import IllegalMoveError
from gdl.game import Game, Role, State
from gdl.replies import find_move
from gdl.terms import Term
from players.deadline import Deadline
from players.worlds import Worlds

MakePlayer: TypeAlias = Callable[[], "Player"]
"""What makes a player for each match: a class, or a class with its options."""


class Player:
    """One player in one match: subclass it and write `move`.

    `game`, `role`, `random` (seeded) and `worlds` (what the role can know of the state) are set before `start`.
    """

    game: Game
    role: Role
    random: Random
    worlds: Worlds
    best_so_far: Term | None = None
    on_suggestion: Callable[[Term], None] | None = None

    def join(self, game: Game, role: Role, seed: int) -> None:
        """Sit down at a match: the kit calls this first, before any hook."""
        self.game, self.role = game, role
        self.random = Random(seed)
        self.worlds = Worlds(game, role, seed)

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        """Return a legal move of *role* in *state* before *deadline*.

        Where the information is imperfect, *state* is one that fits all that the role has perceived.
        """
        raise NotImplementedError

    def suggest(self, move: Term) -> None:
        """Say that *move* is the best so far: it is answered if the clock ends before `move` returns.

        Raises:
            IllegalMoveError: it is not a legal move of this player.
        """
        found = find_move(move, self.worlds.state.legal_moves(self.role))
        if found is None:
            raise IllegalMoveError(str(self.role), str(move))
        self.best_so_far = found
        if self.on_suggestion is not None:
            self.on_suggestion(found)

    def start(self, deadline: Deadline) -> None:
        """Prepare for the match until *deadline*, the end of the start clock."""

    def perceive(self, own_move: Term | None, percepts: Sequence[Term]) -> None:
        """Take note of a step: the own move and what was perceived; in GDL-I that is the joint move.

        *own_move* is None where the player cannot know it.
        """

    def stop(self) -> None:
        """Take note that the match has ended."""

    def abort(self) -> None:
        """Take note that the match was given up."""
