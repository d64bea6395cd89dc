"""Whether an engine agrees with a reference trace, and where it first does not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from gdl.game import Game, Role, State
from gdl.terms import Term
from gdl.traces import Digest, Step, Trace, digest


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where an engine and a trace disagree; plays and steps count from 0.

    `kind` is what differs: roles, state, terminal, legal, goal, move or percepts; `role` is None where it concerns
    none. `ours` is our full answer; `reference` the trace's, or None where the trace has only count and digest.
    """

    play: int
    step: int
    role: str | None
    kind: str
    ours: tuple[str, ...]
    reference: tuple[str, ...] | None = None
    n_reference: int | None = None
    digest_reference: str | None = None

    def __str__(self) -> str:
        who = f", role {self.role}" if self.role else ""
        theirs = f"{self.n_reference} with digest {self.digest_reference}"
        if self.reference is not None:
            theirs = " ".join(self.reference) or "nothing"
        ours = "".join(f"\n  {text}" for text in self.ours) or "\n  nothing"
        place = f"play {self.play}, step {self.step}{who}: {self.kind} differs"
        return f"{place}\nreference: {theirs}\nours ({len(self.ours)}):{ours}"


Comparison: TypeAlias = tuple[str, Role | None, Iterable[Term | str], Digest | tuple[str, ...]]
"""Kind, role, our answer, and the trace's: a digest, or the answer itself."""


def conform(
    game: Game,
    trace: Trace,
    *,
    moves_only: bool = False,
    on_step: Callable[[int, int], None] = lambda _play, _step: None,
) -> Difference | None:
    """Return the first difference between *game* and *trace*, or None where they agree.

    With *moves_only*, legal moves and terminal are compared everywhere, goals in terminal states only, states and
    percepts never: that is for two rule files of one game. *on_step* is told play and step as they are compared.
    """
    by_name = {str(role): role for role in game.roles}
    if sorted(by_name) != sorted(trace.roles):
        return Difference(0, 0, None, "roles", tuple(by_name), reference=trace.roles)
    roles = tuple(by_name[name] for name in trace.roles)
    replay = _Replay(game, roles, moves_only)
    for play, steps in enumerate(trace.matches):
        state = game.initial_state
        for number, step in enumerate(steps):
            on_step(play, number)
            for comparison in replay.comparisons(state, step):
                found = _difference(play, number, comparison)
                if found is not None:
                    return found
            if number + 1 < len(steps):
                state = state.next_state(replay.joint_move(state, step.moves or ()))
    return None


@dataclass(frozen=True, slots=True)
class _Replay:
    """A game, its roles in the order of the trace, and what to compare."""

    game: Game
    roles: tuple[Role, ...]
    moves_only: bool

    def comparisons(self, state: State, step: Step) -> Iterator[Comparison]:
        if not self.moves_only:
            yield "state", None, state.facts, step.state
        yield "terminal", None, (_word(state.is_terminal),), (_word(step.terminal),)
        for role, theirs in zip(self.roles, step.legal or (), strict=False):
            yield "legal", role, state.legal_moves(role), theirs
        if step.terminal or not self.moves_only:
            for role, goal in zip(self.roles, step.goals, strict=True):
                yield "goal", role, _number(state.goal(role)), _number(goal)
        for role, move in zip(self.roles, step.moves or (), strict=False):
            legal = tuple(map(str, state.legal_moves(role)))
            yield "move", role, (move,) if move in legal else legal, (move,)
        if step.percepts is not None and step.moves is not None and not self.moves_only:
            moves = self.joint_move(state, step.moves)
            for role, percepts in zip(self.roles, step.percepts, strict=True):
                yield "percepts", role, state.percepts(role, moves), percepts

    def joint_move(self, state: State, texts: tuple[str, ...]) -> tuple[Term, ...]:
        """Return the moves of those texts, which are legal, in the order of the game."""
        chosen = dict(zip(self.roles, texts, strict=True))
        by_text = {role: {str(move): move for move in state.legal_moves(role)} for role in self.roles}
        return tuple(by_text[role][chosen[role]] for role in self.game.roles)


def _difference(play: int, step: int, comparison: Comparison) -> Difference | None:
    kind, role, ours, theirs = comparison
    name = None if role is None else str(role)
    texts = tuple(sorted(map(str, ours)))
    if len(theirs) == 2 and isinstance(theirs[0], int):
        if digest(texts) == theirs:
            return None
        return Difference(play, step, name, kind, texts, n_reference=theirs[0], digest_reference=str(theirs[1]))
    reference = tuple(map(str, theirs))
    return None if texts == tuple(sorted(reference)) else Difference(play, step, name, kind, texts, reference)


def _word(is_terminal: bool) -> str:
    return "terminal" if is_terminal else "not terminal"


def _number(goal: int | None) -> tuple[str, ...]:
    return () if goal is None else (str(goal),)
