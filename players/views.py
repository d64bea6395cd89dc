"""What each role has been through: the views that tell states apart for it, and worlds that know everyone's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias
from weakref import WeakValueDictionary

from gdl.game import RANDOM, Game, JointMove, State
from gdl.terms import Term

Percepts: TypeAlias = tuple[Term, ...]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class View:
    """All that a role has been through: its moves and percepts, the last step first. None stands for the beginning.

    Equal views are one object.
    """

    before: View | None
    move: Term | None
    percepts: Percepts

    @staticmethod
    def of(before: View | None, move: Term | None, percepts: Percepts) -> View:
        """Return the view after one more step."""
        key = (before, move, percepts)
        found = _VIEWS.get(key)
        if found is None:
            found = _VIEWS[key] = View(before, move, percepts)
        return found


_VIEWS: Final[WeakValueDictionary[tuple[View | None, Term | None, Percepts], View]] = WeakValueDictionary()


@dataclass(frozen=True, slots=True)
class World:
    """A state that may be the true one, and what each role has been through if it is."""

    state: State
    views: tuple[View | None, ...]


def views_after(game: Game, world: World, moves: JointMove) -> tuple[View | None, ...]:
    """Return what each role has been through after *moves* in *world*; nothing for chance."""
    return tuple(
        None if role == RANDOM else View.of(view, move, world.state.percepts(role, moves))
        for role, view, move in zip(game.roles, world.views, moves, strict=True)
    )
