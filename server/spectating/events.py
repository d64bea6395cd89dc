"""The public events of a match's journal, and delayed broadcasts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from gdl.wire.messages import Dialect
from server.match.events import MoveOrigin
from server.match.link import now_ms
from server.match.setup import MAX_FAREWELL_S
from server.records.entries import ENDS, Entry
from server.records.record import error_words
from server.storage.rows import MatchRow
from server.visibility import Secrecy

MAX_DELAY: Final = 86_400
"""By how many steps or seconds a broadcast may be late."""
_TEXT: Final = re.compile(r"(?:(?P<steps>[0-9]{1,5}) ?steps?)|(?:(?P<seconds>[0-9]{1,5}) ?s)|(?P<end>end)|(?:live)?")


@dataclass(frozen=True, slots=True)
class Delay:
    """How late a match is shown to those who watch: by steps, by seconds, or not before its end."""

    steps: int = 0
    seconds: int = 0
    is_to_end: bool = False

    def __str__(self) -> str:
        if self.is_to_end:
            return "end"
        if self.steps:
            return f"{self.steps} step{'s' if self.steps > 1 else ''}"
        return f"{self.seconds} s" if self.seconds else "live"

    @property
    def is_live(self) -> bool:
        """Whether there is no delay."""
        return self == LIVE

    def broadcast(self, entries: Sequence[Entry], at_ms: int) -> Sequence[Entry]:
        """Return how many of the next *entries* of a journal are shown at *at_ms*: the first ones, or all.

        That a match began is always shown, and all of it once it is over.
        """
        if self.is_live or any(entry["event"] in ENDS or entry["event"] == "closed" for entry in entries):
            return entries
        return entries[: self._n_shown(entries, at_ms)]

    def _n_shown(self, entries: Sequence[Entry], at_ms: int) -> int:
        """Return how many of *entries* the delay lets through at *at_ms*."""
        n_first = int(bool(entries) and entries[0]["event"] == "started")
        if self.is_to_end:
            return n_first
        if self.steps:
            states = [index for index, entry in enumerate(entries) if entry["event"] == "state"]
            return states[-1 - self.steps] + 1 if len(states) > self.steps else n_first
        late_ms = at_ms - 1000 * self.seconds
        return next(
            (index for index, entry in enumerate(entries) if entry["at"] > late_ms and index >= n_first), len(entries)
        )


LIVE: Final = Delay()


def read_delay(text: str) -> Delay:
    """Return the delay that *text* says: `3 steps`, `60 s`, `end`, or `live`.

    Raises:
        ValueError: it says none.
    """
    found = _TEXT.fullmatch(text.strip())
    if found is None:
        raise ValueError("a delay is written `3 steps`, `60 s`, `end`, or `live`")
    delay = Delay(int(found["steps"] or 0), int(found["seconds"] or 0), found["end"] is not None)
    if max(delay.steps, delay.seconds) > MAX_DELAY:
        raise ValueError(f"a broadcast is at most {MAX_DELAY:,} steps or seconds late")
    return delay


def delay_of(match: MatchRow) -> Delay:
    """Return how late *match* is shown."""
    return read_delay(match.order["text"].get("broadcastDelay", ""))


def broadcast_of(match: MatchRow, entries: Sequence[Entry], at_ms: int | None = None) -> Sequence[Entry]:
    """Return how much of the journal of *match* spectators see at *at_ms*, by default now."""
    if match.has_ended:
        return entries
    return delay_of(match).broadcast(entries, now_ms() if at_ms is None else at_ms)


@dataclass(frozen=True, slots=True)
class PublicEvent:
    """An event as every viewer may know it: `number` is its place in the journal, `data` its JSON."""

    number: int
    kind: str
    data: dict[str, Any]


class PublicJournal:
    """What spectators may see of the journal that begins with *started*; its entries are taken in order, each once."""

    def __init__(self, started: Entry, secrecy: Secrecy) -> None:
        self._started_entry, self._secrecy = started, secrecy
        self._is_common, self._last_step = True, Entry()

    def end(self) -> None:
        """Withhold nothing of what comes now: the match is over."""
        self._secrecy = replace(self._secrecy, has_ended=True)

    def public(self, number: int, entry: Entry) -> PublicEvent | None:
        """Take in *entry*, and return what every viewer may know of it; None if that is nothing."""
        kind = str(entry["event"])
        if kind in ENDS:
            self.end()
        data_of = _PUBLIC_DATA.get(kind)
        if data_of is None:
            return None
        return PublicEvent(number, _KINDS.get(kind, kind), {"at": entry["at"]} | data_of(self, entry))

    def _started(self, entry: Entry) -> Entry:
        found = {name: entry[name] for name in ("matchId", "startClock", "playClock")}
        found["players"] = [seat["player"] for seat in entry["seats"]]
        if not self._secrecy.hides_game:
            found |= {"game": entry["game"], "rulesSha256": entry["rulesSha256"], "roles": entry["roles"]}
        return found | {"isHidden": self._secrecy.is_hidden}

    def _state(self, entry: Entry) -> Entry:
        """Return the state where every role knows it, also of a hidden match, else its step alone."""
        self._is_common = self._is_common and leaves_common(self._started_entry, self._last_step, entry)
        found = {"step": entry["step"]}
        known = self._secrecy.where_known() if self._is_common else self._secrecy
        if known.is_hidden:
            return found
        found["state"] = entry["state"]
        if self._secrecy.is_hidden and self._last_step:  # the event of the step before has no moves
            found |= {name: self._last_step[name] for name in ("moves", "origins")}
        return found if entry["percepts"] is None else found | {"percepts": entry["percepts"]}

    def _asked(self, entry: Entry) -> Entry:
        deadline_ms = entry["at"] + self._limit_ms(entry)
        return self._addressed(entry) | {"deadlineMs": deadline_ms, "graceMs": self._grace_ms(entry)}

    def _answered(self, entry: Entry) -> Entry:
        return self._addressed(entry) | {"elapsedMs": entry["elapsedMs"]}

    def _addressed(self, entry: Entry) -> Entry:
        found = {"step": entry["step"], "seat": self._seat(entry), "message": entry["message"]}
        return found if self._secrecy.hides_game else found | {"role": entry["role"]}

    def _seat(self, entry: Entry) -> int:
        return int(self._started_entry["roles"].index(entry["role"]))

    def _limit_ms(self, entry: Entry) -> int:
        started = self._started_entry
        clocks_s = {message: started[name] for message, name in _CLOCKS.items()}
        clock_s = clocks_s.get(entry["message"], min(started["playClock"], MAX_FAREWELL_S))
        return 1000 * int(clock_s) + self._grace_ms(entry)

    def _grace_ms(self, entry: Entry) -> int:
        return int(self._started_entry["seats"][self._seat(entry)]["graceMs"])

    def _step(self, entry: Entry) -> Entry:
        self._last_step = entry if entry["moves"] is not None else Entry()
        found = {"step": entry["step"], "isStart": entry["moves"] is None, "elapsedMs": entry["elapsedMs"]}
        if self._secrecy.is_hidden:
            return found | {"errors": error_words(entry["errors"])}
        return found | {"moves": entry["moves"], "errors": entry["errors"], "origins": entry["origins"]}

    def _completed(self, entry: Entry) -> Entry:
        return {"step": entry["step"], "goals": entry["goals"]}

    def _broken_off(self, entry: Entry) -> Entry:
        return {"step": entry["step"], "reason": entry["reason"]}


def leaves_common(started: Entry, step: Entry, state: Entry) -> bool:
    """Return whether every role knows the *state* that the joint move of *step* led to, if all knew the one before.

    A player whose move was replaced, and who gets percepts alone, does not know what it did.
    """
    replaced = zip(started["seats"], step.get("origins", ()), strict=False)
    is_unknown = any(
        origin == MoveOrigin.SUBSTITUTE.value and seat.get("dialect") == Dialect.GDL2_PERCEPTS.value
        for seat, origin in replaced
    )
    return bool(state.get("isCommon", False)) and not is_unknown


def n_common(entries: Iterable[Entry]) -> int:
    """Return how many of the first states of a whole journal every role knows, as far as the journal says so."""
    started, step, found = Entry(), Entry(), 0
    for entry in entries:
        match entry["event"]:
            case "started":
                started = entry
            case "step":
                step = entry
            case "state":
                if not leaves_common(started, step, entry):
                    break
                found += 1
    return found


def public_events(entries: Iterable[Entry], secrecy: Secrecy) -> Iterable[PublicEvent]:
    """Yield what spectators may know of a journal's *entries*, from the first one on."""
    journal: PublicJournal | None = None
    for number, entry in enumerate(entries):
        journal = journal or PublicJournal(entry, secrecy)
        event = journal.public(number, entry)
        if event is not None:
            yield event


_PUBLIC_DATA: Final[dict[str, Callable[[PublicJournal, Entry], Entry]]] = {
    "started": PublicJournal._started,
    "state": PublicJournal._state,
    "sent": PublicJournal._asked,
    "answered": PublicJournal._answered,
    "step": PublicJournal._step,
    "completed": PublicJournal._completed,
    "aborted": PublicJournal._broken_off,
    "failed": PublicJournal._broken_off,
    "closed": lambda _journal, _entry: {},
}
_CLOCKS: Final = {"START": "startClock", "PLAY": "playClock", "PREVIEW": "previewClock"}
_KINDS: Final[dict[str, str]] = {"sent": "asked"}
