"""What of a match's journal anybody may see: each entry as a public event of the same number.

While a match is played, an event tells that somebody was asked or answered, never the text; the moves of a step once
all are in. Of a hidden match (GDL-II, or with scrambled names) it tells no state and no move before the end, and where
names are scrambled not even those of the roles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from server.match.setup import MAX_FAREWELL_S
from server.records.entries import Entry
from server.records.record import error_words


@dataclass(frozen=True, slots=True)
class PublicEvent:
    """What happened, as anybody may know it: `number` is its place in the journal, `data` the JSON that is told."""

    number: int
    kind: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Curtain:
    """What keeps spectators from seeing all of a match: its first entry, and whether it is over."""

    started: Entry
    has_ended: bool

    @property
    def is_scrambled(self) -> bool:
        """Whether nobody is to know the game's own names yet."""
        return not self.has_ended and any(seat["isScrambled"] for seat in self.started["seats"])

    @property
    def is_hidden(self) -> bool:
        """Whether nobody is to know states and moves yet."""
        return self.is_scrambled or (not self.has_ended and bool(self.started["isGdl2"]))

    def public(self, number: int, entry: Entry) -> PublicEvent | None:
        """Return what anybody may know of *entry*; None if that is nothing."""
        tell = _TOLD.get(entry["event"])
        if tell is None:
            return None
        kind = str(entry["event"])
        return PublicEvent(number, _KINDS.get(kind, kind), {"at": entry["at"]} | tell(self, entry))

    def _started(self, entry: Entry) -> Entry:
        found = {name: entry[name] for name in ("matchId", "startClock", "playClock")}
        found["players"] = [seat["player"] for seat in entry["seats"]]
        if not self.is_scrambled:
            found |= {"game": entry["game"], "rulesSha256": entry["rulesSha256"], "roles": entry["roles"]}
        return found | {"isHidden": self.is_hidden}

    def _state(self, entry: Entry) -> Entry:
        found = {"step": entry["step"]}
        if self.is_hidden:
            return found
        found["state"] = entry["state"]
        return found if entry["percepts"] is None else found | {"percepts": entry["percepts"]}

    def _asked(self, entry: Entry) -> Entry:
        return self._addressed(entry) | {"deadlineMs": entry["at"] + self._limit_ms(entry)}

    def _answered(self, entry: Entry) -> Entry:
        return self._addressed(entry) | {"elapsedMs": entry["elapsedMs"]}

    def _addressed(self, entry: Entry) -> Entry:
        found = {"step": entry["step"], "seat": self._seat(entry), "message": entry["message"]}
        return found if self.is_scrambled else found | {"role": entry["role"]}

    def _seat(self, entry: Entry) -> int:
        return int(self.started["roles"].index(entry["role"]))

    def _limit_ms(self, entry: Entry) -> int:
        clocks_s = {message: self.started[name] for message, name in _CLOCKS.items()}
        clock_s = clocks_s.get(entry["message"], min(self.started["playClock"], MAX_FAREWELL_S))
        return 1000 * int(clock_s) + int(self.started["seats"][self._seat(entry)]["graceMs"])

    def _step(self, entry: Entry) -> Entry:
        found = {"step": entry["step"], "isStart": entry["moves"] is None, "elapsedMs": entry["elapsedMs"]}
        if self.is_hidden:
            return found | {"errors": error_words(entry["errors"])}
        return found | {"moves": entry["moves"], "errors": entry["errors"], "origins": entry["origins"]}

    def _completed(self, entry: Entry) -> Entry:
        return {"step": entry["step"], "goals": entry["goals"]}

    def _broken_off(self, entry: Entry) -> Entry:
        return {"step": entry["step"], "reason": entry["reason"]}


_TOLD: Final[dict[str, Callable[[Curtain, Entry], Entry]]] = {
    "started": Curtain._started,
    "state": Curtain._state,
    "sent": Curtain._asked,
    "answered": Curtain._answered,
    "step": Curtain._step,
    "completed": Curtain._completed,
    "aborted": Curtain._broken_off,
    "failed": Curtain._broken_off,
    "closed": lambda _curtain, _entry: {},
}
_CLOCKS: Final = {"START": "startClock", "PLAY": "playClock", "PREVIEW": "previewClock"}
_KINDS: Final[dict[str, str]] = {"sent": "asked"}
