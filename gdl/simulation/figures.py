"""What a simulation found out: what it counts, the defects that it notices, and the report of both."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from gdl.diagnostics import Diagnostic, in_order
from gdl.game import Game, JointMove, Role
from gdl.language.terms import Term, signature
from gdl.quantities import quantity

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


class Defects:
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
        is_simultaneous: whether several roles had a choice at once.
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
        self.is_simultaneous = False

    def count_state(self, facts: frozenset[Term]) -> None:
        """Count a state of a play: how many facts it has, and which fluents become true at all."""
        self.n_states += 1
        self.facts.add(len(facts))
        self.fluents |= facts

    def count_moves(self, legal: Sequence[Sequence[Term]]) -> None:
        """Count the legal moves of a state, in the order of the roles."""
        n_joint = 1
        self.is_simultaneous |= sum(len(moves) > 1 for moves in legal) > 1
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
            "simultaneous": self.is_simultaneous,
            "roles": {str(role): self._of(role) for role in self.roles},
        }

    def _of(self, role: Role) -> dict[str, Any]:
        return {
            "moves": len(self.moves[role]),
            "branching": self.branching[role].as_json(),
            "goals": self.goals[role].as_json(),
            "goalsFall": role in self.falling,
        }


@dataclass(frozen=True, slots=True)
class Finding:
    """A diagnostic, and the play that shows the defect: from the initial state to where it is noticed."""

    diagnostic: Diagnostic
    play: Play | None = None
    """None where no single play shows it."""


@dataclass(frozen=True, slots=True)
class Exact:
    """What is known because every state was looked at.

    Attributes:
        n_states: how many states can be reached, the initial one included.
        shortest_play: steps of the shortest play; None where no play ends.
        longest_play: steps of the longest; None where a play can go on for ever.
        forced_wins: by role, whether it gets 100 whatever the others do; None in GDL-II, where it may not know enough.
    """

    n_states: int
    shortest_play: int | None
    longest_play: int | None
    forced_wins: Mapping[Role, bool | None]

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "states": self.n_states,
            "shortestPlay": self.shortest_play,
            "longestPlay": self.longest_play,
            "forcedWins": {str(role): wins for role, wins in self.forced_wins.items()},
        }


@dataclass(frozen=True, slots=True)
class SimulationReport:
    """What came of a simulation.

    Attributes:
        game: the game; None where a limit was reached while it was made.
        n_plays: how many random plays came to an end.
        seed: what the random plays were drawn with.
        setup_s: the time that making the game and its initial state took.
        elapsed_s: the time that everything took.
        findings: what is wrong, by place.
        figures: of the states of the random plays, or of all states where `exact` is there.
        exact: what an exhaustive search says, if it came to an end.
        n_declared_fluents, n_declared_moves: how many `base` and `input` declare; None without them.
        limit: which limit kept the simulation from a verdict, in words; None where it has one.
        plays_s: the time that the plays took that came to an end.
        n_asked: how many random plays were to be made.
    """

    game: Game | None
    n_plays: int
    seed: int
    setup_s: float
    elapsed_s: float
    findings: tuple[Finding, ...]
    figures: Figures
    exact: Exact | None = None
    n_declared_fluents: int | None = None
    n_declared_moves: Mapping[Role, int | None] = field(default_factory=dict)
    limit: str | None = None
    plays_s: float = 0.0
    n_asked: int = 0

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is wrong, by place."""
        return tuple(in_order(finding.diagnostic for finding in self.findings))

    @property
    def is_conclusive(self) -> bool:
        """Whether there is a verdict: no limit was reached before."""
        return self.limit is None

    def as_json(self) -> dict[str, Any]:
        """Return the figures as a JSON object; the diagnostics are not in it."""
        return {
            "plays": self.n_plays,
            "playsAsked": self.n_asked,
            "seed": self.seed,
            "setupSeconds": round(self.setup_s, 3),
            "seconds": round(self.elapsed_s, 3),
            "limit": self.limit,
            "playsPerSecond": round(self.n_plays / self.plays_s, 1) if self.plays_s > 0 else None,
            "exhaustive": None if self.exact is None else self.exact.as_json(),
            "declaredFluents": self.n_declared_fluents,
            "declaredMoves": {str(role): n for role, n in self.n_declared_moves.items()},
            "winnable": {str(role): self._winnable(role) for role in self.figures.roles},
            **self.figures.as_json(),
        }

    def _winnable(self, role: Role) -> bool | None:
        """Return whether some play gives *role* 100; None where that is not known."""
        return True if self.figures.has_won(role) else None if self.exact is None else False

    def lines(self) -> Iterator[str]:
        """Yield the figures as lines for people."""
        figures = self.figures
        asked = "" if self.n_plays >= self.n_asked else f" of {self.n_asked:,}, then time or memory was over"
        took = f"{self.elapsed_s:.1f} s, setup {self.setup_s:.2f} s"
        yield f"random plays: {self.n_plays:,}{asked} (seed {self.seed}); {took}"
        if self.exact is not None:
            n_states = self.exact.n_states
            searched = "the one state" if n_states == 1 else f"all {n_states:,} states"
            yield f"{searched} searched; {_play_lengths(self.exact)}"
        yield f"steps per play: {figures.steps}"
        yield f"facts per state: {figures.facts}; fluents met: {_of(len(figures.fluents), self.n_declared_fluents)}"
        yield f"joint moves per state: {figures.joint_moves}"
        for role in figures.roles:
            yield f"{role}: {'; '.join(self._told_of(role))}"
        if self.limit is not None:
            yield f"no verdict: {self.limit}"

    def _told_of(self, role: Role) -> Iterator[str]:
        figures = self.figures
        yield f"legal moves {figures.branching[role]}"
        yield f"moves met {_of(len(figures.moves[role]), self.n_declared_moves.get(role))}"
        yield f"goals {figures.goals[role]}{', may fall' if role in figures.falling else ''}"
        if self.exact is not None and self.exact.forced_wins.get(role) is not None:
            yield "can force 100" if self.exact.forced_wins[role] else "cannot force 100"


def _of(n: int, n_declared: int | None) -> str:
    return f"{n:,}" if n_declared is None else f"{n:,} of {n_declared:,} declared"


def _play_lengths(exact: Exact) -> str:
    if exact.shortest_play is None:
        return "no play ends"
    if exact.longest_play is None:
        return f"plays of {exact.shortest_play:,} steps or more, some without end"
    if exact.shortest_play == exact.longest_play:
        return f"plays of exactly {quantity(exact.longest_play, 'step')}"
    return f"plays of {exact.shortest_play:,} to {exact.longest_play:,} steps"
