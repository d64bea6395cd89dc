"""Entries of the journal of a match: what happened, in texts and numbers alone, and how events become entries.

An entry is an event of `server.match.exchange` as journals, records and viewers have it: terms are texts as the public
records print them, and the game comes as the text of its rules. `server.records.codec` writes entries as JSON, and
reads them.
"""

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType
from typing import ClassVar, Final, TypeAlias

from gdl.language.terms import Term
from gdl.wire.insights import Insight
from gdl.wire.scrambling import Scrambling
from server.match import exchange
from server.match.position import spaced

FORMAT: Final = 1
"""The number of this format of entries and of the record's own keys; readers refuse numbers that they do not know."""


@dataclass(frozen=True, slots=True)
class JournalSeat:
    """What a journal says of the seat of a role; chance has one, of which only the first three are known.

    Attributes:
        dialect, case: as `server.match.profiles.Profile` has them, in the words of the record.
    """

    player: str
    is_human: bool
    is_scrambled: bool
    dialect: str | None = None
    case: str | None = None
    grace_ms: int | None = None


@dataclass(frozen=True, slots=True)
class StartedEntry:
    """The first entry of a journal: what was agreed on.

    Attributes:
        rules: the text of the rules; None in the lines of a database, which keeps it once for all matches.
        preview_clock_s: None where no PREVIEW is sent.
        scrambling: the names that players with a scrambling profile see for the game's own; empty where none has one.
        versions: of what played the match.
    """

    kind: ClassVar[str] = "started"
    at_ms: int
    match_id: str
    random_token: str
    game: str
    game_url: str
    tournament: str | None
    rules: str | None
    rules_sha256: str
    is_gdl2: bool
    roles: tuple[str, ...]
    seats: tuple[JournalSeat, ...]
    start_clock_s: int
    play_clock_s: int
    preview_clock_s: int | None
    seed: int
    scramble_seed: int
    scrambling: Mapping[str, str]
    substitute: str
    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class StateEntry:
    """The state of a step, as `exchange.StateReached`; terms are texts as the public records print them."""

    kind: ClassVar[str] = "state"
    at_ms: int
    step: int
    state: str
    percepts: tuple[tuple[str, ...], ...] | None
    is_common: bool = False


@dataclass(frozen=True, slots=True)
class SentEntry:
    """A message went to a player, as `server.match.exchange.Sent`."""

    kind: ClassVar[str] = "sent"
    at_ms: int
    step: int
    role: str
    message: exchange.Message
    text: str


@dataclass(frozen=True, slots=True)
class AnsweredEntry:
    """A player answered, or did not, as `server.match.exchange.Answered`."""

    kind: ClassVar[str] = "answered"
    at_ms: int
    step: int
    role: str
    message: exchange.Message
    text: str
    elapsed_ms: int
    error: str
    detail: str
    move: str | None
    failure: str = ""
    insight: Insight | None = None


@dataclass(frozen=True, slots=True)
class StepEntry:
    """Every answer to START (`moves` is None) or to PLAY is in, as `server.match.exchange.StepFinished`."""

    kind: ClassVar[str] = "step"
    at_ms: int
    step: int
    moves: tuple[str, ...] | None
    errors: tuple[str, ...]
    details: tuple[str, ...]
    elapsed_ms: tuple[int | None, ...]
    origins: tuple[exchange.MoveOrigin, ...]
    failures: tuple[str, ...] = ()
    insights: tuple[Insight | None, ...] = ()


@dataclass(frozen=True, slots=True)
class CompletedEntry:
    """A terminal state was reached, as `server.match.exchange.Completed`."""

    kind: ClassVar[str] = "completed"
    at_ms: int
    step: int
    goals: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class AbortedEntry:
    """The match was aborted, as `server.match.exchange.Aborted`."""

    kind: ClassVar[str] = "aborted"
    at_ms: int
    step: int
    reason: str


@dataclass(frozen=True, slots=True)
class FailedEntry:
    """The match could not go on; `reason` is the class name of the error, a colon, and its sentence."""

    kind: ClassVar[str] = "failed"
    at_ms: int
    step: int
    reason: str


@dataclass(frozen=True, slots=True)
class ClosedEntry:
    """The last entry of a journal: nothing more happens."""

    kind: ClassVar[str] = "closed"
    at_ms: int


EndEntry: TypeAlias = CompletedEntry | AbortedEntry | FailedEntry
"""What ends a match, whose status is called after its kind: from then on everything is public."""
Entry: TypeAlias = StartedEntry | StateEntry | SentEntry | AnsweredEntry | StepEntry | EndEntry | ClosedEntry
"""An entry of a journal: what happened, in texts and numbers alone, which `server.records.codec` writes and reads."""
OnEntry: TypeAlias = Callable[[str, int, Entry], None]
"""Takes an entry of a match's journal: the match's id, the entry's number, the entry."""


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What the record says of a match and the match itself does not know.

    Attributes:
        game: the name of the game in the library, or of its file.
        random_token: makes the record's address hard to guess, as public hosts want it.
        game_url: where the public metadata of the game are, if anywhere.
        tournament: the tournament that the match belongs to, if any.
    """

    game: str
    random_token: str
    game_url: str = ""
    tournament: str | None = None


@cache
def versions() -> Mapping[str, str]:
    """Return the versions of what made a record."""
    try:
        own = version("ggp")
    except PackageNotFoundError:
        own = "unknown"
    return MappingProxyType({"ggp": own, "python": platform.python_version()})


def entry_of(event: exchange.Event, circumstances: Circumstances) -> Entry:
    """Return *event* as the entry of a journal."""
    match event:
        case exchange.Sent():
            return SentEntry(event.at_ms, event.step, str(event.role), event.message, event.text)
        case exchange.Answered():
            return _answered(event)
        case exchange.StepFinished():
            return _step(event)
        case exchange.StateReached():
            percepts = None if event.percepts is None else tuple(map(_texts, event.percepts))
            return StateEntry(event.at_ms, event.step, event.text, percepts, event.is_common)
        case exchange.Started():
            return _started(event, circumstances)
        case exchange.Completed():
            return CompletedEntry(event.at_ms, event.step, event.goals)
        case exchange.Aborted():
            return AbortedEntry(event.at_ms, event.step, event.reason)
        case exchange.Failed():
            return FailedEntry(event.at_ms, event.step, f"{event.error}: {event.message}")
        case exchange.Closed():
            return ClosedEntry(event.at_ms)


def _answered(event: exchange.Answered) -> AnsweredEntry:
    move = None if event.move is None else spaced(event.move)
    return AnsweredEntry(
        at_ms=event.at_ms,
        step=event.step,
        role=str(event.role),
        message=event.message,
        text=event.text,
        elapsed_ms=event.elapsed_ms,
        error=event.error,
        detail=event.detail,
        move=move,
        failure=event.failure,
        insight=event.insight,
    )


def _step(event: exchange.StepFinished) -> StepEntry:
    moves = None if event.moves is None else _texts(event.moves)
    return StepEntry(
        at_ms=event.at_ms,
        step=event.step,
        moves=moves,
        errors=event.errors,
        details=event.details,
        elapsed_ms=event.elapsed_ms,
        origins=event.origins,
        failures=event.failures,
        insights=event.insights,
    )


def _texts(terms: Sequence[Term]) -> tuple[str, ...]:
    return tuple(map(spaced, terms))


def _started(event: exchange.Started, circumstances: Circumstances) -> StartedEntry:
    """Return the entry that begins a journal."""
    setup, rules = event.setup, event.description
    return StartedEntry(
        at_ms=event.at_ms,
        match_id=setup.match_id,
        random_token=circumstances.random_token,
        game=circumstances.game,
        game_url=circumstances.game_url,
        tournament=circumstances.tournament,
        rules=rules.source.text,
        rules_sha256=rules.sha256,
        is_gdl2=rules.is_gdl2,
        roles=tuple(map(str, event.roles)),
        seats=tuple(_seat(event, str(role)) for role in event.roles),
        start_clock_s=setup.start_clock_s,
        play_clock_s=setup.play_clock_s,
        preview_clock_s=setup.preview_clock_s,
        seed=setup.seed,
        scramble_seed=setup.scramble_seed,
        scrambling=_scrambling(event),
        substitute=setup.substitute.value,
        versions=versions(),
    )


def _scrambling(event: exchange.Started) -> Mapping[str, str]:
    """Return the names that players with a scrambling profile see for the game's own; empty where no player has one."""
    if not any(seat.profile.is_scrambled for seat in event.setup.seats):
        return {}
    return dict(Scrambling(event.description, event.setup.scramble_seed).names)


def _seat(event: exchange.Started, role: str) -> JournalSeat:
    """Return what the journal says of the seat of *role*; chance has one, too."""
    for seat in event.setup.seats:
        if str(seat.role) == role:
            profile = seat.profile
            return JournalSeat(
                seat.player_name, seat.is_human, profile.is_scrambled, profile.dialect.value, profile.case.value,
                round(profile.grace_s * 1000),
            )  # fmt: skip
    return JournalSeat("random", is_human=False, is_scrambled=False)
