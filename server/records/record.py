"""The match record in the public JSON format: built entry by entry, and its public view.

Our own keys start with `x-`; docs/record.md explains each. A record may be taken at any moment, also of a match that
broke off: then the answers to the unfinished step are under `x-pending`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from gdl.errors import GdlError
from server.errors import MatchRecordError
from server.records.entries import FORMAT, Entry
from server.visibility import Secrecy, secrecy_of_journal

_PUBLIC_ALWAYS: Final = (
    "matchId", "randomToken", "startTime", "isCompleted", "isAborted", "stateTimes", "previewClock", "startClock",
    "playClock", "playerNamesFromHost", "isPlayerHuman", "tournamentNameFromHost", "scrambled", "x-format",
)  # fmt: skip
_PUBLIC_RULES: Final = ("gameMetaURL", "x-game", "x-roles", "x-rules", "x-rules-sha256", "x-gdl2")
_PUBLIC_PLAY: Final = ("states", "moves", "errors", "x-thinking-ms", "x-origins")
_PUBLIC_HIDDEN: Final = ("x-thinking-ms",)


@contextmanager
def understood(match_id: str) -> Iterator[None]:
    """Raise `MatchRecordError` where the entries of a match turn out in the block to be no journal."""
    try:
        yield
    except GdlError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, AssertionError, ArithmeticError) as error:
        where = f"the journal of match {match_id}" if match_id else ""
        raise MatchRecordError(f"an entry that cannot be understood: {error!r}", where) from error


class MatchRecord:
    """The record of one match as far as its entries tell it."""

    def __init__(self) -> None:
        self._start: Entry = {}
        self._states: list[Entry] = []
        self._steps: dict[int, Entry] = {}
        self._answers: list[Entry] = []
        self._wire: list[Entry] = []
        self._end: Entry = {}
        self._is_closed = False

    def add(self, entry: Entry) -> None:
        """Take in the next entry.

        Raises:
            MatchRecordError: it is of no known kind or lacks something.
        """
        with understood(self.match_id):
            _TAKERS[str(entry["event"])](self, entry)

    def _take_start(self, entry: Entry) -> None:
        if entry["format"] != FORMAT:
            raise MatchRecordError(f"format {entry['format']!r} is not known; this version reads format {FORMAT}")
        self._start = entry

    def _take_state(self, entry: Entry) -> None:
        self._states.append(entry)

    def _take_step(self, entry: Entry) -> None:
        self._steps[0 if entry["moves"] is None else entry["step"] + 1] = entry
        self._answers.clear()

    def _take_sent(self, entry: Entry) -> None:
        self._wire.append(entry)

    def _take_answer(self, entry: Entry) -> None:
        self._wire.append(entry)
        if entry["move"] is not None:
            self._answers.append(entry)

    def _take_end(self, entry: Entry) -> None:
        self._end = entry

    def _take_close(self, _: Entry) -> None:
        self._is_closed = True

    @property
    def has_begun(self) -> bool:
        """Whether the first entry came."""
        return bool(self._start)

    @property
    def match_id(self) -> str:
        """The match's id; empty before the first entry."""
        return str(self._start.get("matchId", ""))

    @property
    def has_ended(self) -> bool:
        """Whether the play is over: the match was completed, aborted, or failed."""
        return bool(self._end)

    @property
    def is_closed(self) -> bool:
        """Whether the last entry came."""
        return self._is_closed

    @property
    def status(self) -> str:
        """The state of the match in one word: running, completed, aborted, failed."""
        return str(self._end.get("event", "running"))

    @property
    def goals(self) -> list[int | None] | None:
        """The goals in role order, once the match is completed."""
        found: list[int | None] | None = self._end.get("goals")
        return found

    @property
    def n_steps(self) -> int:
        """How many joint moves led to a state."""
        return max(0, len(self._states) - 1)

    def as_json(self) -> dict[str, Any]:
        """Return the whole record, also what must stay hidden while the match is played.

        Raises:
            MatchRecordError: before the first entry, or the entries contradict each other.
        """
        if not self._start:
            raise MatchRecordError("there is no entry that starts a match")
        with understood(self.match_id):
            return self._described() | self._played() | self._own_keys() | self._ended()

    def _described(self) -> dict[str, Any]:
        """Return the public keys that describe the match."""
        start, seats = self._start, self._start["seats"]
        found: dict[str, Any] = {name: start[name] for name in ("matchId", "randomToken", "gameMetaURL")}
        found |= {name: start[name] for name in ("previewClock", "startClock", "playClock")}
        if start["tournament"] is not None:
            found["tournamentNameFromHost"] = start["tournament"]
        return found | {
            "startTime": start["at"],
            "playerNamesFromHost": [seat["player"] for seat in seats],
            "isPlayerHuman": [seat["isHuman"] for seat in seats],
            "scrambled": any(seat["isScrambled"] for seat in seats),
        }

    def _played(self) -> dict[str, Any]:
        """Return the keys with a value for each state or step."""
        n_steps = self.n_steps
        steps = [self._steps.get(index, {}) for index in range(n_steps + 1)]
        roles = self._start["roles"]
        found: dict[str, Any] = {
            "states": [entry["state"] for entry in self._states],
            "stateTimes": [entry["at"] for entry in self._states],
            "moves": [step["moves"] for step in steps[1:]],
            "errors": [step.get("errors", [""] * len(roles)) for step in steps],
            "x-error-details": [step.get("details", [""] * len(roles)) for step in steps],
            "x-thinking-ms": [step.get("elapsedMs", [None] * len(roles)) for step in steps],
            "x-origins": [step["origins"] for step in steps[1:]],
        }
        if any("failures" in step for step in steps):
            found["x-failures"] = [step.get("failures", [""] * len(roles)) for step in steps]
        if self._start["isGdl2"]:
            found["x-percepts"] = [entry["percepts"] for entry in self._states[1:]]
        return found

    def _own_keys(self) -> dict[str, Any]:
        """Return the keys of our own, which docs/record.md explains."""
        start = self._start
        found = {
            "x-format": start["format"],
            "x-game": start["game"],
            "x-gdl2": start["isGdl2"],
            "x-roles": start["roles"],
            "x-seats": start["seats"],
            "x-rules": start["rules"],
            "x-rules-sha256": start["rulesSha256"],
            "x-seed": start["seed"],
            "x-scramble-seed": start["scrambleSeed"],
            "x-substitute": start["substitute"],
            "x-versions": start["versions"],
            "x-wire": [_wire_line(entry) for entry in self._wire],
        }
        if start["scrambling"]:
            found["x-scrambling"] = start["scrambling"]
        return found | self._pending()

    def _pending(self) -> dict[str, Any]:
        unfinished = self._steps.get(self.n_steps + 1)
        if unfinished is not None:
            moves = dict(zip(self._start["roles"], unfinished["moves"], strict=True))
        else:
            moves = {entry["role"]: entry["move"] for entry in self._answers}
        return {"x-pending": moves} if moves else {}

    def _ended(self) -> dict[str, Any]:
        """Return the keys that say how the match ended, if it did."""
        status = self.status
        found: dict[str, Any] = {"isCompleted": status == "completed", "isAborted": status in ("aborted", "failed")}
        if self._end:
            found["x-end"] = {"how": status, "at": self._end["at"], "reason": self._end.get("reason", "")}
        if status == "completed":
            # Public readers want whole numbers; only a `random` without a goal has none.
            found["goalValues"] = [0 if goal is None else goal for goal in self._end["goals"]]
            found["x-goals"] = self._end["goals"]
        return found

    def public_view(self, secrecy: Secrecy | None = None) -> dict[str, Any]:
        """Return what the public may see now: everything after the end, before it nothing that helps a player.

        While the match is played that leaves out the seeds, the scrambling, what was sent and answered, percepts,
        and answers to the unfinished step; and what *secrecy*, by default that of the journal, withholds of a match
        of its kind: states and moves, the game. Of errors the kind alone is left then.
        """
        whole = self.as_json()
        if self.has_ended:
            return whole
        secrecy = secrecy or secrecy_of_journal(self._start, has_ended=False)
        names = list(_PUBLIC_ALWAYS)
        names += () if secrecy.hides_game else _PUBLIC_RULES
        names += _PUBLIC_HIDDEN if secrecy.is_hidden else _PUBLIC_PLAY
        found = {name: whole[name] for name in names if name in whole}
        return found | ({"errors": [error_words(errors) for errors in whole["errors"]]} if secrecy.is_hidden else {})


_TAKERS: Final[dict[str, Callable[[MatchRecord, Entry], None]]] = {
    "started": MatchRecord._take_start,
    "state": MatchRecord._take_state,
    "sent": MatchRecord._take_sent,
    "answered": MatchRecord._take_answer,
    "step": MatchRecord._take_step,
    "completed": MatchRecord._take_end,
    "aborted": MatchRecord._take_end,
    "failed": MatchRecord._take_end,
    "closed": MatchRecord._take_close,
}


def record_of(entries: Iterable[Entry]) -> MatchRecord:
    """Return the record that *entries* tell.

    Raises:
        MatchRecordError: as `MatchRecord.add`.
    """
    record = MatchRecord()
    for entry in entries:
        record.add(entry)
    return record


def error_words(errors: Iterable[str]) -> list[str]:
    """Return the kinds of *errors*, without the terms that were illegal."""
    return [error.partition(" ")[0] for error in errors]


def _wire_line(entry: Entry) -> Entry:
    return {("direction" if name == "event" else name): value for name, value in entry.items()}
