"""Events of a match as JSON objects, the lines of a journal; and the state from which a broken-off match resumes."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType
from typing import Any, ClassVar, Final, TypeAlias

from gdl.game import JointMove
from gdl.language.kif import read_term
from gdl.language.terms import Constant, Term
from gdl.wire.scrambling import Scrambling
from server.errors import MatchRecordError
from server.match.events import (
    Aborted,
    Answered,
    Closed,
    Completed,
    Event,
    Failed,
    Message,
    MoveOrigin,
    Sent,
    Started,
    StateReached,
    StepFinished,
)
from server.match.exchange import ResumeState
from server.match.position import spaced

Entry: TypeAlias = dict[str, Any]

FORMAT: Final = 1
"""The number of this format of entries and of the record's own keys; readers refuse numbers that they do not know."""


OnEntry: TypeAlias = Callable[[str, int, Entry], None]
"""Takes an entry of a match's journal: the match's id, the entry's number, the entry."""
ENDS: Final = frozenset({"completed", "aborted", "failed"})
"""The kinds of the entries that end a match, which its status is called after: from then on everything is public."""


@dataclass(frozen=True, slots=True)
class JournalSeat:
    """What a journal says of the seat of a role; chance has one, of which only the first three are known.

    Attributes:
        dialect, case: as `server.match.setup.Profile` has them, in the words of the record.
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
    """The state of a step, as `server.match.events.StateReached`; terms are texts as the public records print them."""

    kind: ClassVar[str] = "state"
    at_ms: int
    step: int
    state: str
    percepts: tuple[tuple[str, ...], ...] | None
    is_common: bool = False


@dataclass(frozen=True, slots=True)
class SentEntry:
    """A message went to a player, as `server.match.events.Sent`."""

    kind: ClassVar[str] = "sent"
    at_ms: int
    step: int
    role: str
    message: Message
    text: str


@dataclass(frozen=True, slots=True)
class AnsweredEntry:
    """A player answered, or did not, as `server.match.events.Answered`."""

    kind: ClassVar[str] = "answered"
    at_ms: int
    step: int
    role: str
    message: Message
    text: str
    elapsed_ms: int
    error: str
    detail: str
    move: str | None
    failure: str = ""


@dataclass(frozen=True, slots=True)
class StepEntry:
    """Every answer to START (`moves` is None) or to PLAY is in, as `server.match.events.StepFinished`."""

    kind: ClassVar[str] = "step"
    at_ms: int
    step: int
    moves: tuple[str, ...] | None
    errors: tuple[str, ...]
    details: tuple[str, ...]
    elapsed_ms: tuple[int | None, ...]
    origins: tuple[MoveOrigin, ...]
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CompletedEntry:
    """A terminal state was reached, as `server.match.events.Completed`."""

    kind: ClassVar[str] = "completed"
    at_ms: int
    step: int
    goals: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class AbortedEntry:
    """The match was aborted, as `server.match.events.Aborted`."""

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
TypedEntry: TypeAlias = StartedEntry | StateEntry | SentEntry | AnsweredEntry | StepEntry | EndEntry | ClosedEntry
"""An entry of a journal: what happened, in texts and numbers alone, which `server.records.codec` writes and reads."""


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


def entry_of(event: Event, circumstances: Circumstances) -> Entry:
    """Return *event* as a JSON object."""
    if isinstance(event, Started):
        return _started(event, circumstances)
    return {"event": _KINDS[type(event)], "at": event.at_ms} | _CONTENTS[type(event)](event)


@cache
def versions() -> Mapping[str, str]:
    """Return the versions of what made a record."""
    try:
        own = version("ggp")
    except PackageNotFoundError:
        own = "unknown"
    return MappingProxyType({"ggp": own, "python": platform.python_version()})


def _started(event: Started, circumstances: Circumstances) -> Entry:
    """Return the content of the entry that begins a journal."""
    setup, rules = event.setup, event.description
    return {
        "event": "started",
        "at": event.at_ms,
        "format": FORMAT,
        "matchId": setup.match_id,
        "randomToken": circumstances.random_token,
        "game": circumstances.game,
        "gameMetaURL": circumstances.game_url,
        "tournament": circumstances.tournament,
        "rules": rules.source.text,
        "rulesSha256": rules.sha256,
        "isGdl2": rules.is_gdl2,
        "roles": [str(role) for role in event.roles],
        "seats": [_seat(event, str(role)) for role in event.roles],
        "startClock": setup.start_clock_s,
        "playClock": setup.play_clock_s,
        "previewClock": -1 if setup.preview_clock_s is None else setup.preview_clock_s,
        "seed": setup.seed,
        "scrambleSeed": setup.scramble_seed,
        "scrambling": _scrambling(event),
        "substitute": setup.substitute.value,
        "versions": dict(versions()),
    }


def _scrambling(event: Started) -> dict[str, str]:
    """Return the names that players with a scrambling profile see for the game's own; empty where no player has one."""
    if not any(seat.profile.is_scrambled for seat in event.setup.seats):
        return {}
    return dict(Scrambling(event.description, event.setup.scramble_seed).names)


def _seat(event: Started, role: str) -> Entry:
    """Return what the journal says of the seat of *role*; chance has one, too."""
    for seat in event.setup.seats:
        if str(seat.role) == role:
            profile = seat.profile
            return {
                "player": seat.player_name,
                "isHuman": seat.is_human,
                "dialect": profile.dialect.value,
                "case": profile.case.value,
                "graceMs": round(profile.grace_s * 1000),
                "isScrambled": profile.is_scrambled,
            }
    return {"player": "random", "isHuman": False, "isScrambled": False}


def _state(event: StateReached) -> Entry:
    percepts = None if event.percepts is None else [_terms(seen) for seen in event.percepts]
    entry = {"step": event.step, "state": event.text, "percepts": percepts}
    return entry | {"isCommon": True} if event.is_common else entry


def _terms(terms: Sequence[Term]) -> list[str]:
    return [spaced(term) for term in terms]


def _sent(event: Sent) -> Entry:
    return {"step": event.step, "role": str(event.role), "message": event.message.value, "text": event.text}


def _answered(event: Answered) -> Entry:
    """Return the content of the entry of an answer."""
    return {
        "step": event.step,
        "role": str(event.role),
        "message": event.message.value,
        "text": event.text,
        "elapsedMs": event.elapsed_ms,
        "error": event.error,
        "detail": event.detail,
        "move": None if event.move is None else spaced(event.move),
    } | ({"failure": event.failure} if event.failure else {})


def _step(event: StepFinished) -> Entry:
    return {
        "step": event.step,
        "moves": None if event.moves is None else _terms(event.moves),
        "errors": list(event.errors),
        "details": list(event.details),
        "elapsedMs": list(event.elapsed_ms),
        "origins": [origin.value for origin in event.origins],
    } | ({"failures": list(event.failures)} if event.failures else {})


def _completed(event: Completed) -> Entry:
    return {"step": event.step, "goals": list(event.goals)}


def _aborted(event: Aborted) -> Entry:
    return {"step": event.step, "reason": event.reason}


def _failed(event: Failed) -> Entry:
    return {"step": event.step, "reason": f"{event.error}: {event.message}"}


_CONTENTS: Final[dict[type[Event], Callable[[Any], Entry]]] = {
    StateReached: _state,
    Sent: _sent,
    Answered: _answered,
    StepFinished: _step,
    Completed: _completed,
    Aborted: _aborted,
    Failed: _failed,
    Closed: lambda _: {},
}
_KINDS: Final[dict[type[Event], str]] = {
    StateReached: "state",
    Sent: "sent",
    Answered: "answered",
    StepFinished: "step",
    Completed: "completed",
    Aborted: "aborted",
    Failed: "failed",
    Closed: "closed",
}
KINDS: Final = frozenset({"started", *_KINDS.values()})
"""What `event` of an entry may be."""


_FAREWELLS: Final = {"completed": Message.STOP, "aborted": Message.ABORT, "failed": Message.ABORT}


def resume_state_of(entries: Iterable[Entry]) -> ResumeState:
    """Return what *entries* tell of a match that broke off.

    Raises:
        MatchRecordError: an entry lacks something.
    """
    reader = _EntryReader()
    for entry in entries:
        try:
            reader.take(entry)
        except (KeyError, TypeError, ValueError) as error:
            raise MatchRecordError(f"an entry that cannot be understood: {error!r}") from error
    return reader.resume_state()


class _EntryReader:
    """Takes the entries in, one after the other."""

    def __init__(self) -> None:
        self._moves: list[JointMove] = []
        self._n_states = 0
        self._message: Message | None = None
        self._answers: dict[str, Answered] = {}
        self._outcome: Completed | Aborted | Failed | None = None
        self._was_anything_sent = False

    def take(self, entry: Entry) -> None:
        """Take the next entry in."""
        kind = entry["event"]
        if kind == "state":
            self._n_states += 1
        elif kind == "sent":
            self._was_anything_sent = True
            self._turn_to(Message(entry["message"]))
        elif kind == "answered":
            self._answers[entry["role"]] = _is_answered(entry)
        elif kind == "step":
            self._take_step(entry)
        elif kind in _FAREWELLS:
            self._outcome = _outcome(entry)
            self._turn_to(_FAREWELLS[kind])

    def _turn_to(self, message: Message | None) -> None:
        """Begin to wait for the answers to *message*; where it is only sent again, the answers before are kept."""
        if message is not self._message:
            self._message, self._answers = message, {}

    def _take_step(self, entry: Entry) -> None:
        if entry["moves"] is not None:
            self._moves.append(tuple(map(read_term, entry["moves"])))
        self._turn_to(None)

    def resume_state(self) -> ResumeState:
        return ResumeState(
            tuple(self._moves), self._n_states, self._message, self._answers, self._outcome, self._was_anything_sent
        )


def _is_answered(entry: Entry) -> Answered:
    move = entry["move"]
    return Answered(
        entry["at"], entry["step"], Constant(entry["role"]), Message(entry["message"]), entry["text"],
        entry["elapsedMs"], entry["error"], entry["detail"], None if move is None else read_term(move),
        entry.get("failure", ""),
    )  # fmt: skip


def _outcome(entry: Entry) -> Completed | Aborted | Failed:
    if entry["event"] == "completed":
        return Completed(entry["at"], entry["step"], tuple(entry["goals"]))
    if entry["event"] == "aborted":
        return Aborted(entry["at"], entry["step"], entry["reason"])
    error, _, message = entry["reason"].partition(": ")
    return Failed(entry["at"], entry["step"], error, message)
