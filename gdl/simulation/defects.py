"""Defects as they are noticed in play: what is wrong, and the shortest play that shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from gdl.game import JointMove
from gdl.terms import Term, signature

Play: TypeAlias = tuple[JointMove, ...]
"""The joint moves that lead from the initial state to where something is noticed."""

Path: TypeAlias = Callable[[], Play]
"""Makes the play that led to a state, where somebody wants it."""

_WITHOUT_EVIDENCE: Final = frozenset({"never-perceives", "never-wins"})
"""The codes of what only all plays together show."""


@dataclass(frozen=True, slots=True)
class Defect:
    """A defect that a play shows.

    Attributes:
        code: the name of its code, such as `no-legal-move`.
        play: the joint moves that lead to it.
        role: whom it concerns, if anyone in particular.
        terms: the fluent, move, percept or goal values that it is about.
        relation: the relation that it is about, where the code leaves that open.
        detail: what else there is to say, in words.
        since: of a play that runs in a circle, the step at which its last state was there before.
    """

    code: str
    play: Play
    role: Term | None = None
    terms: tuple[Term, ...] = ()
    relation: str = ""
    detail: str = ""
    since: int = 0

    @property
    def kind(self) -> tuple[object, ...]:
        """What makes it the same defect as one shown by another play."""
        return (self.code, self.role, self.relation, tuple(signature(term) for term in self.terms))

    @property
    def evidence(self) -> Play | None:
        """The play, where a single one shows it."""
        return None if self.code in _WITHOUT_EVIDENCE else self.play


class Notebook:
    """The defects noticed so far, each kind once, with the shortest play that shows it."""

    def __init__(self) -> None:
        self._found: dict[tuple[object, ...], Defect] = {}

    def note(self, defect: Defect) -> None:
        """Take *defect* down, unless a play as short is known to show it."""
        known = self._found.get(defect.kind)
        if known is None or len(defect.play) < len(known.play):
            self._found[defect.kind] = defect

    def __iter__(self) -> Iterator[Defect]:
        return iter(self._found.values())
