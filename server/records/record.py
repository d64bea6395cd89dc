"""The match record in the public JSON format: built entry by entry, and its public view.

Our own keys start with `x-`; docs/record.md explains each. A record may be taken at any moment, also of a match that
broke off: then the answers to the unfinished step are under `x-pending`.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import zip_longest
from typing import Any, Final

from gdl.errors import GdlError
from gdl.game import RANDOM
from server.records import entries
from server.records.codec import entry_json, insights_json, preview_clock_json, seat_json
from server.records.errors import MatchRecordError
from server.visibility import Secrecy

_PUBLIC_ALWAYS: Final = (
    "matchId", "randomToken", "startTime", "isCompleted", "isAborted", "stateTimes", "previewClock", "startClock",
    "playClock", "playerNamesFromHost", "isPlayerHuman", "tournamentNameFromHost", "scrambled", "x-format",
)  # fmt: skip
_PUBLIC_RULES: Final = ("gameMetaURL", "x-game", "x-roles", "x-rules", "x-rules-sha256", "x-gdl2")
_PUBLIC_PLAY: Final = ("states", "moves", "errors", "x-thinking-ms", "x-origins")
_PUBLIC_INSIGHT: Final = ("x-insights",)
_PUBLIC_HIDDEN: Final = ("x-thinking-ms",)


def secrecy_of_journal(started: entries.StartedEntry, *, has_ended: bool) -> Secrecy:
    """Return the secrecy of the match that a journal's entry *started* begins, where there is no row of it."""
    return Secrecy(started.is_gdl2, any(seat.is_scrambled for seat in started.seats), has_ended)


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


def played_places(record: Mapping[str, Any], n_roles: int) -> list[int]:
    """Return the places of the roles that players have in a whole *record* of *n_roles*: not of the `random` of GDL-II.

    Records of other hosts do not say which role is chance's; all places are returned then.
    """
    has_chance = record.get("x-gdl2", False)
    return [place for place in range(n_roles) if not (has_chance and record["x-roles"][place] == str(RANDOM))]


def n_errors(record: Mapping[str, Any], place: int) -> int:
    """Return in how many steps of a whole *record* the role at *place* erred, or its player said that it failed."""
    errors, failures = record.get("errors", ()), record.get("x-failures", ())
    erred = zip_longest(errors, failures, fillvalue=())
    return sum(any(len(told) > place and told[place] for told in step) for step in erred)


class MatchRecord:
    """The record of one match as far as its entries tell it."""

    def __init__(self) -> None:
        self._start: entries.StartedEntry | None = None
        self._states: list[entries.StateEntry] = []
        self._steps: dict[int, entries.StepEntry] = {}
        self._answers: list[entries.AnsweredEntry] = []
        self._wire: list[entries.SentEntry | entries.AnsweredEntry] = []
        self._end: entries.EndEntry | None = None
        self._is_closed = False

    def add(self, entry: entries.Entry) -> None:
        """Take in the next entry."""
        match entry:
            case entries.StartedEntry():
                self._start = entry
            case entries.StateEntry():
                self._states.append(entry)
            case entries.SentEntry():
                self._wire.append(entry)
            case entries.AnsweredEntry():
                self._take_answer(entry)
            case entries.StepEntry():
                self._steps[0 if entry.moves is None else entry.step + 1] = entry
                self._answers.clear()
            case entries.CompletedEntry() | entries.AbortedEntry() | entries.FailedEntry():
                self._end = entry
            case entries.ClosedEntry():
                self._is_closed = True

    def _take_answer(self, entry: entries.AnsweredEntry) -> None:
        self._wire.append(entry)
        if entry.move is not None:
            self._answers.append(entry)

    @property
    def has_begun(self) -> bool:
        """Whether the first entry came."""
        return self._start is not None

    @property
    def match_id(self) -> str:
        """The match's id; empty before the first entry."""
        return "" if self._start is None else self._start.match_id

    @property
    def has_ended(self) -> bool:
        """Whether the play is over: the match was completed, aborted, or failed."""
        return self._end is not None

    @property
    def is_closed(self) -> bool:
        """Whether the last entry came."""
        return self._is_closed

    @property
    def status(self) -> str:
        """The state of the match in one word: running, completed, aborted, failed."""
        return "running" if self._end is None else self._end.kind

    @property
    def goals(self) -> list[int | None] | None:
        """The goals in role order, once the match is completed."""
        return list(self._end.goals) if isinstance(self._end, entries.CompletedEntry) else None

    @property
    def n_steps(self) -> int:
        """How many joint moves led to a state."""
        return max(0, len(self._states) - 1)

    def as_json(self) -> dict[str, Any]:
        """Return the whole record, also what must stay hidden while the match is played.

        Raises:
            MatchRecordError: before the first entry, or the entries contradict each other.
        """
        with understood(self.match_id):
            start = self._begun()
            return _described(start) | self._played(start) | self._own_keys(start) | self._ended()

    def _begun(self) -> entries.StartedEntry:
        if self._start is None:
            raise MatchRecordError("there is no entry that starts a match")
        return self._start

    def _played(self, start: entries.StartedEntry) -> dict[str, Any]:
        """Return the keys with a value for each state or step."""
        played = [self._steps[index] for index in range(1, self.n_steps + 1)]
        steps = [self._steps.get(0), *played]
        blank, unknown = [""] * len(start.roles), [None] * len(start.roles)
        found: dict[str, Any] = {
            "states": [entry.state for entry in self._states],
            "stateTimes": [entry.at_ms for entry in self._states],
            "moves": [None if step.moves is None else list(step.moves) for step in played],
            "errors": [blank if step is None else list(step.errors) for step in steps],
            "x-error-details": [blank if step is None else list(step.details) for step in steps],
            "x-thinking-ms": [unknown if step is None else list(step.elapsed_ms) for step in steps],
            "x-origins": [[origin.value for origin in step.origins] for step in played],
        }
        if any(step is not None and step.failures for step in steps):
            found["x-failures"] = [blank if step is None else list(step.failures) or blank for step in steps]
        if any(step.insights for step in played):
            silent = (None,) * len(start.roles)
            found["x-insights"] = [insights_json(step.insights or silent) for step in played]
        if start.is_gdl2:
            found["x-percepts"] = [_percepts(entry) for entry in self._states[1:]]
        return found

    def _own_keys(self, start: entries.StartedEntry) -> dict[str, Any]:
        """Return the keys of our own, which docs/record.md explains."""
        found = {
            "x-format": entries.FORMAT,
            "x-game": start.game,
            "x-gdl2": start.is_gdl2,
            "x-roles": list(start.roles),
            "x-seats": [seat_json(seat) for seat in start.seats],
            "x-rules": start.rules,
            "x-rules-sha256": start.rules_sha256,
            "x-seed": start.seed,
            "x-scramble-seed": start.scramble_seed,
            "x-substitute": start.substitute,
            "x-versions": dict(start.versions),
            "x-wire": [_wire_line(entry) for entry in self._wire],
        }
        if start.scrambling:
            found["x-scrambling"] = dict(start.scrambling)
        return found | self._pending(start)

    def _pending(self, start: entries.StartedEntry) -> dict[str, Any]:
        unfinished = self._steps.get(self.n_steps + 1)
        if unfinished is not None and unfinished.moves is not None:
            moves = dict(zip(start.roles, unfinished.moves, strict=True))
        else:
            moves = {entry.role: entry.move for entry in self._answers if entry.move is not None}
        return {"x-pending": moves} if moves else {}

    def _ended(self) -> dict[str, Any]:
        """Return the keys that say how the match ended, if it did."""
        end, status = self._end, self.status
        found: dict[str, Any] = {"isCompleted": status == "completed", "isAborted": status in ("aborted", "failed")}
        if end is not None:
            reason = "" if isinstance(end, entries.CompletedEntry) else end.reason
            found["x-end"] = {"how": status, "at": end.at_ms, "reason": reason}
        if isinstance(end, entries.CompletedEntry):
            # Public readers want whole numbers; only a `random` without a goal has none.
            found["goalValues"] = [0 if goal is None else goal for goal in end.goals]
            found["x-goals"] = list(end.goals)
        return found

    def public_view(self, secrecy: Secrecy | None = None) -> dict[str, Any]:
        """Return what the public may see now: everything after the end, before it nothing that helps a player.

        While the match is played that leaves out the seeds, the scrambling, what was sent and answered, percepts,
        and answers to the unfinished step; and what *secrecy*, by default that of the journal, withholds of a match
        of its kind: states and moves, the game. Of errors the kind alone is left then.
        """
        whole = self.as_json()
        secrecy = replace(secrecy or secrecy_of_journal(self._begun(), has_ended=False), has_ended=self.has_ended)
        if secrecy.is_over:
            return whole
        names = list(_PUBLIC_ALWAYS)
        names += () if secrecy.hides_game else _PUBLIC_RULES
        names += () if secrecy.hides_insight else _PUBLIC_INSIGHT
        names += _PUBLIC_HIDDEN if secrecy.is_hidden else _PUBLIC_PLAY
        found = {name: whole[name] for name in names if name in whole}
        return found | ({"errors": [error_words(errors) for errors in whole["errors"]]} if secrecy.is_hidden else {})


def record_of(journal: Iterable[entries.Entry]) -> MatchRecord:
    """Return the record that *journal* tells."""
    record = MatchRecord()
    for entry in journal:
        record.add(entry)
    return record


def error_words(errors: Iterable[str]) -> list[str]:
    """Return the kinds of *errors*, without the terms that were illegal."""
    return [error.partition(" ")[0] for error in errors]


def _described(start: entries.StartedEntry) -> dict[str, Any]:
    """Return the public keys that describe the match."""
    found: dict[str, Any] = {
        "matchId": start.match_id,
        "randomToken": start.random_token,
        "gameMetaURL": start.game_url,
        "previewClock": preview_clock_json(start.preview_clock_s),
        "startClock": start.start_clock_s,
        "playClock": start.play_clock_s,
    }
    if start.tournament is not None:
        found["tournamentNameFromHost"] = start.tournament
    return found | {
        "startTime": start.at_ms,
        "playerNamesFromHost": [seat.player for seat in start.seats],
        "isPlayerHuman": [seat.is_human for seat in start.seats],
        "scrambled": any(seat.is_scrambled for seat in start.seats),
    }


def _percepts(entry: entries.StateEntry) -> list[list[str]] | None:
    return None if entry.percepts is None else list(map(list, entry.percepts))


def _wire_line(entry: entries.SentEntry | entries.AnsweredEntry) -> dict[str, Any]:
    """Return the line of `x-wire`; what players think is in `x-insights`, once a step is over."""
    told = {name: value for name, value in entry_json(entry).items() if name not in ("event", "insight")}
    return {"direction": entry.kind} | told
