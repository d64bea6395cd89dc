"""Reference traces: plays of a game, every state, legal set and goal kept as a count and a digest.

The format is that of the field's reference material, with percepts as one more field for GDL-II games.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterable
from functools import partial
from typing import Annotated, Final, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gdl.complaints import complaint
from gdl.errors import CallerError
from gdl.game import Game, Role, State
from gdl.terms import Term

Digest: TypeAlias = tuple[Annotated[int, Field(ge=0)], Annotated[str, Field(pattern="^[0-9a-f]{16}$")]]
"""How many texts, and the first 16 hex digits of the SHA-1 of the sorted, newline-joined texts."""

DEFAULT_MAX_STEPS: Final = 1_000


class TraceError(CallerError):
    """The text is no trace; `detail` says where it goes wrong."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail

    def __str__(self) -> str:
        return f"this is no trace: {self.detail}"


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
        first = error.errors(include_url=False)[0]
        raise TraceError(f"{'.'.join(map(str, first['loc'])) or 'the text'}: {complaint(first)}") from error
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
