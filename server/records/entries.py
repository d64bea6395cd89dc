"""Events of a match as JSON objects: the lines of a journal, from which the match record is built.

Every entry has `event`, its kind, and `at`, when it happened. *Units*: milliseconds.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from gdl.scrambling import Scrambling
from gdl.terms import Term
from server.match.events import (
    Aborted,
    Answered,
    Closed,
    Completed,
    Event,
    Failed,
    Sent,
    Started,
    StateReached,
    StepFinished,
)

Entry: TypeAlias = dict[str, Any]

FORMAT: Final = 1
"""The number of this format of entries and of the record's own keys; readers refuse numbers that they do not know."""


OnEntry: TypeAlias = Callable[[str, int, Entry], None]
"""Takes an entry of a match's journal: the match's id, the entry's number, the entry."""
ENDS: Final = frozenset({"completed", "aborted", "failed"})
"""The kinds of the entries that end a match, which its status is called after: from then on everything is public."""


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


def spaced(term: Term) -> str:
    """Return *term* as the public records print it: `( cell 1 1 b )`."""
    return str(term).replace("(", "( ").replace(")", " )")


def state_text(facts: Iterable[Term]) -> str:
    """Return a state as the public records print it, ordered by text: `( ( cell 1 1 b ) ( control white ) )`."""
    return " ".join(("(", *sorted(spaced(fact) for fact in facts), ")"))


@cache
def versions() -> Mapping[str, str]:
    """Return the versions of what made a record."""
    try:
        own = version("ggp")
    except PackageNotFoundError:
        own = "unknown"
    return MappingProxyType({"ggp": own, "python": platform.python_version()})


def _started(event: Started, circumstances: Circumstances) -> Entry:
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
    """Return the names that players with a scrambling profile see for the game's own; empty where nobody does."""
    if not any(seat.profile.is_scrambled for seat in event.setup.seats):
        return {}
    return dict(Scrambling(event.description, event.setup.scramble_seed).names)


def _seat(event: Started, role: str) -> Entry:
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
    return {"step": event.step, "state": state_text(event.facts), "percepts": percepts}


def _terms(terms: Sequence[Term]) -> list[str]:
    return [spaced(term) for term in terms]


def _sent(event: Sent) -> Entry:
    return {"step": event.step, "role": str(event.role), "message": event.message.value, "text": event.text}


def _answered(event: Answered) -> Entry:
    return {
        "step": event.step,
        "role": str(event.role),
        "message": event.message.value,
        "text": event.text,
        "elapsedMs": event.elapsed_ms,
        "error": event.error,
        "detail": event.detail,
        "move": None if event.move is None else spaced(event.move),
    }


def _step(event: StepFinished) -> Entry:
    return {
        "step": event.step,
        "moves": None if event.moves is None else _terms(event.moves),
        "errors": list(event.errors),
        "details": list(event.details),
        "elapsedMs": list(event.elapsed_ms),
        "origins": [origin.value for origin in event.origins],
    }


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
