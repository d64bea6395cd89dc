"""What a simulation counts, and the defects that it notices, each with the shortest play that shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from gdl.game import JointMove, Role
from gdl.language.terms import Term, signature

Play: TypeAlias = tuple[JointMove, ...]
"""The joint moves that lead from the initial state to where something is noticed."""

Path: TypeAlias = Callable[[], Play]
"""Makes the play that led to a state, on demand."""

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


@dataclass(slots=True)
class Spread:
    """The least, the mean and the most of some numbers."""

    least: int | None = None
    most: int | None = None
    total: int = 0
    n: int = 0

    def add(self, number: int) -> None:
        """Count *number*."""
        self.least = number if self.least is None else min(self.least, number)
        self.most = number if self.most is None else max(self.most, number)
        self.total += number
        self.n += 1

    @property
    def mean(self) -> float | None:
        """The mean; None without numbers."""
        return self.total / self.n if self.n else None

    def as_json(self) -> dict[str, float | None]:
        """Return the three as a JSON object."""
        mean = self.mean
        return {"min": self.least, "mean": None if mean is None else round(mean, 3), "max": self.most}

    def __str__(self) -> str:
        return "none" if self.mean is None else f"{self.least} to {self.most}, mean {self.mean:.4g}"


class Figures:
    """What was met in some states: those of random plays, each as often as met, or each of a space once.

    Attributes:
        steps: joint moves per play, of plays that ended.
        facts: facts per state.
        joint_moves: joint moves per state that is not terminal.
        branching: legal moves per such state, by role.
        goals: goal values in terminal states, by role.
        fluents: every fluent met.
        moves: every legal move met, by role.
        falling: the roles whose goal value was seen to fall.
        perceiving: the roles that perceived something (GDL-II).
    """

    def __init__(self, roles: Iterable[Role]) -> None:
        self.roles = tuple(roles)
        self.n_states = 0
        self.steps, self.facts, self.joint_moves = Spread(), Spread(), Spread()
        self.branching = {role: Spread() for role in self.roles}
        self.goals = {role: Spread() for role in self.roles}
        self.fluents: set[Term] = set()
        self.moves: dict[Role, set[Term]] = {role: set() for role in self.roles}
        self.falling: set[Role] = set()
        self.perceiving: set[Role] = set()

    def count_state(self, facts: frozenset[Term]) -> None:
        """Count a state."""
        self.n_states += 1
        self.facts.add(len(facts))
        self.fluents |= facts

    def count_moves(self, legal: Sequence[Sequence[Term]]) -> None:
        """Count the legal moves of a state, in the order of the roles."""
        n_joint = 1
        for role, moves in zip(self.roles, legal, strict=True):
            self.branching[role].add(len(moves))
            self.moves[role].update(moves)
            n_joint *= len(moves)
        self.joint_moves.add(n_joint)

    def has_won(self, role: Role) -> bool:
        """Whether *role* got 100 in some terminal state."""
        return self.goals[role].most == 100

    def as_json(self) -> dict[str, Any]:
        """Return the figures as a JSON object."""
        return {
            "states": self.n_states,
            "steps": self.steps.as_json(),
            "facts": self.facts.as_json(),
            "fluents": len(self.fluents),
            "jointMoves": self.joint_moves.as_json(),
            "roles": {str(role): self._of(role) for role in self.roles},
        }

    def _of(self, role: Role) -> dict[str, Any]:
        return {
            "moves": len(self.moves[role]),
            "branching": self.branching[role].as_json(),
            "goals": self.goals[role].as_json(),
            "goalsFall": role in self.falling,
        }
