"""Reference traces, plays kept as counts and digests, and whether an engine agrees with them."""

import hashlib
import json
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar, Final, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gdl.errors import CallerError
from gdl.game import Game, Role, State
from gdl.language.terms import Term
from gdl.violations import violation_message, violation_path, violations

Digest: TypeAlias = tuple[Annotated[int, Field(ge=0)], Annotated[str, Field(pattern="^[0-9a-f]{16}$")]]
"""How many texts, and the first 16 hex digits of the SHA-1 of the sorted, newline-joined texts."""

DEFAULT_MAX_STEPS: Final = 1_000


class TraceError(CallerError):
    """The text is no trace; `detail` says where it goes wrong."""

    template: ClassVar[str] = "this is no trace: {detail}"
    detail: str


class Step(BaseModel):
    """A state of a play: what holds there, and the joint move made; no legal moves where terminal.

    *Shapes*: `goals`, `legal`, `moves` and `percepts` have one entry per role, in the order of the trace's roles.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    state: Digest
    terminal: bool
    goals: tuple[int | None, ...]
    legal: tuple[Digest, ...] | None = None
    moves: tuple[str, ...] | None = None
    percepts: tuple[tuple[str, ...], ...] | None = None


class Trace(BaseModel):
    """Plays of one game, each a sequence of steps."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    roles: tuple[str, ...] = Field(min_length=1)
    matches: tuple[tuple[Step, ...], ...]


def digest(terms: Iterable[Term | str]) -> Digest:
    """Return the count of *terms* and the digest of their texts, sorted by code point."""
    texts = sorted(map(str, terms))
    return len(texts), hashlib.sha1("\n".join(texts).encode(), usedforsecurity=False).hexdigest()[:16]


def read_trace(text: str) -> Trace:
    """Return the trace that *text* holds as JSON.

    Raises:
        TraceError: it is not JSON, or lacks something, or has rows of the wrong length.
    """
    try:
        trace = Trace.model_validate_json(text)
    except ValidationError as error:
        first = violations(error)[0]
        raise TraceError(f"{violation_path(first) or 'the text'}: {violation_message(first)}") from error
    for play, steps in enumerate(trace.matches):
        for number, step in enumerate(steps):
            _check_lengths(step, len(trace.roles), f"matches.{play}.{number}")
            if step.moves is None and number + 1 < len(steps):
                raise TraceError(f"matches.{play}.{number}: a step follows, but no moves are given")
    return trace


def _check_lengths(step: Step, n_roles: int, where: str) -> None:
    for name in ("goals", "legal", "moves", "percepts"):
        row = getattr(step, name)
        if row is not None and len(row) != n_roles:
            raise TraceError(f"{where}.{name}: {len(row)} entries for {n_roles} roles")


def to_json(trace: Trace) -> str:
    """Return *trace* as the JSON that `read_trace` reads, a step per line."""
    plays = (",\n  ".join(step.model_dump_json(exclude_unset=True) for step in steps) for steps in trace.matches)
    matches = ",\n ".join(f"[{play}]" for play in plays)
    return f'{{"roles": {json.dumps(trace.roles)},\n "matches": [\n {matches}\n]}}\n'


def trace_game(
    game: Game,
    n_plays: int,
    seed: int,
    max_steps: int = DEFAULT_MAX_STEPS,
    on_step: Callable[[int, int], None] = lambda _play, _step: None,
) -> Trace:
    """Return *n_plays* random plays of *game*, each cut off after *max_steps* joint moves.

    *on_step* is called with the numbers of play and step as they are made.
    """
    generator = random.Random(seed)
    matches = tuple(_play(game, generator, max_steps, partial(on_step, play)) for play in range(n_plays))
    return Trace(roles=tuple(map(str, game.roles)), matches=matches)


def _play(game: Game, generator: random.Random, max_steps: int, on_step: Callable[[int], None]) -> tuple[Step, ...]:
    steps = []
    state = game.initial_state
    for number in range(max_steps + 1):
        on_step(number)
        moves = _choice(game.roles, state, generator) if number < max_steps else None
        steps.append(step_of(game, state, moves))
        if moves is None:
            break
        state = state.next_state(moves)
    return tuple(steps)


def _choice(roles: tuple[Role, ...], state: State, generator: random.Random) -> tuple[Term, ...] | None:
    legal = () if state.is_terminal else tuple(state.legal_moves(role) for role in roles)
    if not legal or not all(legal):
        return None
    return tuple(generator.choice(moves) for moves in legal)


def step_of(game: Game, state: State, moves: tuple[Term, ...] | None) -> Step:
    """Return what a trace says of *state* and of the joint move made in it."""
    fields: dict[str, object] = {
        "state": digest(state.facts),
        "terminal": state.is_terminal,
        "goals": tuple(state.goal(role) for role in game.roles),
    }
    if not state.is_terminal:
        fields["legal"] = tuple(digest(state.legal_moves(role)) for role in game.roles)
    if moves is not None:
        fields["moves"] = tuple(map(str, moves))
        if game.has_imperfect_information:
            fields["percepts"] = tuple(tuple(map(str, state.percepts(role, moves))) for role in game.roles)
    return Step.model_validate(fields)


_OF_THE_JOINT_MOVE: Final = frozenset({"legal", "move", "percepts"})
"""Kinds of differences that are of the joint move which is made in a state: it begins the next step."""


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """The first place where an engine and a trace disagree; plays and steps are indices, from 0.

    `kind` is what differs: roles, state, terminal, legal, goal, move or percepts; `role` is None where it concerns
    none. `ours` is our full answer; `reference` the trace's, or None where the trace has only count and digest.
    In words plays count from 1, and step 1 is the first joint move with the state that it leads to.
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
        number = self.step + (self.kind in _OF_THE_JOINT_MOVE)
        place = f"play {self.play + 1}, step {number}{who}: {self.kind} differs"
        if self.kind == "roles":
            place = "roles differ"
        return f"{place}\nreference: {theirs}\nours ({len(self.ours)}):{ours}"


Comparison: TypeAlias = tuple[str, Role | None, Iterable[Term | str], Digest | tuple[str, ...]]
"""Kind, role, our answer, and the trace's: a digest, or the answer itself."""


def conform(
    game: Game,
    trace: Trace,
    *,
    moves_only: bool = False,
    on_step: Callable[[int, int], None] = lambda _play, _step: None,
) -> Discrepancy | None:
    """Return the first difference between *game* and *trace*, or None where they agree.

    With *moves_only*, legal moves and terminal are compared everywhere, goals in terminal states only, states and
    percepts never: that is for two rule files of one game. *on_step* is called with play and step as they are compared.
    """
    by_name = {str(role): role for role in game.roles}
    if sorted(by_name) != sorted(trace.roles):
        return Discrepancy(0, 0, None, "roles", tuple(by_name), reference=trace.roles)
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


def _difference(play: int, step: int, comparison: Comparison) -> Discrepancy | None:
    kind, role, ours, theirs = comparison
    name = None if role is None else str(role)
    texts = tuple(sorted(map(str, ours)))
    if len(theirs) == 2 and isinstance(theirs[0], int):
        if digest(texts) == theirs:
            return None
        return Discrepancy(play, step, name, kind, texts, n_reference=theirs[0], digest_reference=str(theirs[1]))
    reference = tuple(map(str, theirs))
    return None if texts == tuple(sorted(reference)) else Discrepancy(play, step, name, kind, texts, reference)


def _word(is_terminal: bool) -> str:
    return "terminal" if is_terminal else "not terminal"


def _number(goal: int | None) -> tuple[str, ...]:
    return () if goal is None else (str(goal),)
