"""What a simulation found out: diagnostics with the plays that show them, and figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from gdl.game import Game, Role
from gdl.language.diagnostics import Diagnostic, in_order
from gdl.simulation.figures import Figures, Play


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
            "seed": self.seed,
            "setupSeconds": round(self.setup_s, 3),
            "seconds": round(self.elapsed_s, 3),
            "limit": self.limit,
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
        yield f"random plays: {self.n_plays:,} (seed {self.seed}); {self.elapsed_s:.1f} s, setup {self.setup_s:.2f} s"
        if self.exact is not None:
            yield f"all {self.exact.n_states:,} states searched; {_play_lengths(self.exact)}"
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
        return f"plays of exactly {exact.longest_play:,} step{'' if exact.longest_play == 1 else 's'}"
    return f"plays of {exact.shortest_play:,} to {exact.longest_play:,} steps"
